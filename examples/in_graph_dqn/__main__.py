"""Runs the example: `python -m examples.in_graph_dqn`."""

from __future__ import annotations

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


import reverb_tf as reverb  # noqa: E402
from examples.cartpole_dqn import replay  # noqa: E402
from examples.cartpole_dqn.evaluation import BestPolicy  # noqa: E402
from examples.cartpole_dqn.report import Report, conclude  # noqa: E402
from examples.common.command import run_command  # noqa: E402
from examples.in_graph_dqn.agent import Agent  # noqa: E402
from examples.in_graph_dqn.config import Config  # noqa: E402


def make_tables(config: Config) -> dict[str, reverb.Table]:
    """Those of `examples.cartpole_dqn`, with a limiter for one loop that both inserts and samples.

    That loop keeps the replay ratio itself, by so many gradient steps after each step of the environments. A limiter
    that did so could stop it for ever: while it waits for a sample it inserts nothing, and while it waits to insert it
    samples nothing. So inserts are never held back, and samples only until the table has been filled once, which the
    agent does before it samples at all.
    """
    limiter = reverb.rate_limiters.MinSize(config.min_table_size)
    return replay.make_tables(config, limiter)


def run(config: Config) -> float:
    """Trains and evaluates; returns the average return of the evaluation."""
    tables = make_tables(config)
    server = reverb.Server(list(tables.values()))
    address = f"localhost:{server.port}"
    agent = Agent(address, config)
    best = BestPolicy(config)
    report = Report(config, tables, reverb.Client(address))
    try:
        agent.fill()
        while agent.step < config.steps:
            agent.run(min(config.steps_per_call, config.steps - agent.step))
            report.update(agent.step)
            best.update(agent.step, agent.policy_weights())
    finally:
        report.close()
        server.stop()
    return conclude(config, report, best)


if __name__ == "__main__":
    sys.exit(run_command(Config, run, threads=2))
