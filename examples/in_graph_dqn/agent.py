"""The agent: acting, writing, sampling, learning and updating priorities in one `tf.function`."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

import reverb_tf as reverb
from examples.cartpole_dqn import network
from examples.cartpole_dqn.config import REPLAY
from examples.cartpole_dqn.learner import DoubleDqn, forward
from examples.cartpole_dqn.transition import n_step_transition
from examples.common.reports import EPISODES
from examples.in_graph_dqn import cartpole
from examples.in_graph_dqn.config import Config


class Agent:
    """Plays and learns. Not thread-safe."""

    def __init__(self, address: str, config: Config):
        """Connects to the server; its tables must exist.

        Args:
          address: `host:port` of the server.
          config: settings.
        """
        self._config = config
        self._dqn = DoubleDqn(config)
        self._client = reverb.TFClient(address)
        n = config.environments
        step_spec = {
            "observation": tf.TensorSpec([network.OBSERVATION_SIZE], tf.float32),
            "action": tf.TensorSpec([], tf.int32),
            "reward": tf.TensorSpec([], tf.float32),
            "discount": tf.TensorSpec([], tf.float32),
        }
        self._writer = self._client.trajectory_writer(
            step_spec, num_keep_alive_refs=config.n_step + 1, batch_size=n
        )
        self._episodes = self._client.trajectory_writer(
            (tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int64)), 1, batch_size=n
        )
        self._random = tf.random.Generator.from_seed(config.seed)
        state = cartpole.start(n, tf.constant([config.seed, 0], tf.int64))
        self._state = cartpole.State(*(tf.Variable(value) for value in state))
        self._env_steps = tf.Variable(0, dtype=tf.int64)
        # As many kinds of players as there are environments, from careful to bold.
        self._epsilons = tf.constant(config.epsilon * 10.0 ** np.linspace(0.0, 1.0, n), tf.float32)
        dataset = reverb.ReverbDataset(
            address,
            REPLAY,
            config.batch_size,
            # What is fetched ahead was drawn under older priorities: fetch no more than is needed.
            max_staleness=2 * config.batch_size,
        )
        self._iterator = iter(dataset)

    @property
    def step(self) -> int:
        """Gradient steps done."""
        return self._dqn.step

    @property
    def env_steps(self) -> int:
        """Steps of all environments together."""
        return int(self._env_steps.numpy())

    def policy_weights(self) -> list[np.ndarray]:
        """The weights to be judged by."""
        return self._dqn.policy_weights()

    def fill(self) -> None:
        """Plays until the replay table has what the learner needs to begin; call it once, before `run`."""
        self._fill()

    def run(self, learn_steps: int) -> float:
        """Plays and learns until about `learn_steps` gradient steps are done, without returning to Python.

        Returns:
          The mean loss.
        """
        rounds = max(1, round(learn_steps / self._config.learn_steps))
        return float(self._run(self._iterator, tf.constant(rounds)))

    @tf.function
    def _fill(self) -> None:
        transitions = tf.constant(0)
        while transitions < self._config.min_table_size:
            transitions += self._play()
        # Chunks that are not full stay in the writer until then, and the learner would wait for them.
        self._writer.flush()

    @tf.function
    def _run(self, iterator, rounds: tf.Tensor) -> tf.Tensor:
        """The whole program: everything but the report happens in here."""
        loss = tf.constant(0.0)
        for _ in tf.range(rounds):
            self._play()
            for _ in range(self._config.learn_steps):
                loss += self._learn(iterator)
        return loss / tf.cast(rounds * self._config.learn_steps, tf.float32)

    def _play(self) -> tf.Tensor:
        """One step of every environment. Returns how many transitions that made, int32."""
        config = self._config
        state = cartpole.State(*(variable.read_value() for variable in self._state))
        observation = network.features(state.observation)
        action = self._act(observation)
        outcome = cartpole.step(state, action)
        fell = outcome.terminated
        over = fell | outcome.truncated
        made = self._write(observation, action, 1.0, tf.where(fell, 0.0, 1.0))
        # What the end of an episode completes. Where the pole fell nothing follows: steps without a reward or a future
        # fill up the last transitions. Where the time was over, the value of the last observation counts.
        last = network.features(outcome.state.observation)
        nothing = tf.zeros([config.environments])
        for i in range(config.n_step):
            mask = over if i == 0 else fell
            made += self._write(last, tf.zeros_like(action), nothing, nothing, mask=mask)
        self._writer.end_episode(mask=over)
        self._report(outcome.state.steps, over)
        fresh = cartpole.start(config.environments, self._random.make_seeds()[:, 0])
        for variable, value in zip(
            self._state, cartpole.where(over, fresh, outcome.state), strict=True
        ):
            variable.assign(value)
        self._env_steps.assign_add(config.environments)
        return made

    def _act(self, observation: tf.Tensor) -> tf.Tensor:
        """Epsilon-greedy actions, int32 `[B]`."""
        n = self._config.environments
        done = tf.cast(self._env_steps, tf.float32) / (n * self._config.epsilon_steps)
        epsilon = 1.0 + tf.minimum(done, 1.0) * (self._epsilons - 1.0)
        best = tf.argmax(forward(self._dqn.online, observation), axis=1, output_type=tf.int32)
        other = self._random.uniform([n], maxval=network.NUM_ACTIONS, dtype=tf.int32)
        return tf.where(self._random.uniform([n]) < epsilon, other, best)

    def _write(self, observation, action, reward, discount, mask=None) -> tf.Tensor:
        """Appends a step, and creates the transitions that it completes, in the environments of the mask.

        Returns:
          How many transitions, int32.
        """
        reward = tf.broadcast_to(reward, discount.shape)
        step = {
            "observation": observation,
            "action": action,
            "reward": reward,
            "discount": discount,
        }
        self._writer.append(step, mask=mask)
        keys = self._writer.create_item(
            REPLAY,
            self._dqn.max_priority,
            n_step_transition(self._writer.history, self._config.n_step),
            skip_short=True,
            mask=mask,
        )
        return tf.reduce_sum(tf.cast(keys != 0, tf.int32))

    def _report(self, steps: tf.Tensor, over: tf.Tensor) -> None:
        """Puts the return, which is the number of steps, and the length of finished episodes where the report reads."""
        self._episodes.append((tf.cast(steps, tf.float32), steps), mask=over)
        self._episodes.create_item(EPISODES, 1.0, num_timesteps=1, mask=over)

    def _learn(self, iterator) -> tf.Tensor:
        """One gradient step on a batch, whose priorities follow its errors. Returns the loss."""
        sample = next(iterator)
        priorities, loss = self._dqn.improve(sample)
        self._client.update_priorities(REPLAY, sample.info.key, priorities)
        return loss
