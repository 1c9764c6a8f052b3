"""Runs the example: `python -m examples.cartpole_ppo`."""

from __future__ import annotations

import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np  # noqa: E402
import tqdm  # noqa: E402

from examples.cartpole_dqn import network  # noqa: E402
from examples.cartpole_ppo.config import Config  # noqa: E402
from examples.cartpole_ppo.learner import Learner  # noqa: E402
from examples.cartpole_ppo.tables import make_server  # noqa: E402
from examples.common import networks  # noqa: E402
from examples.common.command import run_command  # noqa: E402
from examples.common.episodes import LearningCurve, conclude  # noqa: E402
from examples.common.processes import ActorProcesses  # noqa: E402


def _train(learner: Learner, address: str, config: Config) -> LearningCurve:
    curve, start = LearningCurve(), time.monotonic()
    module = "examples.cartpole_ppo.collector"
    with (
        ActorProcesses(module, address, config, config.collectors) as actors,
        tqdm.tqdm(total=config.updates, unit="update") as bar,
    ):
        learner.connect(address)
        for _ in range(config.updates):
            episodes = learner.update(actors.check)
            for episode_return, length, _ in episodes:
                curve.add(episode_return, length)
            lag = np.mean([lag for _, _, lag in episodes])
            rate = curve.steps / (time.monotonic() - start)
            bar.update()
            bar.set_postfix_str(
                f"return {curve.mean():.0f}, {rate:.0f} steps/s, policies {lag:.1f} updates old"
            )
    return curve


def run(config: Config) -> float:
    """Trains and evaluates; returns the average return of the evaluation."""
    learner = Learner(config)
    server = make_server(learner.policy, config.queue_size)
    try:
        curve = _train(learner, f"localhost:{server.port}", config)
    finally:
        server.stop()
    weights = [variable.numpy() for variable in learner.policy]

    def act(observation: np.ndarray) -> int:
        return int(networks.forward(weights, network.features(observation)).argmax())

    return conclude(config, curve, "PPO on CartPole-v1", "CartPole-v1", act)


if __name__ == "__main__":
    sys.exit(run_command(Config, run, threads=1))
