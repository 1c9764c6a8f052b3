"""The program of a collector process: plays episodes with the newest policy and queues them.

Started as `python -m examples.cartpole_ppo.collector ADDRESS INDEX CONFIG`. It ends when its
standard input closes, which happens whatever way the learner ends.
"""

from __future__ import annotations

import os
import sys
import threading

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import gymnasium  # noqa: E402
import numpy as np  # noqa: E402

import reverb_tf as reverb  # noqa: E402
from examples.cartpole_dqn import network  # noqa: E402
from examples.cartpole_ppo.config import Config  # noqa: E402
from examples.cartpole_ppo.tables import EPISODES  # noqa: E402
from examples.common import networks  # noqa: E402
from examples.common.processes import run_actor, wait_for_learner  # noqa: E402

_MAX_EPISODE_STEPS = 500


class Collector:
    """Plays episodes, each with the newest policy. Not thread-safe."""

    def __init__(self, address: str, index: int, config: Config, stop: threading.Event):
        self._container = reverb.VariableContainer(address)
        client = reverb.Client(address)
        self._writer = client.trajectory_writer(num_keep_alive_refs=_MAX_EPISODE_STEPS + 1)
        self._environment = gymnasium.make("CartPole-v1")
        self._environment.reset(seed=1_000 * config.seed + index)
        self._rng = np.random.default_rng([config.seed, index])
        self._stop = stop
        self._version, weights = self._container.wait_for(1)
        self._weights = [weight.numpy() for weight in weights]

    def run(self) -> None:
        """Plays until told to stop."""
        while True:
            self._refresh()
            self._play_episode()

    def _refresh(self) -> None:
        version, weights, is_newer = self._container.pull_if_newer(self._version)
        if is_newer:
            self._version, self._weights = version, [weight.numpy() for weight in weights]

    def _play_episode(self) -> None:
        observation, _ = self._environment.reset()
        terminated = truncated = False
        while not (terminated or truncated):
            observation = network.features(observation)
            action, log_probability = self._act(observation)
            next_observation, reward, terminated, truncated, _ = self._environment.step(action)
            self._append(observation, action, log_probability, reward, 1.0)
            observation = next_observation
        self._append(network.features(observation), 0, 0.0, 0.0, 0.0 if terminated else 1.0)
        history = self._writer.history
        trajectory = {
            "observation": history["observation"][:],
            "action": history["action"][:-1],
            "log_probability": history["log_probability"][:-1],
            "reward": history["reward"][:-1],
            "discount": history["discount"][-1],
            "version": history["version"][-1],
        }
        self._writer.create_item(EPISODES, priority=1.0, trajectory=trajectory)
        # Waits while the queue is full: what is played later is played with a newer policy.
        wait_for_learner(lambda t: self._writer.end_episode(timeout_ms=t), self._stop)

    def _act(self, observation: np.ndarray) -> tuple[int, float]:
        logits = networks.forward(self._weights, observation)
        logits = logits - logits.max()
        log_probabilities = logits - np.log(np.exp(logits).sum())
        action = int(self._rng.random() < np.exp(log_probabilities[1]))
        return action, log_probabilities[action]

    def _append(self, observation, action, log_probability, reward, discount) -> None:
        self._writer.append(
            {
                "observation": observation,
                "action": np.int32(action),
                "log_probability": np.float32(log_probability),
                "reward": np.float32(reward),
                "discount": np.float32(discount),
                "version": np.int64(self._version),
            }
        )


def play(address: str, index: int, config: str, stop: threading.Event) -> None:
    """Plays until the learner ends."""
    Collector(address, index, Config.from_json(config), stop).run()


if __name__ == "__main__":
    run_actor(sys.argv[1:], play)
