"""The policy as plain numpy: a Gaussian whose samples are squashed into the range of the actions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examples.common import networks

OBSERVATION_SIZE = 3
ACTION_SIZE = 1
MAX_TORQUE = 2.0
# Bounds of the logarithm of the standard deviation.
MIN_LOG_STD, MAX_LOG_STD = -5.0, 2.0


def initial_weights(hidden_units: int, seed: int) -> list[np.ndarray]:
    """Weights of a network with the mean and the logarithm of the standard deviation as outputs."""
    sizes = [OBSERVATION_SIZE, hidden_units, hidden_units, 2 * ACTION_SIZE]
    return networks.initial_weights(sizes, seed, output_scale=0.1)


def greedy_action(weights: Sequence[np.ndarray], observation: np.ndarray) -> np.ndarray:
    """The middle of the policy, float32 `[ACTION_SIZE]` in -1 .. 1, for one observation."""
    mean, _ = np.split(networks.forward(weights, observation), 2)
    return np.tanh(mean)


def sampled_action(
    weights: Sequence[np.ndarray], observation: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """A draw from the policy, float32 `[ACTION_SIZE]` in -1 .. 1, for one observation."""
    mean, log_std = np.split(networks.forward(weights, observation), 2)
    std = np.exp(np.clip(log_std, MIN_LOG_STD, MAX_LOG_STD))
    return np.tanh(mean + std * rng.standard_normal(ACTION_SIZE, np.float32))
