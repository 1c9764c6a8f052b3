"""A writer that only records its calls, for tests of what TrajectoryWriter does itself."""

import numpy as np


class FakeRef:
    """What a native writer hands out for a value."""

    def __init__(self, value):
        self._value = np.asarray(value)
        self.expired = False

    shape = property(lambda self: self._value.shape)
    dtype = property(lambda self: self._value.dtype)

    def numpy(self):
        return self._value


def references(values):
    """What a native writer answers to Append(values)."""
    return [None if value is None else FakeRef(value) for value in values]


def values(refs):
    """What the references of a history or a column refer to."""
    return [None if ref is None else ref.numpy().tolist() for ref in refs]
