"""Tests of the CartPole example: its parts, and the whole command on a short run."""

import os
import pathlib
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from examples.cartpole_dqn import evaluation, learner, network, replay  # noqa: E402
from examples.cartpole_dqn.config import REPLAY, VARIABLES, Config  # noqa: E402
from examples.common.reports import EPISODES  # noqa: E402

_ROOT = pathlib.Path(__file__).resolve().parent.parent
_SHORT_RUN = ["--steps=40", "--min_table_size=300", "--evaluation_episodes=2", "--goal=0"]
_DEADLINE_SECONDS = 240


def _command(*flags: str) -> list[str]:
    return [sys.executable, "-m", "examples.cartpole_dqn", *_SHORT_RUN, *flags]


def test_settings_travel_as_text():
    config = Config.from_flags(["--seed=7", "--learning_rate=0.5", "--plot=x.png"])
    assert (config.seed, config.learning_rate, config.plot) == (7, 0.5, "x.png")
    assert Config.from_json(config.to_json()) == config


def test_network_is_the_same_in_numpy_and_tensorflow():
    weights = network.initial_weights(hidden_units=16, seed=3)
    observations = np.random.default_rng(0).standard_normal((5, 4), dtype=np.float32)
    variables = [tf.Variable(value) for value in weights]
    np.testing.assert_allclose(
        network.q_values(weights, observations),
        learner.forward(variables, tf.constant(observations)),
        rtol=1e-4,
        atol=1e-5,
    )


def test_n_step_target_stops_at_the_end_of_an_episode():
    bootstrap = tf.constant([100.0, 100.0])
    data = {
        "reward": tf.constant([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]]),
        "discount": tf.constant([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]),
    }
    target = learner.n_step_target(data, bootstrap, gamma=0.5)
    np.testing.assert_allclose(target, [1 + 0.5 + 0.25 + 0.125 * 100, 1 + 0.5])


def test_tables_have_the_signature_that_the_actors_write():
    tables = replay.make_tables(Config(n_step=2))
    assert list(tables) == [REPLAY, VARIABLES, EPISODES]
    signature = tables[REPLAY].info.signature
    assert signature["reward"].shape == [2]
    assert signature["observation"].shape == [network.OBSERVATION_SIZE]


def test_best_policy_is_the_one_that_did_best_in_validation():
    config = Config(steps=2, validation_steps=1, evaluation_episodes=3, hidden_units=2)
    best = evaluation.BestPolicy(config)
    balancing = network.initial_weights(2, 0)
    for value in balancing:
        value[:] = 0.0
    # The hidden units are the positive and the negative part of angle and speed: push towards the fall.
    balancing[0][2:] = [[1.0, -1.0], [5.0, -5.0]]
    balancing[2][:] = np.eye(2)
    balancing[4][:] = np.eye(2)[::-1]
    always_left = [np.zeros_like(value) for value in balancing]
    best.update(1, balancing)
    best.update(2, always_left)
    assert min(best.evaluate()) > 100


def test_command_trains_evaluates_and_plots(tmp_path):
    plot = tmp_path / "curve" / "plot.png"
    result = subprocess.run(
        _command(f"--plot={plot}"),
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=_DEADLINE_SECONDS,
    )
    assert result.returncode == 0, result.stderr[-4000:]
    assert re.search(r"Average return over 2 greedy episodes: \d+\.\d", result.stdout)
    assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_actors_end_with_the_learner(how):
    process = subprocess.Popen(
        # A shell may have started us with Ctrl-C ignored, and processes inherit that.
        ["env", "--default-signal=INT", *_command("--steps=1000000")],
        cwd=_ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    stderr = process.stderr.fileno()
    seen = b""
    while b"inserts/s" not in seen:
        seen += os.read(stderr, 65536)
    if how == signal.SIGINT:
        os.killpg(process.pid, how)  # As a terminal does on Ctrl-C.
    else:
        process.send_signal(how)
    # The actors have the same stderr: it ends when the last of them is gone.
    while os.read(stderr, 65536):
        pass
    code = process.wait(_DEADLINE_SECONDS)
    assert code == (130 if how == signal.SIGINT else -how)
