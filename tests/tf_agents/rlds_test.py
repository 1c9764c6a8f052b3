"""TF-Agents' rlds_to_reverb, unmodified, on this package."""

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf.support import uniform_table
from tests.tf_agents import support

agents = support.tf_agents()
pytest.importorskip("rlds")

from tf_agents.specs import tensor_spec  # noqa: E402


def episode(first, length):
    """`length` steps whose observation and reward count on from `first`; the last one is terminal."""
    numbers = np.arange(first, first + length)
    steps = {
        "observation": numbers.astype(np.float32),
        "action": np.zeros(length, np.int64),
        "reward": numbers.astype(np.float32),
        "discount": np.ones(length, np.float32),
        "is_first": numbers == first,
        "is_last": numbers == first + length - 1,
        "is_terminal": numbers == first + length - 1,
    }
    return steps


def dataset():
    episodes = [episode(0, 4), episode(10, 4)]
    stacked = {key: np.stack([e[key] for e in episodes]) for key in episodes[0]}
    return tf.data.Dataset.from_tensor_slices(stacked).map(
        lambda steps: {"steps": tf.data.Dataset.from_tensor_slices(steps)}
    )


def observer_of(signature):
    server = reverb.Server([uniform_table("table", signature)], port=None)
    observer = agents.ReverbAddTrajectoryObserver(server.localhost_client(), "table", 2)
    return server, observer


def test_episodes_become_items():
    spec = agents.rlds_to_reverb.create_trajectory_data_spec(dataset())
    server, observer = observer_of(tensor_spec.add_outer_dim(spec))
    steps = agents.rlds_to_reverb.push_rlds_to_reverb(dataset(), observer)
    observer.flush()
    assert steps == 8
    # Of each episode of four steps, three pairs: the boundary is the end of the last one.
    assert server.localhost_client().server_info()["table"].current_size == 6
    observer.close()
    server.stop()


def test_a_table_of_something_else():
    spec = agents.rlds_to_reverb.create_trajectory_data_spec(dataset())
    other = spec._replace(reward=tf.TensorSpec([3], tf.float32))
    server, observer = observer_of(tensor_spec.add_outer_dim(other))
    with pytest.raises(ValueError, match="signature"):
        agents.rlds_to_reverb.push_rlds_to_reverb(dataset(), observer)
    observer.close()
    server.stop()
