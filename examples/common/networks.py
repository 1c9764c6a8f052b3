"""Networks of dense layers, as plain numpy and, by the same code, as TensorFlow ops.

A forward pass of so small a network costs an actor a few microseconds in numpy and some hundred
in TensorFlow, and an actor without TensorFlow starts at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def relu(values: np.ndarray) -> np.ndarray:
    """The positive part."""
    return np.maximum(values, 0.0)


def initial_weights(sizes: Sequence[int], seed: int, output_scale: float = 1.0) -> list[np.ndarray]:
    """Weights and biases of the layers.

    Args:
      sizes: of the input, of each hidden layer and of the output.
      seed: of the random numbers.
      output_scale: factor of the last layer's weights.

    Returns:
      `[w0, b0, w1, b1, ...]`, float32; He-scaled normal weights, zero biases.
    """
    rng = np.random.default_rng(seed)
    weights = []
    for fan_in, fan_out in itertools.pairwise(sizes):
        scale = np.sqrt(2.0 / fan_in)
        weights.append((rng.standard_normal((fan_in, fan_out)) * scale).astype(np.float32))
        weights.append(np.zeros([fan_out], np.float32))
    weights[-2] *= np.float32(output_scale)
    return weights


def forward(weights: Sequence[Any], inputs: Any, activation: Callable[[Any], Any] = relu) -> Any:
    """The output `[..., sizes[-1]]` for `inputs` `[..., sizes[0]]`.

    Args:
      weights: as `initial_weights` returns them: arrays, or variables of TensorFlow.
      inputs: array, or tensor.
      activation: of the hidden layers: `relu`, or `tf.nn.relu`.
    """
    *hidden, last_weight, last_bias = weights
    for weight, bias in zip(hidden[::2], hidden[1::2], strict=True):
        inputs = activation(inputs @ weight + bias)
    return inputs @ last_weight + last_bias
