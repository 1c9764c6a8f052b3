"""TF-Agents' Actor and Learner, unmodified, with all that travels between them on this package."""

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf_agents import support

agents = support.tf_agents()

from tf_agents.agents.dqn import dqn_agent  # noqa: E402
from tf_agents.environments import random_py_environment  # noqa: E402
from tf_agents.networks import q_network  # noqa: E402
from tf_agents.policies import py_tf_eager_policy  # noqa: E402
from tf_agents.specs import array_spec, tensor_spec  # noqa: E402
from tf_agents.train.utils import spec_utils, train_utils  # noqa: E402

_BATCH = 4


class Setup:
    """An environment of noise, an agent for it, and a server that both sides reach."""

    def __init__(self, root):
        self.environment = random_py_environment.RandomPyEnvironment(
            observation_spec=array_spec.BoundedArraySpec([3], np.float32, -1, 1, "observation"),
            action_spec=array_spec.BoundedArraySpec([], np.int32, 0, 1, "action"),
            episode_end_probability=0.2,
        )
        observation, action, time_step = spec_utils.get_tensor_specs(self.environment)
        self.train_step = train_utils.create_train_step()
        self.agent = dqn_agent.DqnAgent(
            time_step,
            action,
            q_network.QNetwork(observation, action, fc_layer_params=(4,)),
            tf.keras.optimizers.Adam(1e-2),
            train_step_counter=self.train_step,
        )
        self.agent.initialize()
        self.root = str(root)
        self.container_values = {
            "policy": self.agent.collect_policy.variables(),
            "train_step": self.train_step,
        }
        self.server = reverb.Server(self._tables(), port=None)
        self.address = f"localhost:{self.server.port}"

    def _tables(self):
        spec = self.agent.collect_data_spec
        replay = reverb.Table(
            "replay",
            reverb.selectors.Uniform(),
            reverb.selectors.Fifo(),
            1000,
            reverb.rate_limiters.MinSize(1),
            signature=tensor_spec.add_outer_dim(spec),
        )
        variables = reverb.Table(
            "variables",
            reverb.selectors.Uniform(),
            reverb.selectors.Fifo(),
            1,
            reverb.rate_limiters.MinSize(1),
            signature=tf.nest.map_structure(
                lambda v: tf.TensorSpec(v.shape, v.dtype), self.container_values
            ),
        )
        return [replay, variables]

    def actor(self):
        client = reverb.Client(self.address)
        observer = agents.ReverbAddTrajectoryObserver(client, "replay", sequence_length=2)
        policy = py_tf_eager_policy.PyTFEagerPolicy(self.agent.collect_policy, use_tf_function=True)
        actor = agents.Actor(
            self.environment, policy, self.train_step, steps_per_run=20, observers=[observer]
        )
        return actor, observer

    def learner(self, samples: bool = False):
        """A learner of the replay buffer or, if `samples`, of a dataset of `ReplaySample`s."""
        return agents.Learner(
            self.root,
            self.train_step,
            self.agent,
            experience_dataset_fn=self._samples if samples else self._buffer,
            checkpoint_interval=1000,
            summary_interval=1000,
            use_reverb_v2=samples,
        )

    def _buffer(self):
        buffer = agents.ReverbReplayBuffer(
            self.agent.collect_data_spec, "replay", sequence_length=2, server_address=self.address
        )
        return buffer.as_dataset(sample_batch_size=_BATCH, num_steps=2).prefetch(2)

    def _samples(self):
        spec = tensor_spec.add_outer_dim(self.agent.collect_data_spec, 2)
        dtypes = tf.nest.map_structure(lambda s: s.dtype, spec)
        shapes = tf.nest.map_structure(lambda s: s.shape, spec)
        return reverb.TrajectoryDataset(
            self.address, "replay", dtypes, shapes, max_in_flight_samples_per_worker=8
        ).batch(_BATCH)


@pytest.fixture
def setup(tmp_path):
    setup = Setup(tmp_path)
    yield setup
    setup.server.stop()


def test_an_actor_feeds_a_learner_which_feeds_the_actor(setup):
    actor, observer = setup.actor()
    actor.run()
    observer.flush()
    container = agents.ReverbVariableContainer(setup.address)
    container.push(setup.container_values)
    before = [v.numpy() for v in setup.agent.collect_policy.variables()]
    learner = setup.learner()
    loss = learner.run(iterations=3)
    assert np.isfinite(loss.loss.numpy())
    assert setup.train_step.numpy() == 3
    after = [v.numpy() for v in setup.agent.collect_policy.variables()]
    assert any(not np.array_equal(a, b) for a, b in zip(after, before, strict=True))
    container.push(setup.container_values)
    copies = tf.nest.map_structure(lambda v: tf.Variable(tf.zeros_like(v)), setup.container_values)
    container.update(copies)
    assert copies["train_step"].numpy() == 3
    for copy, value in zip(copies["policy"], after, strict=True):
        np.testing.assert_array_equal(copy.numpy(), value)
    actor.run()
    observer.close()


def test_a_learner_of_replay_samples(setup):
    actor, observer = setup.actor()
    actor.run()
    observer.flush()
    loss = setup.learner(samples=True).run(iterations=2)
    assert np.isfinite(loss.loss.numpy()) and setup.train_step.numpy() == 2
    observer.close()
