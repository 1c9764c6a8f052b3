"""The program of the actor process: swings the pendulum and writes what it sees to the replay table.

Started as `python -m examples.pendulum_sac.actor ADDRESS INDEX CONFIG`. It ends when its standard
input closes, which happens whatever way the learner ends.
"""

from __future__ import annotations

import os
import sys
import threading

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import gymnasium  # noqa: E402
import numpy as np  # noqa: E402

import reverb_tf as reverb  # noqa: E402
from examples.common.processes import run_actor, wait_for_learner  # noqa: E402
from examples.common.reports import tell_episode  # noqa: E402
from examples.pendulum_sac import policy  # noqa: E402
from examples.pendulum_sac.config import Config  # noqa: E402
from examples.pendulum_sac.tables import REPLAY  # noqa: E402

# Steps between two looks at the learner's weights.
_REFRESH_STEPS = 50
# Transitions on their way to the server before the actor waits for it.
_MAX_PENDING_ITEMS = 16


class Actor:
    """Plays episodes with the newest policy. Not thread-safe."""

    def __init__(self, address: str, index: int, config: Config, stop: threading.Event):
        self._container = reverb.VariableContainer(address)
        self._client = reverb.Client(address)
        self._writer = self._client.trajectory_writer(num_keep_alive_refs=2)
        self._environment = gymnasium.make("Pendulum-v1")
        self._environment.reset(seed=1_000 * config.seed + index)
        self._rng = np.random.default_rng([config.seed, index])
        self._random_steps = config.min_table_size
        self._stop = stop
        self._steps = 0
        self._version, self._weights = 0, []
        self._refresh()

    def run(self) -> None:
        """Plays until told to stop."""
        while True:
            self._play_episode()

    def _play_episode(self) -> None:
        observation, _ = self._environment.reset()
        episode_return, length, done = 0.0, 0, False
        while not done:
            action = self._act(observation)
            torque = policy.MAX_TORQUE * action
            next_observation, reward, _, done, _ = self._environment.step(torque)
            self._append(observation, action, reward)
            observation = next_observation
            episode_return += float(reward)
            length += 1
        # The last transition needs the observation after it.
        self._append(observation, np.zeros(policy.ACTION_SIZE, np.float32), 0.0)
        wait_for_learner(lambda t: self._writer.end_episode(timeout_ms=t), self._stop)
        tell_episode(self._client, episode_return, length)

    def _act(self, observation: np.ndarray) -> np.ndarray:
        self._steps += 1
        if self._steps % _REFRESH_STEPS == 0:
            self._refresh()
        if self._steps <= self._random_steps:
            return self._rng.uniform(-1.0, 1.0, policy.ACTION_SIZE).astype(np.float32)
        return policy.sampled_action(self._weights, observation, self._rng)

    def _refresh(self) -> None:
        version, weights, is_newer = self._container.pull_if_newer(self._version)
        if is_newer:
            self._version, self._weights = version, [weight.numpy() for weight in weights]

    def _append(self, observation, action, reward) -> None:
        """Adds a step; the transition that ends with `observation` is written, if there is one."""
        self._writer.append(
            {"observation": observation, "action": action, "reward": np.float32(reward)}
        )
        if self._writer.episode_steps < 2:
            return
        history = self._writer.history
        self._writer.create_item(
            REPLAY,
            priority=1.0,
            trajectory={
                "observation": history["observation"][-2],
                "action": history["action"][-2],
                "reward": history["reward"][-2],
                "next_observation": history["observation"][-1],
            },
        )
        wait_for_learner(lambda t: self._writer.flush(_MAX_PENDING_ITEMS, timeout_ms=t), self._stop)


def play(address: str, index: int, config: str, stop: threading.Event) -> None:
    """Plays until the learner ends."""
    Actor(address, index, Config.from_json(config), stop).run()


if __name__ == "__main__":
    run_actor(sys.argv[1:], play)
