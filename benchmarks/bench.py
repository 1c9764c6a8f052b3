"""What a case of the benchmarks works with, and what it finds."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple


class Figure(NamedTuple):
    """What a round of a case found."""

    value: float  # In the unit of the row.
    count: int  # Items or calls in the round.


@dataclasses.dataclass(frozen=True)
class Bench:
    """What a case works with."""

    reverb: ModuleType
    address: str
    seconds: float  # How long a round lasts, at least.

    def client(self):
        """A new client of the server under test."""
        return self.reverb.Client(self.address)

    def rate(self, work: Callable[[], int], finish: Callable[[], object] | None = None) -> Figure:
        """Items a second of `work`, which is called until the time is up and returns its count.

        `finish` is called once at the end, on the clock.
        """
        start = time.perf_counter()
        count = 0
        while time.perf_counter() - start < self.seconds:
            count += work()
        if finish is not None:
            finish()
        return Figure(count / (time.perf_counter() - start), count)
