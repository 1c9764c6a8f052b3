"""What the example shows: a progress bar and a learning curve."""

from __future__ import annotations

import collections
import time

import numpy as np
import tqdm
from matplotlib import pyplot

import reverb_tf as reverb
from examples.cartpole_dqn.config import REPLAY, Config
from examples.cartpole_dqn.evaluation import BestPolicy
from examples.common import episodes
from examples.common.reports import EPISODES, told_episodes

_SECONDS_BETWEEN_REPORTS = 1.0


class Report:
    """Follows a run on a progress bar and keeps what the learning curve needs."""

    def __init__(self, config: Config, tables: dict[str, reverb.Table], client: reverb.Client):
        self._config = config
        self._tables = tables
        self._client = client
        self._bar = tqdm.tqdm(total=config.steps, unit="step", smoothing=0.1)
        self._curve = episodes.LearningCurve()
        self._ratios: list[tuple[int, float]] = []
        self._recent = collections.deque([(time.monotonic(), 0, 0)], maxlen=6)

    def update(self, step: int) -> None:
        """Shows where the run is. Call often; it does little unless a second has passed."""
        self._bar.update(step - self._bar.n)
        now = time.monotonic()
        if now - self._recent[-1][0] < _SECONDS_BETWEEN_REPORTS:
            return
        info = self._tables[REPLAY].info.rate_limiter_info
        inserts, samples = info.insert_stats.completed, info.sample_stats.completed
        self._recent.append((now, inserts, samples))
        self._read_episodes()
        self._bar.set_postfix_str(self._numbers())

    def close(self) -> None:
        """Ends the bar."""
        self._bar.close()

    def plot(self, title: str) -> None:
        """Writes the learning curve to the file `config.plot`."""
        figure, (curve, ratio) = pyplot.subplots(
            2, 1, figsize=(8, 6), sharex=True, height_ratios=[3, 1], layout="constrained"
        )
        self._curve.draw(curve)
        curve.set(title=title)
        if self._ratios:
            ratio.plot(*zip(*self._ratios, strict=True), label="seen")
        ratio.axhline(self._config.samples_per_insert, linestyle="--", color="0.5", label="target")
        ratio.set(xlabel="steps of all actors", ylabel="replay ratio", ylim=(0, None))
        ratio.legend(loc="lower right")
        episodes.save(figure, self._config.plot)

    def _read_episodes(self) -> None:
        """Fetches the episodes that ended since the last report."""
        for episode_return, length in told_episodes(self._client, self._tables[EPISODES]):
            self._curve.add(episode_return, length)

    def _numbers(self) -> str:
        (then, inserts_then, samples_then), (now, inserts, samples) = (
            self._recent[0],
            self._recent[-1],
        )
        inserts_rate = (inserts - inserts_then) / (now - then)
        samples_rate = (samples - samples_then) / (now - then)
        # The limiter starts to count once the table may be sampled.
        counted = inserts - self._config.min_table_size
        ratio = samples / counted if counted > 0 else 0.0
        if counted > 0:
            self._ratios.append((inserts, ratio))
        return (
            f"return {self._curve.mean():.0f}, {inserts_rate:.0f} inserts/s, {samples_rate:.0f} samples/s, "
            f"ratio {ratio:.2f} of {self._config.samples_per_insert:g}"
        )


def conclude(config: Config, report: Report, best: BestPolicy) -> float:
    """Evaluates the best policy, writes the learning curve and says the result; returns the average return."""
    returns = best.evaluate()
    average = float(np.mean(returns))
    report.plot(f"CartPole-v1, seed {config.seed}: {average:.0f} in the final evaluation")
    print(episodes.conclusion(returns, config.goal, config.plot))
    return average
