"""What the tests of VariableContainer share."""

import collections
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb

Layer = collections.namedtuple("Layer", ["kernel", "bias"])


def make_variables(value: float = 0.0) -> dict[str, Any]:
    """Variables in every kind of container, all of them with one value."""
    value = float(value)
    return {
        "layers": [
            Layer(tf.Variable(tf.fill([3, 4], value)), tf.Variable(tf.fill([4], value))),
            Layer(tf.Variable(tf.fill([4, 2], value)), tf.Variable(tf.fill([2], value))),
        ],
        "step": (tf.Variable(int(value), dtype=tf.int64),),
    }


def numbers(nest: Any) -> set[float]:
    """All numbers in a nest of tensors or variables."""
    leaves = [np.asarray(tf.convert_to_tensor(leaf)) for leaf in tf.nest.flatten(nest)]
    return {float(x) for leaf in leaves for x in leaf.flat}


def table(signature_of: Any = None, name: str = "variables", **options: Any) -> reverb.Table:
    """A table for `make_variables()`, or for what else is given."""
    return reverb.variable_table(
        make_variables() if signature_of is None else signature_of, name, **options
    )


def raw_table(name: str, max_size: int = 1, signature: Any = None) -> reverb.Table:
    """A table that `variable_table` would not make."""
    return reverb.Table(
        name=name,
        sampler=reverb.selectors.Uniform(),
        remover=reverb.selectors.Fifo(),
        max_size=max_size,
        rate_limiter=reverb.rate_limiters.MinSize(1),
        signature=signature,
    )


def in_mode(mode: str, function: Any) -> Any:
    """Calls a function: "eager", or as a new `tf.function`."""
    return function() if mode == "eager" else tf.function(function)()


both_modes = pytest.mark.parametrize("mode", ["eager", "function"])
