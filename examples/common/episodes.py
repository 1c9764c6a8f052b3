"""Playing whole episodes, and what is told about them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import gymnasium
import matplotlib
import numpy as np

matplotlib.use("Agg")  # Draws into files, needs no display.
from matplotlib import pyplot  # noqa: E402

_AVERAGED = 20
# First seed of a final evaluation; nobody trains on it.
FINAL_SEED = 1_000_000


def play_episodes(
    environment_name: str, act: Callable[[np.ndarray], Any], episodes: int, seed: int
) -> list[float]:
    """Returns of `episodes` episodes; the first is seeded with `seed`, each next one with 1 more."""
    environment = gymnasium.make(environment_name)
    returns = []
    for episode in range(episodes):
        observation, _ = environment.reset(seed=seed + episode)
        total, done = 0.0, False
        while not done:
            observation, reward, terminated, truncated, _ = environment.step(act(observation))
            total += float(reward)
            done = terminated or truncated
        returns.append(total)
    environment.close()
    return returns


class LearningCurve:
    """The returns of the episodes of a run, in the order in which they were seen."""

    def __init__(self):
        self._returns: list[float] = []
        self._lengths: list[int] = []

    def add(self, episode_return: float, length: int) -> None:
        """Adds an episode of `length` steps."""
        self._returns.append(episode_return)
        self._lengths.append(length)

    @property
    def steps(self) -> int:
        """Of all episodes."""
        return sum(self._lengths)

    def mean(self) -> float:
        """Average return of the last episodes; 0 if there are none."""
        return float(np.mean(self._returns[-_AVERAGED:])) if self._returns else 0.0

    def draw(self, axes: Any) -> None:
        """Draws the returns over the steps."""
        steps = np.cumsum(self._lengths)
        axes.plot(steps, self._returns, ".", color="0.75", label="episode")
        if len(self._returns) >= _AVERAGED:
            window = np.ones(_AVERAGED) / _AVERAGED
            mean = np.convolve(self._returns, window, mode="valid")
            axes.plot(steps[_AVERAGED - 1 :], mean, label=f"mean of {_AVERAGED}")
        axes.set(ylabel="return of an episode (with exploration)")
        axes.legend(loc="lower right")

    def plot(self, path: str, title: str) -> None:
        """Writes a figure with nothing but the curve."""
        figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
        self.draw(axes)
        axes.set(title=title, xlabel="steps of all actors")
        save(figure, path)


def save(figure: Any, path: str) -> None:
    """Writes a figure to a file, whose folder is made if need be."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def conclusion(returns: list[float], goal: float, plot: str) -> str:
    """The last line of an example."""
    return (
        f"Average return over {len(returns)} greedy episodes: {np.mean(returns):.1f} "
        f"(min {min(returns):.0f}, max {max(returns):.0f}; goal {goal:g}). Learning curve: {plot}"
    )


def conclude(
    config: Any,
    curve: LearningCurve,
    title: str,
    environment_name: str,
    act: Callable[[np.ndarray], Any],
) -> float:
    """Evaluates a policy, writes the learning curve and says the result; returns the average return.

    Args:
      config: settings with `seed`, `goal`, `plot` and `evaluation_episodes`.
      curve: of the training.
      title: of the figure, without the seed.
      environment_name: in which is evaluated.
      act: the greedy policy.
    """
    seed = FINAL_SEED + 1_000 * config.seed
    returns = play_episodes(environment_name, act, config.evaluation_episodes, seed)
    curve.plot(config.plot, f"{title}, seed {config.seed}")
    print(conclusion(returns, config.goal, config.plot))
    return float(np.mean(returns))
