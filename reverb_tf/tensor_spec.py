"""Descriptions of arrays that need no TensorFlow."""

from collections.abc import Iterable
from typing import Any

import numpy as np


class TensorSpec:
    """What an array must look like. Immutable.

    Where TensorFlow is in use, tf.TensorSpec serves as well, and signatures come back as that.

    Attributes:
      shape: Tuple of ints, None for unknown dimensions; None for an unknown rank.
      dtype: numpy.dtype; object for strings.
      name: str or None.
    """

    __slots__ = ("shape", "dtype", "name")

    shape: tuple[int | None, ...] | None
    dtype: np.dtype
    name: str | None

    def __init__(self, shape: Iterable[int | None] | None, dtype: Any, name: str | None = None):
        """Creates a spec; `dtype` is anything numpy.dtype() takes, where str, bytes and object mean strings."""
        if shape is not None:
            shape = tuple(None if dim is None or int(dim) < 0 else int(dim) for dim in shape)
        dtype = np.dtype(dtype)
        if dtype.kind in "SUT":
            dtype = np.dtype(object)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "dtype", dtype)
        object.__setattr__(self, "name", name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a TensorSpec cannot be changed")

    def _key(self) -> tuple[Any, ...]:
        return (self.shape, self.dtype, self.name)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.shape, self.dtype, self.name)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype}, name={self.name!r})"


class BoundedTensorSpec(TensorSpec):
    """A TensorSpec whose elements lie between `minimum` and `maximum` (arrays that broadcast to the shape)."""

    __slots__ = ("minimum", "maximum")

    minimum: np.ndarray
    maximum: np.ndarray

    def __init__(
        self,
        shape: Iterable[int | None] | None,
        dtype: Any,
        minimum: Any,
        maximum: Any,
        name: str | None = None,
    ):
        super().__init__(shape, dtype, name)
        for key, value in (("minimum", minimum), ("maximum", maximum)):
            array = np.array(value, dtype=self.dtype)
            array.setflags(write=False)
            object.__setattr__(self, key, array)

    def _key(self) -> tuple[Any, ...]:
        bounds = (
            self.minimum.shape,
            self.minimum.tobytes(),
            self.maximum.shape,
            self.maximum.tobytes(),
        )
        return (*super()._key(), *bounds)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.shape, self.dtype, self.minimum, self.maximum, self.name)

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype}, minimum={self.minimum}, "
            f"maximum={self.maximum}, name={self.name!r})"
        )
