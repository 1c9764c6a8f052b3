"""Slices of what a writer in a graph has written."""

import dataclasses
from typing import Any

from reverb_tf import _arguments
from reverb_tf._tf.tf_import import import_tensorflow

tf = import_tensorflow("reverb_tf.TFTrajectoryWriter")

_END = tf.int64.max


@dataclasses.dataclass(frozen=True, eq=False)
class TFTrajectoryColumn:
    """Steps of one column, chosen by `TFTrajectoryWriter.history`."""

    handle: Any  # of the writer
    number: int  # of the column
    path: str
    start: Any  # an int or a scalar tensor
    stop: Any
    squeeze: bool


class TFColumnHistory:
    """The steps of one column since the episode began, of which items are made.

    `history[i]` is one step, without a leading axis; `history[a:b]` are consecutive ones. Numbers are ints or scalar
    integer tensors; negative ones count from the end of the episode, which may be another one in each environment.
    """

    def __init__(self, handle: Any, number: int, path: str):
        # Not the writer itself: it should go when its user drops it.
        self._handle = handle
        self._number = number
        self._path = path

    def __getitem__(self, index: Any) -> TFTrajectoryColumn:
        """The steps that `index` chooses.

        Raises:
          TypeError: it is no int, integer tensor or slice of those.
          ValueError: a slice has a step other than 1 or has no steps, or a tensor is no scalar.
        """
        if not isinstance(index, slice):
            return self._column(self._position(index), 0, squeeze=True)
        if index.step is not None and index.step != 1:
            raise ValueError(
                f"A slice of column {self._path} must have step 1, got {index.step!r}."
            )
        start = 0 if index.start is None else self._position(index.start)
        stop = _END if index.stop is None else self._position(index.stop)
        if isinstance(start, int) and isinstance(stop, int):
            if (start < 0) == (stop < 0) and stop <= start:
                raise ValueError(f"[{start}:{stop}] of column {self._path} has no steps.")
        return self._column(start, stop, squeeze=False)

    def _column(self, start: Any, stop: Any, squeeze: bool) -> TFTrajectoryColumn:
        return TFTrajectoryColumn(self._handle, self._number, self._path, start, stop, squeeze)

    def _position(self, value: Any) -> Any:
        if not tf.is_tensor(value):
            return _arguments.int32(value, f"An index of column {self._path}")
        if not value.dtype.is_integer:
            raise TypeError(
                f"An index of column {self._path} must be an integer, got {value.dtype.name}."
            )
        if not value.shape.is_compatible_with([]):
            raise ValueError(
                f"An index of column {self._path} must be a scalar, got shape {value.shape}."
            )
        return value
