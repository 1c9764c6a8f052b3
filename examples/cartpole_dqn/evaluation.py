"""How good a policy is without exploration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examples.cartpole_dqn import network
from examples.cartpole_dqn.config import Config
from examples.common.episodes import FINAL_SEED, play_episodes

_VALIDATION_EPISODES = 5
# First seed of the episodes; nobody trains on these, and the final evaluation does not meet them.
_VALIDATION_SEED = 2_000_000


def greedy_returns(weights: Sequence[np.ndarray], episodes: int, seed: int) -> list[float]:
    """Returns of `episodes` episodes of the greedy policy, the first one seeded with `seed`."""
    return play_episodes(
        "CartPole-v1",
        lambda observation: int(network.q_values(weights, network.features(observation)).argmax()),
        episodes,
        seed,
    )


class BestPolicy:
    """Keeps the weights that did best in validation.

    Q-learning does not improve steadily: a policy that balances for ever may drift for the next
    thousand steps. So the policy is chosen by a few greedy episodes now and then, and then
    evaluated on others.
    """

    def __init__(self, config: Config):
        self._config = config
        self._next_step = config.validation_steps
        self._best = -1.0
        self._weights: list[np.ndarray] = []

    def update(self, step: int, weights: list[np.ndarray]) -> None:
        """Validates `weights` if it is time to, or if `step` is the last one."""
        if step < min(self._next_step, self._config.steps):
            return
        self._next_step = step + self._config.validation_steps
        seed = _VALIDATION_SEED + 1_000 * self._config.seed
        average = float(np.mean(greedy_returns(weights, _VALIDATION_EPISODES, seed)))
        if average >= self._best:
            self._best, self._weights = average, weights

    def evaluate(self) -> list[float]:
        """Returns of the final evaluation's episodes."""
        seed = FINAL_SEED + 1_000 * self._config.seed
        return greedy_returns(self._weights, self._config.evaluation_episodes, seed)
