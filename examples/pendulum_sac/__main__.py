"""Runs the example: `python -m examples.pendulum_sac`."""

from __future__ import annotations

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tqdm  # noqa: E402

import reverb_tf as reverb  # noqa: E402
from examples.common.episodes import LearningCurve, conclusion, play_episodes  # noqa: E402
from examples.common.processes import ActorProcesses  # noqa: E402
from examples.common.reports import EPISODES, told_episodes  # noqa: E402
from examples.pendulum_sac import policy, tables  # noqa: E402
from examples.pendulum_sac.config import Config  # noqa: E402
from examples.pendulum_sac.learner import Learner  # noqa: E402

# Gradient steps of one call of the tf.function; the policy is published after each.
_STEPS_PER_CALL = 50
# First seed of the evaluation; nobody trains on it.
_EVALUATION_SEED = 1_000_000


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

    seed = _EVALUATION_SEED + 1_000 * config.seed
    returns = play_episodes("Pendulum-v1", act, config.evaluation_episodes, seed)
    curve.plot(config.plot, f"SAC on Pendulum-v1, seed {config.seed}")
    print(conclusion(returns, config.goal, config.plot))
    return float(np.mean(returns))


def main() -> int:
    """The command. Exit code: 0 if the goal was reached, 1 if not, 130 after Ctrl-C."""
    config = Config.from_flags()
    # The networks are tiny: more threads would only take the cores from the actor.
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
