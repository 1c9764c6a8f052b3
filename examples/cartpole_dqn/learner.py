"""The learner: prioritized double DQN in one `tf.function`.

Mnih et al. 2015 (DQN), van Hasselt et al. 2016 (double DQN), Schaul et al. 2016 (prioritized replay).
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

import reverb_tf as reverb
from examples.cartpole_dqn import network
from examples.cartpole_dqn.config import REPLAY, VARIABLES, Config
from examples.common import networks

# Keeps every transition's priority above zero, so that none is lost for good.
_MIN_PRIORITY = 1e-3
# How long the dataset waits for actors before it ends, in milliseconds.
_DATA_TIMEOUT_MS = 2_000


def forward(weights: list[tf.Variable], observation: tf.Tensor) -> tf.Tensor:
    """`network.q_values` as TensorFlow ops: `[B, OBSERVATION_SIZE]` to `[B, NUM_ACTIONS]`."""
    return networks.forward(weights, observation, tf.nn.relu)


def _pick(values: tf.Tensor, actions: tf.Tensor) -> tf.Tensor:
    """The value `[B]` of each row's action."""
    return tf.gather(values, actions, batch_dims=1)


def n_step_target(data: dict[str, tf.Tensor], bootstrap: tf.Tensor, gamma: float) -> tf.Tensor:
    """Discounted sum of the rewards and the value after them.

    Args:
      data: `reward` and `discount`, float32 `[B, n]`. A discount of 0 is the end of an episode.
      bootstrap: value of what follows the `n` steps, float32 `[B]`.
      gamma: discount of a step.

    Returns:
      float32 `[B]`.
    """
    factors = tf.math.cumprod(gamma * data["discount"], axis=1)
    before = tf.concat([tf.ones_like(factors[:, :1]), factors[:, :-1]], axis=1)
    return tf.reduce_sum(before * data["reward"], axis=1) + factors[:, -1] * bootstrap


class DoubleDqn:
    """The networks, and how a batch of transitions improves them."""

    def __init__(self, config: Config):
        self._config = config
        start = network.initial_weights(config.hidden_units, config.seed)
        self._online = [tf.Variable(value) for value in start]
        self._target = [tf.Variable(value) for value in start]
        self._optimizer = tf.keras.optimizers.Adam(
            tf.keras.optimizers.schedules.PolynomialDecay(
                config.learning_rate, config.steps, 0.1 * config.learning_rate
            )
        )
        self._step = tf.Variable(0, dtype=tf.int64)
        self._max_priority = tf.Variable(1.0, dtype=tf.float64)

    @property
    def step(self) -> int:
        """Gradient steps done."""
        return int(self._step.numpy())

    @property
    def online(self) -> list[tf.Variable]:
        """The weights that are trained."""
        return self._online

    @property
    def max_priority(self) -> tf.Variable:
        """The highest priority so far, float64: the one of new transitions."""
        return self._max_priority

    def policy_weights(self) -> list[np.ndarray]:
        """The weights to be judged by: the target network, which averages the last ones."""
        return [variable.numpy() for variable in self._target]

    def improve(self, sample: reverb.ReplaySample) -> tuple[tf.Tensor, tf.Tensor]:
        """One gradient step, as ops of the caller's graph.

        Args:
          sample: a batch of `replay.transition_signature`.

        Returns:
          The new priorities of the batch, float64 `[B]`, and the loss.
        """
        td_error, loss = self._descend(sample.data, self._importance(sample.info))
        priorities = tf.cast(tf.abs(td_error), tf.float64) + _MIN_PRIORITY
        self._max_priority.assign(tf.maximum(self._max_priority, tf.reduce_max(priorities)))
        self._step.assign_add(1)
        return priorities, loss

    def _importance(self, info: reverb.SampleInfo) -> tf.Tensor:
        """Weights `[B]`, float32, that undo the bias of drawing by priority; the largest is 1."""
        start = self._config.importance_exponent
        progress = tf.cast(self._step, tf.float64) / self._config.steps
        exponent = start + (1.0 - start) * tf.minimum(progress, 1.0)
        weights = (tf.cast(info.table_size, tf.float64) * info.probability) ** -exponent
        return tf.cast(weights / tf.reduce_max(weights), tf.float32)

    def _descend(
        self, data: dict[str, tf.Tensor], importance: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Follows the gradient; returns the temporal-difference errors before, float32 `[B]`, and the loss."""
        expected = self._expected_values(data)
        with tf.GradientTape() as tape:
            values = _pick(forward(self._online, data["observation"]), data["action"])
            td_error = expected - values
            huber = tf.where(tf.abs(td_error) < 1.0, 0.5 * td_error**2, tf.abs(td_error) - 0.5)
            loss = tf.reduce_mean(importance * huber)
        gradients = tape.gradient(loss, self._online)
        gradients, _ = tf.clip_by_global_norm(gradients, 10.0)
        self._optimizer.apply_gradients(zip(gradients, self._online, strict=True))
        rate = self._config.target_rate
        for target, online in zip(self._target, self._online, strict=True):
            target.assign_add(rate * (online - target))
        return td_error, loss

    def _expected_values(self, data: dict[str, tf.Tensor]) -> tf.Tensor:
        """The n-step double-DQN target, float32 `[B]`."""
        best = tf.argmax(forward(self._online, data["next_observation"]), axis=1)
        after = _pick(forward(self._target, data["next_observation"]), best)
        return n_step_target(data, after, self._config.gamma)


class Learner:
    """Trains the networks on what the replay table gives. Not thread-safe."""

    def __init__(self, address: str, config: Config):
        """Connects to the server; its tables must exist.

        Args:
          address: `host:port` of the server.
          config: settings.
        """
        self._config = config
        self._address = address
        self._client = reverb.Client(address)
        self._graph_client = reverb.TFClient(address)
        self._dqn = DoubleDqn(config)
        self._iterator = self._new_iterator()

    @property
    def step(self) -> int:
        """Gradient steps done."""
        return self._dqn.step

    def train(self, num_steps: int) -> None:
        """Does `num_steps` gradient steps, or fewer if no data came for some seconds."""
        try:
            self._train(self._iterator, tf.constant(num_steps))
        except tf.errors.OutOfRangeError:
            self._iterator = self._new_iterator()

    def publish(self) -> None:
        """Puts the weights where the actors look for them."""
        weights = [variable.numpy() for variable in self._dqn.online]
        self._client.insert([*weights, self._dqn.max_priority.numpy()], {VARIABLES: 1.0})

    def policy_weights(self) -> list[np.ndarray]:
        """The weights to be judged by."""
        return self._dqn.policy_weights()

    def _new_iterator(self):
        dataset = reverb.TrajectoryDataset.from_table_signature(
            server_address=self._address,
            table=REPLAY,
            # What is fetched ahead was drawn under older priorities: fetch no more than is needed.
            max_in_flight_samples_per_worker=2 * self._config.batch_size,
            rate_limiter_timeout_ms=_DATA_TIMEOUT_MS,
        )
        return iter(dataset.batch(self._config.batch_size, drop_remainder=True))

    @tf.function
    def _train(self, iterator, num_steps: tf.Tensor) -> None:
        """The learner's loop: sample a batch, improve the network, update the priorities."""
        for _ in tf.range(num_steps):
            sample = next(iterator)
            priorities, _ = self._dqn.improve(sample)
            self._graph_client.update_priorities(REPLAY, sample.info.key, priorities)
