"""Tests of the PPO and SAC examples: their parts, and each command on a short run."""

import math
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import reverb_tf as reverb  # noqa: E402
from examples.cartpole_ppo import learner as ppo_learner  # noqa: E402
from examples.cartpole_ppo import tables as ppo_tables  # noqa: E402
from examples.cartpole_ppo.config import Config as PpoConfig  # noqa: E402
from examples.common import networks, reports  # noqa: E402
from examples.common.episodes import LearningCurve  # noqa: E402
from examples.pendulum_sac import learner as sac_learner  # noqa: E402
from examples.pendulum_sac import policy  # noqa: E402

_ROOT = pathlib.Path(__file__).resolve().parent.parent
_DEADLINE_SECONDS = 240
_COMMANDS = {
    "cartpole_ppo": ["--updates=2", "--steps_per_update=200", "--batch_size=50", "--goal=0"],
    "pendulum_sac": ["--steps=60", "--min_table_size=250", "--batch_size=16", "--goal=-9999"],
}


@pytest.mark.parametrize("name", _COMMANDS)
def test_command_trains_evaluates_and_plots(tmp_path, name):
    plot = tmp_path / "curve" / "plot.png"
    result = subprocess.run(
        [sys.executable, "-m", f"examples.{name}", *_COMMANDS[name]]
        + ["--evaluation_episodes=2", f"--plot={plot}"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=_DEADLINE_SECONDS,
    )
    assert result.returncode == 0, result.stderr[-4000:]
    assert re.search(r"Average return over 2 greedy episodes: -?\d+\.\d", result.stdout)
    assert "return" in result.stderr
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_networks_are_the_same_in_numpy_and_tensorflow():
    weights = networks.initial_weights([3, 8, 8, 2], seed=1, output_scale=0.5)
    assert [w.shape for w in weights] == [(3, 8), (8,), (8, 8), (8,), (8, 2), (2,)]
    inputs = np.random.default_rng(0).standard_normal((5, 3), dtype=np.float32)
    variables = [tf.Variable(weight) for weight in weights]
    np.testing.assert_allclose(
        networks.forward(weights, inputs),
        networks.forward(variables, tf.constant(inputs), tf.nn.relu),
        rtol=1e-4,
        atol=1e-5,
    )


def test_reports_of_episodes_are_read_once():
    table = reports.episodes_table()
    server = reverb.Server([table])
    client = server.localhost_client()
    reports.tell_episode(client, 12.5, 7)
    reports.tell_episode(client, 3.0, 2)
    assert reports.told_episodes(client, table) == [(12.5, 7), (3.0, 2)]
    assert reports.told_episodes(client, table) == []
    server.stop()


def test_learning_curve():
    curve = LearningCurve()
    assert curve.mean() == 0.0
    for i in range(30):
        curve.add(float(i), 2)
    assert (curve.mean(), curve.steps) == (19.5, 60)


@pytest.mark.parametrize("discount, after", [(0.0, 0.0), (1.0, 8.0)])
def test_advantages_are_those_of_the_definition(discount, after):
    reward, value = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0, 8.0])
    got = ppo_learner.advantages(reward, value, discount, gamma=0.5, gae_lambda=0.8)
    errors = [1 + 0.5 * 5 - 4, 2 + 0.5 * 6 - 5, 3 + 0.5 * after - 6]
    want = [sum(0.4**k * error for k, error in enumerate(errors[t:])) for t in range(3)]
    np.testing.assert_allclose(got, want)


def test_a_ppo_update_follows_the_advantage():
    """One-step episodes whose reward is 1 for action 1 and 0 for action 0."""
    config = PpoConfig(updates=10, steps_per_update=40, batch_size=20, hidden_units=8)
    learner = ppo_learner.Learner(config)
    server = ppo_tables.make_server(learner.policy, 40)
    learner.connect(f"localhost:{server.port}")
    observation = np.ones((2, 4), np.float32)

    def probability():
        weights = [variable.numpy() for variable in learner.policy]
        return float(tf.nn.softmax(networks.forward(weights, observation[0]))[1])

    before = probability()
    with server.localhost_client().trajectory_writer(2) as writer:
        for i in range(40):
            action = np.int32(i % 2)
            log = np.float32(math.log(before if action else 1 - before))
            reward, version = np.float32(action), np.int64(1)
            for _ in range(2):
                writer.append((observation[0], action, log, reward, np.float32(0), version))
            h = writer.history
            writer.create_item(
                ppo_tables.EPISODES,
                1.0,
                {
                    "observation": h[0][:],
                    "action": h[1][:-1],
                    "log_probability": h[2][:-1],
                    "reward": h[3][:-1],
                    "discount": h[4][-1],
                    "version": h[5][-1],
                },
            )
            writer.end_episode()
    episodes = learner.update(lambda: None)
    assert sorted(set(episodes)) == [(0.0, 1, 0), (1.0, 1, 0)] and len(episodes) == 40
    assert probability() > before
    version, published = reverb.VariableContainer(f"localhost:{server.port}").wait_for(2)
    assert version == 2
    np.testing.assert_array_equal(published[0], learner.policy[0])
    server.stop()


def test_sac_draws_from_the_policy_that_the_actor_has():
    weights = policy.initial_weights(hidden_units=8, seed=0)
    weights[-1][:] = [0.3, -5.0]  # a mean, and hardly any noise
    weights[-2][:] = 0.0
    observation = np.zeros((4, 3), np.float32)
    action, log_probability = sac_learner.draw([tf.Variable(w) for w in weights], observation)
    np.testing.assert_allclose(action, np.full((4, 1), np.tanh(0.3)), atol=0.05)
    np.testing.assert_allclose(
        policy.greedy_action(weights, observation[0]), [np.tanh(0.3)], rtol=1e-5
    )
    drawn = policy.sampled_action(weights, observation[0], np.random.default_rng(0))
    np.testing.assert_allclose(drawn, [np.tanh(0.3)], atol=0.05)
    # The density of a = tanh(u), u ~ N(0.3, exp(-5)).
    before = np.arctanh(action.numpy()[:, 0].astype(np.float64))
    normal = -0.5 * ((before - 0.3) / math.exp(-5)) ** 2 + 5 - 0.5 * math.log(2 * math.pi)
    want = normal - np.log(1 - np.tanh(before) ** 2)
    np.testing.assert_allclose(log_probability, want, rtol=0.05)
