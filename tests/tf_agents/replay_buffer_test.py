"""TF-Agents' replay buffer and observers, unmodified, on this package."""

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf_agents import support

agents = support.tf_agents()

from tf_agents.specs import tensor_spec  # noqa: E402
from tf_agents.trajectories import time_step, trajectory  # noqa: E402

_SPEC = trajectory.Trajectory(
    step_type=tf.TensorSpec([], tf.int32, "step_type"),
    observation={"position": tf.TensorSpec([2], tf.float32, "position")},
    action=tensor_spec.BoundedTensorSpec([], tf.int32, 0, 3, "action"),
    policy_info=(),
    next_step_type=tf.TensorSpec([], tf.int32, "next_step_type"),
    reward=tf.TensorSpec([], tf.float32, "reward"),
    discount=tensor_spec.BoundedTensorSpec([], tf.float32, 0.0, 1.0, "discount"),
)
FIRST, MID, LAST = (
    int(t) for t in time_step.StepType.__dict__.values() if isinstance(t, np.ndarray)
)


def step(i, step_type=MID, next_step_type=MID):
    return trajectory.Trajectory(
        step_type=np.int32(step_type),
        observation={"position": np.full(2, i, np.float32)},
        action=np.int32(i % 4),
        policy_info=(),
        next_step_type=np.int32(next_step_type),
        reward=np.float32(i),
        discount=np.float32(1),
    )


def play(observer, length, start=0):
    """An episode of `length` steps and the boundary step after it."""
    for i in range(length):
        observer(step(start + i, FIRST if i == 0 else MID, LAST if i == length - 1 else MID))
    observer(step(start + length, LAST, FIRST))


def rewards(client, count):
    samples = client.sample("table", count, emit_timesteps=False, timeout=600)
    index = len(tf.nest.flatten(_SPEC)) - 2
    return [sample.data[index].tolist() for sample in samples]


@pytest.fixture
def server():
    signature = tensor_spec.add_outer_dim(_SPEC)
    server = reverb.Server([reverb.Table.queue("table", 100, signature=signature)], port=None)
    yield server
    server.stop()


@pytest.fixture
def client(server):
    return server.localhost_client()


@pytest.mark.parametrize("stride, starts", [(1, [0, 1, 2, 3]), (2, [0, 2])])
def test_trajectories_of_fixed_length(client, stride, starts):
    observer = agents.ReverbAddTrajectoryObserver(client, "table", 2, stride_length=stride)
    play(observer, 4)
    observer.flush()
    assert rewards(client, len(starts)) == [[i, i + 1] for i in starts]
    observer.close()


def test_the_signature_comes_back_as_it_was(client):
    observer = agents.ReverbAddTrajectoryObserver(client, "table", 2)
    signature = observer.get_table_signature()
    assert not signature != tensor_spec.add_outer_dim(_SPEC)
    assert signature._fields == trajectory.Trajectory._fields
    observer.close()


def test_ends_of_episodes_are_padded(client):
    observer = agents.ReverbAddTrajectoryObserver(
        client, "table", 3, pad_end_of_episodes=True, tile_end_of_episodes=True
    )
    play(observer, 2, start=1)
    observer.flush()
    assert rewards(client, 3) == [[1, 2, 3], [2, 3, 0], [3, 0, 0]]
    observer.close()


def test_sequences_that_span_episodes(client):
    observer = agents.ReverbTrajectorySequenceObserver(client, "table", 2, stride_length=2)
    play(observer, 2)
    play(observer, 2, start=10)
    observer.flush()
    assert rewards(client, 3) == [[0, 1], [2, 10], [11, 12]]
    observer.close()


def test_whole_episodes(client):
    observer = agents.ReverbAddEpisodeObserver(client, "table", max_sequence_length=5)
    play(observer, 2)
    play(observer, 4, start=10)
    observer.flush()
    assert rewards(client, 2) == [[0, 1, 2], [10, 11, 12, 13, 14]]
    observer.close()


def test_an_episode_that_is_too_long(client):
    observer = agents.ReverbAddEpisodeObserver(client, "table", max_sequence_length=2)
    with pytest.raises(ValueError, match="max_sequence_length"):
        play(observer, 4)
    observer.close()
    lenient = agents.ReverbAddEpisodeObserver(client, "table", 2, bypass_partial_episodes=True)
    play(lenient, 4)
    play(lenient, 1, start=20)
    lenient.flush()
    assert rewards(client, 1) == [[20, 21]]
    lenient.close()


def test_a_dataset_of_the_replay_buffer(server, client):
    buffer = agents.ReverbReplayBuffer(
        _SPEC,
        table_name="table",
        sequence_length=2,
        local_server=server,
        max_cycle_length=1,
        num_workers_per_iterator=1,
        rate_limiter_timeout_ms=100,
    )
    assert buffer.capacity == 100
    observer = agents.ReverbAddTrajectoryObserver(client, "table", 2)
    play(observer, 6)
    observer.flush()
    assert buffer.num_frames() == 6
    batches = list(buffer.as_dataset(sample_batch_size=2, num_steps=2))
    got = np.concatenate([experience.reward.numpy() for experience, _ in batches])
    assert got.tolist() == [[i, i + 1] for i in range(6)]
    experience, info = batches[0]
    assert isinstance(experience, trajectory.Trajectory) and experience.policy_info == ()
    assert experience.observation["position"].shape == [2, 2, 2]
    assert info.key.shape == [2, 2] and info.key.dtype == tf.uint64
    observer.close()


def test_buffers_of_two_servers_in_one_process(server):
    """All of them give their client the same shared name."""
    other = reverb.Server([reverb.Table.queue("table", 7)], port=None)
    buffers = [
        agents.ReverbReplayBuffer(_SPEC, "table", sequence_length=2, local_server=s)
        for s in (server, other)
    ]
    assert [buffer.capacity for buffer in buffers] == [100, 7]
    other.stop()


def test_clear(server, client):
    buffer = agents.ReverbReplayBuffer(_SPEC, "table", sequence_length=1, local_server=server)
    observer = agents.ReverbAddTrajectoryObserver(client, "table", 1)
    play(observer, 3)
    observer.flush()
    buffer.clear()
    assert buffer.num_frames() == 0
    observer.close()


def test_priorities(server):
    table = reverb.Table(
        "prioritized",
        reverb.selectors.Prioritized(1.0),
        reverb.selectors.Fifo(),
        10,
        reverb.rate_limiters.MinSize(1),
    )
    server = reverb.Server([table], port=None)
    client = server.localhost_client()
    observer = agents.ReverbAddTrajectoryObserver(client, "prioritized", 1, priority=3.0)
    observer(step(0))
    observer.flush()
    buffer = agents.ReverbReplayBuffer(_SPEC, "prioritized", 1, local_server=server)
    dataset = buffer.as_dataset(sample_batch_size=1, num_steps=1)
    _, info = next(iter(dataset))
    assert info.priority.numpy().tolist() == [[3.0]]
    buffer.update_priorities(info.key[:, 0], tf.constant([5.0], tf.float64))
    ((sample,),) = client.sample("prioritized", 1)
    assert sample.info.priority == 5.0
    observer.close()
    server.stop()
