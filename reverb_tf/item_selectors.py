"""Selectors: which item is sampled, or removed when the table is full."""

import functools
from typing import Any

from reverb_tf import _arguments


class ItemSelector:
    """Base class. Selectors are descriptions; one may be given to any number of tables.

    Attributes:
      kind: Name that the native table knows the selector by.
      priority_exponent: Of Prioritized; 1.0 for the others, which do not use it.
    """

    kind = ""
    priority_exponent = 1.0

    def __repr__(self) -> str:
        return type(self).__name__


class FifoSelector(ItemSelector):
    """Picks the item that was inserted first."""

    kind = "fifo"


class LifoSelector(ItemSelector):
    """Picks the item that was inserted last."""

    kind = "lifo"


class UniformSelector(ItemSelector):
    """Picks any item with the same probability."""

    kind = "uniform"


class PrioritizedSelector(ItemSelector):
    """Picks an item with a probability proportional to priority ** priority_exponent.

    Priorities must be finite and >= 0. Items of priority 0 are picked only when all others have priority 0 too.
    """

    kind = "prioritized"

    def __init__(self, priority_exponent: float):
        self.priority_exponent = _arguments.real(priority_exponent, "priority_exponent")

    def __repr__(self) -> str:
        return f"PrioritizedSelector(priority_exponent={self.priority_exponent:g})"


class HeapSelector(ItemSelector):
    """Picks the item of the lowest (`min_heap`) or highest priority; among equals the one that was set first."""

    def __init__(self, min_heap: bool = True):
        if not isinstance(min_heap, bool):
            raise TypeError(f"min_heap must be a bool, got {min_heap!r}")
        self.kind = "min_heap" if min_heap else "max_heap"

    def __repr__(self) -> str:
        return f"HeapSelector(sign={1 if self.kind == 'min_heap' else -1})"


Fifo = FifoSelector
Lifo = LifoSelector
Uniform = UniformSelector
Prioritized = PrioritizedSelector
MinHeap = functools.partial(HeapSelector, True)
MaxHeap = functools.partial(HeapSelector, False)


def selector_from_options(options: Any) -> ItemSelector:
    """Returns the selector that a KeyDistributionOptions message describes; ValueError if it describes none."""
    kind = options.WhichOneof("distribution")
    if kind == "prioritized":
        return PrioritizedSelector(options.prioritized.priority_exponent)
    if kind == "heap":
        return HeapSelector(options.heap.min_heap)
    classes = {"fifo": FifoSelector, "lifo": LifoSelector, "uniform": UniformSelector}
    if kind not in classes or not getattr(options, kind):
        raise ValueError(f"The options describe no selector that is known here: {options}")
    return classes[kind]()
