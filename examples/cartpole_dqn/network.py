"""The Q-network, and what it sees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examples.common import networks

OBSERVATION_SIZE = 4
NUM_ACTIONS = 2


# The angle of the pole is a tenth of the other numbers; networks learn best from equals.
_SCALE = np.array([1.0, 1.0, 10.0, 1.0], np.float32)


def features(observation: np.ndarray) -> np.ndarray:
    """What the network sees of an observation `[OBSERVATION_SIZE]`; the same shape, float32."""
    return observation * _SCALE


def initial_weights(hidden_units: int, seed: int) -> list[np.ndarray]:
    """Weights and biases of two hidden layers and the output layer; see `networks`."""
    sizes = [OBSERVATION_SIZE, hidden_units, hidden_units, NUM_ACTIONS]
    return networks.initial_weights(sizes, seed)


def q_values(weights: Sequence[np.ndarray], observation: np.ndarray) -> np.ndarray:
    """Value of each action.

    Args:
      weights: as `initial_weights` returns them.
      observation: float32 `[..., OBSERVATION_SIZE]`, made by `features`.

    Returns:
      float32 `[..., NUM_ACTIONS]`.
    """
    return networks.forward(weights, observation)
