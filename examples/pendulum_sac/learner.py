"""The learner: soft actor-critic in one `tf.function`, which also publishes the policy.

Haarnoja et al. 2018 (SAC, with the temperature tuned to a target entropy).
"""

from __future__ import annotations

import math

import numpy as np
import tensorflow as tf

import reverb_tf as reverb
from examples.common import networks
from examples.pendulum_sac import policy
from examples.pendulum_sac.config import Config
from examples.pendulum_sac.tables import REPLAY

# How long the dataset waits for the actor before it ends, in milliseconds.
_DATA_TIMEOUT_MS = 2_000
# Rewards are -16 .. 0; critics learn best from small numbers.
_REWARD_SCALE = 0.1


def draw(weights: list[tf.Variable], observation: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Actions `[B, ACTION_SIZE]` of the policy, and their log probabilities `[B]`."""
    outputs = networks.forward(weights, observation, tf.nn.relu)
    mean, log_std = tf.split(outputs, 2, axis=1)
    log_std = tf.clip_by_value(log_std, policy.MIN_LOG_STD, policy.MAX_LOG_STD)
    noise = tf.random.normal(tf.shape(mean))
    before = mean + tf.exp(log_std) * noise
    density = -0.5 * noise**2 - log_std - 0.5 * math.log(2.0 * math.pi)
    # The logarithm of the derivative of tanh, in a form that does not lose its digits.
    squash = 2.0 * (math.log(2.0) - before - tf.nn.softplus(-2.0 * before))
    return tf.tanh(before), tf.reduce_sum(density - squash, axis=1)


class Learner:
    """Owns the networks and trains them on what the replay table gives. Not thread-safe."""

    def __init__(self, config: Config):
        self._config = config
        start = policy.initial_weights(config.hidden_units, config.seed)
        self.policy = [tf.Variable(weight) for weight in start]
        inputs = policy.OBSERVATION_SIZE + policy.ACTION_SIZE
        sizes = [inputs, config.hidden_units, config.hidden_units, 1]
        starts = [networks.initial_weights(sizes, config.seed + i) for i in (1, 2)]
        self._critics = [[tf.Variable(weight) for weight in start] for start in starts]
        self._targets = [[tf.Variable(weight) for weight in start] for start in starts]
        self._log_temperature = tf.Variable(math.log(0.1))
        self._optimizers = [tf.keras.optimizers.Adam(config.learning_rate) for _ in range(3)]
        self._step = tf.Variable(0, dtype=tf.int64)

    def connect(self, address: str) -> None:
        """Publishes the first policy on the server with `tables.make_tables`."""
        self._address = address
        self._container = reverb.VariableContainer(address)
        self._container.push(self.policy)
        self._iterator = self._new_iterator()

    @property
    def step(self) -> int:
        """Gradient steps done."""
        return int(self._step.numpy())

    @property
    def temperature(self) -> float:
        """Weight of the entropy."""
        return math.exp(self._log_temperature.numpy())

    def weights(self) -> list[np.ndarray]:
        """Of the policy."""
        return [variable.numpy() for variable in self.policy]

    def train(self, num_steps: int) -> None:
        """Does `num_steps` gradient steps, or fewer if no data came for some seconds."""
        try:
            self._train(self._iterator, tf.constant(num_steps))
        except tf.errors.OutOfRangeError:
            self._iterator = self._new_iterator()

    def _new_iterator(self):
        dataset = reverb.TrajectoryDataset.from_table_signature(
            server_address=self._address,
            table=REPLAY,
            max_in_flight_samples_per_worker=2 * self._config.batch_size,
            rate_limiter_timeout_ms=_DATA_TIMEOUT_MS,
        )
        return iter(dataset.batch(self._config.batch_size, drop_remainder=True))

    @tf.function
    def _train(self, iterator, num_steps: tf.Tensor) -> None:
        """The learner's loop; the policy is published at its end."""
        for _ in tf.range(num_steps):
            data = next(iterator).data
            self._improve_critics(data)
            self._improve_policy(data["observation"])
            rate = self._config.target_rate
            for target, critic in zip(
                tf.nest.flatten(self._targets), tf.nest.flatten(self._critics), strict=True
            ):
                target.assign_add(rate * (critic - target))
            self._step.assign_add(1)
        self._container.push(self.policy)

    def _values(self, critics, observation: tf.Tensor, action: tf.Tensor) -> list[tf.Tensor]:
        """What each critic says, `[B]`."""
        inputs = tf.concat([observation, action], axis=1)
        return [networks.forward(critic, inputs, tf.nn.relu)[:, 0] for critic in critics]

    def _improve_critics(self, data: dict[str, tf.Tensor]) -> None:
        following = data["next_observation"]
        action, log_probability = draw(self.policy, following)
        future = tf.minimum(*self._values(self._targets, following, action))
        future -= tf.exp(self._log_temperature) * log_probability
        expected = _REWARD_SCALE * data["reward"] + self._config.gamma * future
        with tf.GradientTape() as tape:
            values = self._values(self._critics, data["observation"], data["action"])
            loss = sum(tf.reduce_mean((value - expected) ** 2) for value in values)
        self._apply(0, tape, loss, tf.nest.flatten(self._critics))

    def _improve_policy(self, observation: tf.Tensor) -> None:
        temperature = tf.exp(self._log_temperature)
        with tf.GradientTape() as tape:
            action, log_probability = draw(self.policy, observation)
            value = tf.minimum(*self._values(self._critics, observation, action))
            loss = tf.reduce_mean(temperature * log_probability - value)
        self._apply(1, tape, loss, self.policy)
        surplus = tf.reduce_mean(log_probability) + self._config.target_entropy
        with tf.GradientTape() as tape:
            loss = -self._log_temperature * tf.stop_gradient(surplus)
        self._apply(2, tape, loss, [self._log_temperature])

    def _apply(self, optimizer: int, tape: tf.GradientTape, loss: tf.Tensor, variables) -> None:
        gradients = tape.gradient(loss, variables)
        self._optimizers[optimizer].apply_gradients(zip(gradients, variables, strict=True))
