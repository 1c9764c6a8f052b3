"""Runs the example: `python -m examples.cartpole_dqn`."""

from __future__ import annotations

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf  # noqa: E402

import reverb_tf as reverb  # noqa: E402
from examples.cartpole_dqn import replay  # noqa: E402
from examples.cartpole_dqn.config import Config  # noqa: E402
from examples.cartpole_dqn.evaluation import BestPolicy  # noqa: E402
from examples.cartpole_dqn.learner import Learner  # noqa: E402
from examples.cartpole_dqn.report import Report, conclude  # noqa: E402
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


def main() -> int:
    """The command. Exit code: 0 if the goal was reached, 1 if not, 130 after Ctrl-C."""
    config = Config.from_flags()
    # The networks are tiny: more threads would only take the cores from the actors.
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(2)
    tf.random.set_seed(config.seed)
    try:
        return 0 if run(config) >= config.goal else 1
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
