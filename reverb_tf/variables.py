"""Tables that hold the newest variables of a learner."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from reverb_tf import _dtypes, _nests, _signature, item_selectors, rate_limiters, server

DEFAULT_TABLE = "variables"

# Numbers of the element types that a wire_dtype replaces.
_FLOATS = {1, 2, 14, 19, *range(24, 29), 33}


def _number(dtype: Any) -> int:
    """The number of a dtype of numpy, TensorFlow or PyTorch, or of that name."""
    if hasattr(dtype, "as_datatype_enum"):
        return dtype.as_datatype_enum
    if isinstance(dtype, np.dtype | type):
        dtype = np.dtype(dtype)
        return _dtypes.number_of_dtype(np.dtype(object) if dtype.kind in "SUT" else dtype)
    return _dtypes.number_of_name(str(dtype).rpartition(".")[2])


def _spec(value: Any, wire: int | None) -> Any:
    if not (hasattr(value, "shape") and hasattr(value, "dtype")):
        value = np.asarray(value)
    number = _number(value.dtype)
    if wire is None or number not in _FLOATS or wire == number:
        if _signature.is_spec(value):
            return value
        wire = number
    name = value.name if _signature.is_spec(value) else None
    dims = _signature.dims_of(value.shape)
    # TensorFlow takes the number, numpy wants its dtype.
    tf_spec, _ = _signature._tensorflow_spec_classes()
    return _signature.make_spec(dims, wire if tf_spec else _dtypes.dtype_of_number(wire), name)


def _map(nest: Any, wire: int | None) -> Any:
    if isinstance(nest, Mapping):
        return {key: _map(value, wire) for key, value in nest.items()}
    if isinstance(nest, tuple) and hasattr(nest, "_fields"):
        return type(nest)(*(_map(value, wire) for value in nest))
    if isinstance(nest, list):
        return [_map(value, wire) for value in nest]
    if isinstance(nest, tuple):
        return tuple(_map(value, wire) for value in nest)
    return _spec(nest, wire)


def variable_table(
    variables_or_signature: Any, name: str = DEFAULT_TABLE, *, wire_dtype: Any = None
) -> server.Table:
    """A table for a `VariableContainer`: it holds what was pushed last, for any number of pulls.

    Args:
      variables_or_signature: Nest of dicts, lists, tuples and named tuples of variables, arrays (of numpy, JAX,
        TensorFlow), numbers or TensorSpecs: what is going to be pushed looks like this. Values are not kept.
      name: Of the table.
      wire_dtype: A floating point dtype, for example "bfloat16": the dtype that all floating point variables have in
        the table and on their way. They are cast by containers that are made with `cast=True`. None: each variable
        keeps its own.

    Returns:
      The table, with the signature of the variables and `max_size` 1. Everything else about it is as TF-Agents makes
      such tables, whose `ReverbVariableContainer` works with it.

    Raises:
      ValueError: There are no variables, a dtype cannot be sent, wire_dtype is no floating point dtype, or the nest has
        keys that are not strings.
    """
    wire = None if wire_dtype is None else _number(wire_dtype)
    if wire is not None and wire not in _FLOATS:
        raise ValueError(f"wire_dtype must be a floating point dtype, got {wire_dtype!r}")
    signature = _map(variables_or_signature, wire)
    if not _nests.specs(signature):
        raise ValueError(f"There are no variables in {variables_or_signature!r}")
    return server.Table(
        name=name,
        sampler=item_selectors.Uniform(),
        remover=item_selectors.Fifo(),
        max_size=1,
        max_times_sampled=0,
        rate_limiter=rate_limiters.MinSize(1),
        signature=signature,
    )
