"""The step of a writer in a graph: its columns, and tensors for them."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import tree

from reverb_tf import _signature
from reverb_tf._tf.tf_import import import_tensorflow

tf = import_tensorflow("reverb_tf.TFTrajectoryWriter")


@dataclasses.dataclass(frozen=True)
class Column:
    """One column of a step."""

    number: int
    path: str  # in quotes, as errors show it
    dtype: Any
    shape: Any  # of one environment


def _path_text(path: tuple[Any, ...]) -> str:
    return "'" + "/".join(str(part) for part in path) + "'"


def columns_of(spec: Any) -> list[Column]:
    """The columns of a nest of specs, in the order in which dm-tree flattens it.

    Raises:
      ValueError: it has no leaves.
      TypeError: a leaf is no spec.
    """
    columns = []
    for number, (path, leaf) in enumerate(tree.flatten_with_path(spec)):
        if not _signature.is_spec(leaf):
            raise TypeError(
                f"The step's spec must be a nest of TensorSpecs, got {leaf!r} at {_path_text(path)}."
            )
        shape = tf.TensorShape(_signature.dims_of(leaf.shape))
        columns.append(Column(number, _path_text(path), tf.as_dtype(leaf.dtype), shape))
    if not columns:
        raise ValueError(f"The step's spec has no TensorSpecs: {spec!r}.")
    return columns


def _is_container(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple)


def parts_of(spec: Any, data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yields the path and the value of each leaf of `spec` that `data` has, with None for those that it lacks.

    Raises:
      ValueError: `data` has what `spec` lacks, or another container.
    """
    if not _is_container(spec):
        yield _path_text(path), data
        return
    if isinstance(spec, Mapping):
        if data is not None and not isinstance(data, Mapping):
            raise ValueError(f"Expected a dict at {_path_text(path)}, got {data!r}.")
        unknown = sorted(str(key) for key in (data or {}) if key not in spec)
        if unknown:
            raise ValueError(
                f"The step has no {unknown} at {_path_text(path)}; expected some of {sorted(map(str, spec))}."
            )
        for key in sorted(spec):
            yield from parts_of(spec[key], None if data is None else data.get(key), (*path, key))
        return
    if data is not None and (not isinstance(data, list | tuple) or len(data) != len(spec)):
        raise ValueError(
            f"Expected a list or tuple of {len(spec)} at {_path_text(path)} (None for what is left out), got {data!r}."
        )
    for i, part in enumerate(spec):
        yield from parts_of(part, None if data is None else data[i], (*path, i))


def tensor_for(column: Column, value: Any, batch_size: int | None) -> Any:
    """`value` as a tensor for the column.

    Raises:
      ValueError: it has another dtype, or a static shape that is not compatible.
    """
    expected = column.shape
    if batch_size is not None:
        expected = tf.TensorShape([batch_size]).concatenate(expected)
    wanted = f"({column.dtype.name}, {expected})"
    # A Python number becomes what is wanted; what has a dtype must have that one.
    dtype = None if hasattr(value, "dtype") else column.dtype
    try:
        tensor = tf.convert_to_tensor(value, dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Column {column.path} got {value!r}, expected (dtype, shape): {wanted}: {error}"
        ) from error
    if tensor.dtype != column.dtype or not tensor.shape.is_compatible_with(expected):
        raise ValueError(
            f"Column {column.path} got a tensor with (dtype, shape): ({tensor.dtype.name}, {tensor.shape}), "
            f"expected (dtype, shape): {wanted}"
            + (
                "."
                if batch_size is None
                else ", where the first dimension is that of the environments."
            )
        )
    return tensor
