"""Runs the example: `python -m examples.pendulum_sac`."""

from __future__ import annotations

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np  # noqa: E402
import tqdm  # noqa: E402

import reverb_tf as reverb  # noqa: E402
from examples.common.command import run_command  # noqa: E402
from examples.common.episodes import LearningCurve, conclude  # noqa: E402
from examples.common.processes import ActorProcesses  # noqa: E402
from examples.common.reports import EPISODES, told_episodes  # noqa: E402
from examples.pendulum_sac import policy, tables  # noqa: E402
from examples.pendulum_sac.config import Config  # noqa: E402
from examples.pendulum_sac.learner import Learner  # noqa: E402

# Gradient steps of one call of the tf.function; the policy is published after each.
_STEPS_PER_CALL = 50


def _train(learner: Learner, server_tables: dict, address: str, config: Config) -> LearningCurve:
    curve, client = LearningCurve(), reverb.Client(address)
    learner.connect(address)
    with (
        ActorProcesses("examples.pendulum_sac.actor", address, config, 1) as actors,
        tqdm.tqdm(total=config.steps, unit="step") as bar,
    ):
        while learner.step < config.steps:
            learner.train(min(_STEPS_PER_CALL, config.steps - learner.step))
            actors.check()
            for episode_return, length in told_episodes(client, server_tables[EPISODES]):
                curve.add(episode_return, length)
            inserts = server_tables[tables.REPLAY].info.rate_limiter_info.insert_stats.completed
            bar.update(learner.step - bar.n)
            bar.set_postfix_str(
                f"return {curve.mean():.0f}, {inserts} transitions, temperature {learner.temperature:.3f}"
            )
    return curve


def run(config: Config) -> float:
    """Trains and evaluates; returns the average return of the evaluation."""
    learner = Learner(config)
    server_tables = tables.make_tables(config, learner.policy)
    server = reverb.Server(list(server_tables.values()))
    try:
        curve = _train(learner, server_tables, f"localhost:{server.port}", config)
    finally:
        server.stop()
    weights = learner.weights()

    def act(observation: np.ndarray) -> np.ndarray:
        return policy.MAX_TORQUE * policy.greedy_action(weights, observation)

    return conclude(config, curve, "SAC on Pendulum-v1", "Pendulum-v1", act)


if __name__ == "__main__":
    sys.exit(run_command(Config, run, threads=2))
