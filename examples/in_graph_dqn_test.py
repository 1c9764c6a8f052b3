"""Tests of the in-graph example: its environment, its loop on a short run, and the command."""

import os
import pathlib
import re
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import reverb_tf as reverb  # noqa: E402
from examples.cartpole_dqn.config import REPLAY  # noqa: E402
from examples.common.reports import EPISODES  # noqa: E402
from examples.in_graph_dqn import cartpole  # noqa: E402
from examples.in_graph_dqn.__main__ import make_tables  # noqa: E402
from examples.in_graph_dqn.agent import Agent  # noqa: E402
from examples.in_graph_dqn.config import Config  # noqa: E402

_ROOT = pathlib.Path(__file__).resolve().parent.parent


def test_cartpole_is_that_of_gymnasium():
    environments = [gymnasium.make("CartPole-v1") for _ in range(3)]
    observations = [environment.reset(seed=i)[0] for i, environment in enumerate(environments)]
    state = cartpole.State(tf.constant(np.stack(observations)), tf.zeros([3], tf.int64))
    rng = np.random.default_rng(0)
    for _ in range(15):
        actions = rng.integers(2, size=3)
        outcome = cartpole.step(state, tf.constant(actions))
        for i, environment in enumerate(environments):
            observation, reward, terminated, truncated, _ = environment.step(int(actions[i]))
            np.testing.assert_allclose(outcome.state.observation[i], observation, atol=1e-5)
            assert (bool(outcome.terminated[i]), bool(outcome.truncated[i])) == (
                terminated,
                truncated,
            )
            assert reward == 1.0
        state = outcome.state
        if bool(tf.reduce_any(outcome.terminated)):
            break


def test_cartpole_ends_when_the_time_is_over():
    state = cartpole.State(tf.zeros([2, 4]), tf.constant([498, 499], tf.int64))
    outcome = cartpole.step(state, tf.constant([0, 1]))
    assert outcome.terminated.numpy().tolist() == [False, False]
    assert outcome.truncated.numpy().tolist() == [False, True]
    start = cartpole.start(2, tf.constant([1, 2], tf.int64))
    mixed = cartpole.where(outcome.truncated, start, outcome.state)
    assert mixed.steps.numpy().tolist() == [499, 0]
    np.testing.assert_array_equal(mixed.observation[1], start.observation[1])


def test_the_loop_writes_samples_and_updates():
    config = Config(
        environments=4, min_table_size=200, batch_size=32, hidden_units=16, steps=300, epsilon_steps=200
    )  # fmt: skip
    tables = make_tables(config)
    server = reverb.Server(list(tables.values()))
    address = f"localhost:{server.port}"
    try:
        agent = Agent(address, config)
        agent.fill()
        filled = tables[REPLAY].info.current_size
        # A round more than needed would have been one too many.
        assert config.min_table_size <= filled < config.min_table_size + 4 * 4
        steps = agent.env_steps
        weights = agent.policy_weights()
        loss = agent.run(300)
        assert np.isfinite(loss) and loss > 0.0
        # 32 samples for each insert: 4 gradient steps of 32 after each step of 4 environments.
        assert agent.step == 300
        assert agent.env_steps - steps == 75 * config.environments
        assert not all(map(np.array_equal, weights, agent.policy_weights()))
        info = tables[REPLAY].info
        # Every step completes a transition, but for the first n_step ones of an episode, which its end makes good if
        # the pole fell.
        assert 0 < info.current_size - filled <= agent.env_steps - steps + 3 * 4
        sampled = info.rate_limiter_info.sample_stats.completed
        # And what is fetched ahead: `max_staleness`.
        assert 300 * 32 <= sampled <= 302 * 32
        priorities = [item.priority for item in reverb.Client(address).list_items(REPLAY)]
        assert len({round(p, 6) for p in priorities}) > 32
        assert tables[EPISODES].info.current_size > 10
    finally:
        server.stop()


def test_command_trains_evaluates_and_plots(tmp_path):
    plot = tmp_path / "curve" / "plot.png"
    flags = ["--steps=200", "--steps_per_call=100", "--min_table_size=300", "--goal=0"]
    result = subprocess.run(
        [sys.executable, "-m", "examples.in_graph_dqn", *flags, "--evaluation_episodes=2", f"--plot={plot}"],
        cwd=_ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-4000:]
    assert re.search(r"Average return over 2 greedy episodes: \d+\.\d", result.stdout)
    assert plot.read_bytes().startswith(b"\x89PNG")
