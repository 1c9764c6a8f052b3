"""The Q-network as plain numpy.

A forward pass of so small a network costs an actor a few microseconds in numpy and some hundred
in TensorFlow, and an actor without TensorFlow starts at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

OBSERVATION_SIZE = 4
NUM_ACTIONS = 2


# The angle of the pole is a tenth of the other numbers; networks learn best from equals.
_SCALE = np.array([1.0, 1.0, 10.0, 1.0], np.float32)


def features(observation: np.ndarray) -> np.ndarray:
    """What the network sees of an observation `[OBSERVATION_SIZE]`; the same shape, float32."""
    return observation * _SCALE


def initial_weights(hidden_units: int, seed: int) -> list[np.ndarray]:
    """Weights and biases of two hidden layers and the output layer.

    Returns:
      `[w0, b0, w1, b1, w2, b2]`, float32; He-scaled normal weights, zero biases.
    """
    rng = np.random.default_rng(seed)
    sizes = [OBSERVATION_SIZE, hidden_units, hidden_units, NUM_ACTIONS]
    weights = []
    for fan_in, fan_out in itertools.pairwise(sizes):
        scale = np.sqrt(2.0 / fan_in)
        weights.append((rng.standard_normal((fan_in, fan_out)) * scale).astype(np.float32))
        weights.append(np.zeros([fan_out], np.float32))
    return weights


def q_values(weights: Sequence[np.ndarray], observation: np.ndarray) -> np.ndarray:
    """Value of each action.

    Args:
      weights: as `initial_weights` returns them.
      observation: float32 `[..., OBSERVATION_SIZE]`, made by `features`.

    Returns:
      float32 `[..., NUM_ACTIONS]`.
    """
    w0, b0, w1, b1, w2, b2 = weights
    hidden = np.maximum(observation @ w0 + b0, 0.0)
    hidden = np.maximum(hidden @ w1 + b1, 0.0)
    return hidden @ w2 + b2
