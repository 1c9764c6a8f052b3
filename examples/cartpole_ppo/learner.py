"""The learner: proximal policy optimisation (Schulman et al. 2017), advantages by GAE."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import tensorflow as tf

import reverb_tf as reverb
from examples.cartpole_dqn import network
from examples.cartpole_ppo.config import Config
from examples.cartpole_ppo.tables import EPISODES
from examples.common import networks

# How long the dataset waits for collectors before it ends, in milliseconds.
_DATA_TIMEOUT_MS = 2_000
_MAX_GRADIENT_NORM = 0.5


def advantages(
    reward: np.ndarray, value: np.ndarray, discount: float, gamma: float, gae_lambda: float
) -> np.ndarray:
    """Generalised advantage estimates of an episode of T steps.

    Args:
      reward: `[T]`.
      value: of the T + 1 observations.
      discount: 0 if nothing comes after the episode, else 1.
      gamma: discount of a step.
      gae_lambda: decay of the estimates.

    Returns:
      float32 `[T]`.
    """
    following = value[1:].copy()
    following[-1] *= discount
    errors = reward + gamma * following - value[:-1]
    result, total = np.zeros_like(errors), 0.0
    for t in reversed(range(len(errors))):
        total = errors[t] + gamma * gae_lambda * total
        result[t] = total
    return result


class Learner:
    """Owns the networks. Not thread-safe."""

    def __init__(self, config: Config):
        hidden = [network.OBSERVATION_SIZE, config.hidden_units, config.hidden_units]
        start = networks.initial_weights([*hidden, network.NUM_ACTIONS], config.seed, 0.01)
        self.policy = [tf.Variable(weight) for weight in start]
        start = networks.initial_weights([*hidden, 1], config.seed + 1, 0.01)
        self._value = [tf.Variable(weight) for weight in start]
        self._config = config
        # The value network predicts in units of the return of an episode without an end.
        self._value_scale = 1.0 / (1.0 - config.gamma)
        self._optimizers = [tf.keras.optimizers.Adam(config.learning_rate) for _ in range(2)]
        self._learning_rate = tf.Variable(config.learning_rate)
        self._updates = 0

    def connect(self, address: str) -> None:
        """Publishes the first policy on the server of `tables.make_server`."""
        self._address = address
        self._container = reverb.VariableContainer(address)
        self._episodes = self._new_iterator()
        self._container.push(self.policy)

    def update(self, check: Callable[[], None]) -> list[tuple[float, int, int]]:
        """Collects episodes, improves the networks and publishes the policy.

        Args:
          check: is called while no episode comes; may raise.

        Returns:
          Of each episode: the return, the length, and how many policies were newer than its own.
        """
        episodes = []
        while sum(len(e["reward"]) for e in episodes) < self._config.steps_per_update:
            episodes.append(self._next_episode(check))
        published = self._updates + 1
        self._learning_rate.assign(
            self._config.learning_rate * (1.0 - self._updates / self._config.updates)
        )
        self._improve(*(tf.constant(array) for array in self._prepare(episodes)))
        self._updates += 1
        self._container.push(self.policy)
        return [
            (float(e["reward"].sum()), len(e["reward"]), published - int(e["version"]))
            for e in episodes
        ]

    def _new_iterator(self) -> Iterator:
        dataset = reverb.TrajectoryDataset.from_table_signature(
            self._address,
            EPISODES,
            max_in_flight_samples_per_worker=1,  # what is fetched ahead only gets older
            rate_limiter_timeout_ms=_DATA_TIMEOUT_MS,
        )
        return iter(dataset)

    def _next_episode(self, check: Callable[[], None]) -> dict[str, np.ndarray]:
        while True:
            try:
                sample = next(self._episodes)
                return {name: tensor.numpy() for name, tensor in sample.data.items()}
            except StopIteration:
                check()
                self._episodes = self._new_iterator()

    def _prepare(self, episodes: list[dict[str, np.ndarray]]) -> list[np.ndarray]:
        """Observation, action, log_probability, advantage and return of all steps."""
        weights = [variable.numpy() for variable in self._value]
        columns = []
        for e in episodes:
            value = networks.forward(weights, e["observation"])[:, 0] * self._value_scale
            advantage = advantages(
                e["reward"], value, e["discount"], self._config.gamma, self._config.gae_lambda
            )
            returns = advantage + value[:-1]
            columns.append(
                (e["observation"][:-1], e["action"], e["log_probability"], advantage, returns)
            )
        return [np.concatenate(parts) for parts in zip(*columns, strict=True)]

    @tf.function(reduce_retracing=True)
    def _improve(self, observation, action, log_probability, advantage, returns) -> None:
        """Goes over the steps `epochs` times, in batches."""
        count, size = tf.shape(action)[0], self._config.batch_size
        for _ in tf.range(self._config.epochs):
            order = tf.random.shuffle(tf.range(count))
            for start in tf.range(0, count - size + 1, size):
                rows = order[start : start + size]
                self._step(
                    *(
                        tf.gather(column, rows)
                        for column in (observation, action, log_probability, advantage, returns)
                    )
                )

    def _step(self, observation, action, log_probability, advantage, returns) -> None:
        """One gradient step of both networks."""
        advantage = (advantage - tf.reduce_mean(advantage)) / (tf.math.reduce_std(advantage) + 1e-6)
        with tf.GradientTape(persistent=True) as tape:
            logs = tf.nn.log_softmax(networks.forward(self.policy, observation, tf.nn.relu))
            ratio = tf.exp(tf.gather(logs, action, batch_dims=1) - log_probability)
            clipped = tf.clip_by_value(ratio, 1.0 - self._config.clip, 1.0 + self._config.clip)
            gain = tf.reduce_mean(tf.minimum(ratio * advantage, clipped * advantage))
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logs) * logs, axis=1))
            policy_loss = -gain - self._config.entropy * entropy
            value = networks.forward(self._value, observation, tf.nn.relu)[:, 0]
            value_loss = tf.reduce_mean((value - returns / self._value_scale) ** 2)
        for optimizer, loss, variables in zip(
            self._optimizers, (policy_loss, value_loss), (self.policy, self._value), strict=True
        ):
            gradients = tape.gradient(loss, variables)
            gradients, _ = tf.clip_by_global_norm(gradients, _MAX_GRADIENT_NORM)
            optimizer.learning_rate.assign(self._learning_rate)
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
