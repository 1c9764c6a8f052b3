"""Runs the example: `python -m examples.cartpole_dqn`."""

from __future__ import annotations

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


import reverb_tf as reverb  # noqa: E402
from examples.cartpole_dqn import replay  # noqa: E402
from examples.cartpole_dqn.config import Config  # noqa: E402
from examples.cartpole_dqn.evaluation import BestPolicy  # noqa: E402
from examples.cartpole_dqn.learner import Learner  # noqa: E402
from examples.cartpole_dqn.report import Report, conclude  # noqa: E402
from examples.common.command import run_command  # noqa: E402
from examples.common.processes import ActorProcesses  # noqa: E402

# Gradient steps of one call of the tf.function; the actors get new weights after each.
_STEPS_PER_CALL = 25


def run(config: Config) -> float:
    """Trains and evaluates; returns the average return of the evaluation."""
    tables = replay.make_tables(config)
    server = reverb.Server(list(tables.values()))
    address = f"localhost:{server.port}"
    learner = Learner(address, config)
    learner.publish()
    best = BestPolicy(config)
    report = Report(config, tables, reverb.Client(address))
    try:
        with ActorProcesses(
            "examples.cartpole_dqn.actor", address, config, config.actors
        ) as actors:
            while learner.step < config.steps:
                learner.train(min(_STEPS_PER_CALL, config.steps - learner.step))
                learner.publish()
                report.update(learner.step)
                best.update(learner.step, learner.policy_weights())
                actors.check()
    finally:
        report.close()
        server.stop()
    return conclude(config, report, best)


if __name__ == "__main__":
    sys.exit(run_command(Config, run, threads=2))
