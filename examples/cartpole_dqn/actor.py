"""The program of an actor process: plays CartPole and writes what it sees to the replay table.

Started as `python -m examples.cartpole_dqn.actor ADDRESS INDEX CONFIG`. It ends when its standard
input closes, which happens whatever way the learner ends.
"""

from __future__ import annotations

import sys
import threading

import gymnasium
import numpy as np

import reverb_tf as reverb
from examples.cartpole_dqn import network
from examples.cartpole_dqn.config import REPLAY, VARIABLES, Config
from examples.cartpole_dqn.transition import n_step_transition
from examples.common.processes import Stopped, run_actor, wait_for_learner
from examples.common.reports import tell_episode

# Steps between two looks at the learner's weights.
_REFRESH_STEPS = 200
# Transitions on their way to the server before the actor waits for it.
_MAX_PENDING_ITEMS = 32


class TransitionWriter:
    """Writes n-step transitions of the steps it is given. Not thread-safe."""

    def __init__(self, client: reverb.Client, n_step: int, stop: threading.Event):
        self._writer = client.trajectory_writer(num_keep_alive_refs=n_step + 1)
        self._n_step = n_step
        self._stop = stop

    def append(self, observation, action, reward, discount, priority: float) -> None:
        """Adds a step: `action` taken on `observation`, then `reward` and `discount` received.

        Once more than `n_step` steps of the episode are there, the transition that ends with
        `observation` is written. Blocks while too many transitions wait for the rate limiter.

        Raises:
          Stopped: the learner ended.
        """
        self._writer.append(
            {
                "observation": observation,
                "action": np.int32(action),
                "reward": np.float32(reward),
                "discount": np.float32(discount),
            }
        )
        n = self._n_step
        if self._writer.episode_steps <= n:
            return
        self._writer.create_item(
            table=REPLAY,
            priority=priority,
            trajectory=n_step_transition(self._writer.history, n),
        )
        wait_for_learner(lambda t: self._writer.flush(_MAX_PENDING_ITEMS, timeout_ms=t), self._stop)

    def end_episode(self, observation, terminated: bool, priority: float) -> None:
        """Writes the transitions that the end of an episode completes.

        Args:
          observation: the one after the last step.
          terminated: True if the pole fell: nothing follows, so steps without reward or future
            fill up the last transitions. False if the time limit cut the episode short: the
            value of `observation` counts, and transitions that would need later ones are left out.
          priority: of the transitions.

        Raises:
          Stopped: the learner ended.
        """
        for _ in range(self._n_step if terminated else 1):
            self.append(observation, 0, 0.0, 0.0, priority)
        wait_for_learner(lambda t: self._writer.end_episode(timeout_ms=t), self._stop)

    def close(self) -> None:
        """Drops what has not been sent; the actor ends."""
        self._writer.close()


class Actor:
    """Plays episodes with an epsilon-greedy policy of the learner's newest weights."""

    def __init__(self, address: str, index: int, config: Config, stop: threading.Event):
        self._client = reverb.Client(address)
        self._writer = TransitionWriter(self._client, config.n_step, stop)
        self._environment = gymnasium.make("CartPole-v1")
        self._environment.reset(seed=1_000 * config.seed + index)
        self._rng = np.random.default_rng([config.seed, index])
        self._final_epsilon = min(1.0, config.epsilon * 5.0**index)
        self._epsilon_steps = config.epsilon_steps
        self._stop = stop
        self._steps = 0
        self._refresh()

    def run(self) -> None:
        """Plays until told to stop."""
        try:
            while True:
                self._play_episode()
        except Stopped:
            self._writer.close()

    def _play_episode(self) -> None:
        observation, _ = self._environment.reset()
        observation = network.features(observation)
        episode_return, length = 0.0, 0
        terminated = truncated = False
        while not (terminated or truncated):
            action = self._act(observation)
            next_observation, reward, terminated, truncated, _ = self._environment.step(action)
            discount = 0.0 if terminated else 1.0
            self._writer.append(observation, action, reward, discount, self._max_priority)
            observation = network.features(next_observation)
            episode_return += float(reward)
            length += 1
            self._steps += 1
            if self._steps % _REFRESH_STEPS == 0:
                self._refresh()
        self._writer.end_episode(observation, terminated, self._max_priority)
        tell_episode(self._client, episode_return, length)

    def _act(self, observation: np.ndarray) -> int:
        done = min(1.0, self._steps / self._epsilon_steps)
        epsilon = 1.0 + done * (self._final_epsilon - 1.0)
        if self._rng.random() < epsilon:
            return int(self._rng.integers(network.NUM_ACTIONS))
        return int(np.argmax(network.q_values(self._weights, observation)))

    def _refresh(self) -> None:
        """Fetches the weights, and the priority at which new transitions enter."""
        sample = next(self._client.sample(VARIABLES, num_samples=1))
        *self._weights, max_priority = sample[0].data
        self._max_priority = float(max_priority)


def play(address: str, index: int, config: str, stop: threading.Event) -> None:
    """Plays until the learner ends."""
    Actor(address, index, Config.from_json(config), stop).run()


if __name__ == "__main__":
    run_actor(sys.argv[1:], play)
