"""Rate limiters: when items may be inserted and sampled.

With I inserts, S samples and D deletions so far, `n` samples are allowed if `I - D >= min_size_to_sample` and
`I * samples_per_insert - S - n >= min_diff`, and `n` inserts if `I + n - D <= min_size_to_sample` or
`(I + n) * samples_per_insert - S <= max_diff`.
"""

import abc
import math
import numbers
import sys

from reverb_tf import _arguments


class InternalRateLimiter:
    """The four numbers of a limiter, checked. Immutable."""

    __slots__ = ("samples_per_insert", "min_size_to_sample", "min_diff", "max_diff")

    samples_per_insert: float
    min_size_to_sample: int
    min_diff: float
    max_diff: float

    def __init__(
        self, samples_per_insert: float, min_size_to_sample: int, min_diff: float, max_diff: float
    ):
        values = (
            _arguments.real(samples_per_insert, "samples_per_insert"),
            _arguments.real(min_diff, "min_diff"),
            _arguments.real(max_diff, "max_diff"),
        )
        if not (values[0] > 0 and math.isfinite(values[0])):
            raise ValueError(
                f"samples_per_insert must be > 0 and finite, got {samples_per_insert!r}"
            )
        min_size = _arguments.count(min_size_to_sample, "min_size_to_sample")
        if math.isnan(values[1]) or math.isnan(values[2]):
            raise ValueError(
                f"min_diff and max_diff must be numbers, got {min_diff!r} and {max_diff!r}"
            )
        for name, value in zip(
            self.__slots__, (values[0], min_size, values[1], values[2]), strict=True
        ):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("the numbers of a rate limiter cannot be changed")

    def __repr__(self) -> str:
        return (
            f"RateLimiter(samples_per_insert={self.samples_per_insert:g}, "
            f"min_size_to_sample={self.min_size_to_sample}, min_diff={self.min_diff:g}, max_diff={self.max_diff:g})"
        )


class RateLimiter(metaclass=abc.ABCMeta):  # noqa: B024 (may be created, as in dm-reverb)
    """A limiter given by its four numbers.

    One limiter may be given to several tables: each counts for itself.
    """

    def __init__(
        self, samples_per_insert: float, min_size_to_sample: int, min_diff: float, max_diff: float
    ):
        """Creates a limiter.

        Args:
          samples_per_insert: > 0, how many samples an insert is worth.
          min_size_to_sample: >= 1, items without which nothing is sampled.
          min_diff: How far samples may run ahead of inserts * samples_per_insert.
          max_diff: How far they may fall behind.

        Raises:
          ValueError, TypeError: A number is not as said above.
        """
        self._samples_per_insert = samples_per_insert
        self._min_size_to_sample = min_size_to_sample
        self._min_diff = min_diff
        self._max_diff = max_diff
        self.internal_limiter = InternalRateLimiter(
            samples_per_insert, min_size_to_sample, min_diff, max_diff
        )

    def __repr__(self) -> str:
        return repr(self.internal_limiter)


def internal_limiter(rate_limiter: RateLimiter) -> InternalRateLimiter:
    """The numbers of a limiter; TypeError for anything else."""
    if not isinstance(rate_limiter, RateLimiter):
        raise TypeError(
            f"rate_limiter must be one of reverb_tf.rate_limiters, got {rate_limiter!r}"
        )
    return rate_limiter.internal_limiter


class MinSize(RateLimiter):
    """Blocks sampling until the table has `min_size_to_sample` items; never blocks inserts."""

    def __init__(self, min_size_to_sample: int):
        """ValueError if `min_size_to_sample` < 1, TypeError if it is no int."""
        if min_size_to_sample < 1:
            raise ValueError(f"min_size_to_sample must be >= 1, got {min_size_to_sample}")
        super().__init__(1.0, min_size_to_sample, -sys.float_info.max, sys.float_info.max)


class SampleToInsertRatio(RateLimiter):
    """Keeps the average number of samples for each inserted item near `samples_per_insert`."""

    def __init__(
        self,
        samples_per_insert: float,
        min_size_to_sample: int,
        error_buffer: float | tuple[float, float],
    ):
        """Creates a limiter.

        Args:
          samples_per_insert: > 0, the ratio to keep.
          min_size_to_sample: >= 1, items without which nothing is sampled.
          error_buffer: How far inserts * samples_per_insert - samples may be from min_size_to_sample *
            samples_per_insert in either direction, or the lowest and the highest value it may have. At least
            2 * max(1, samples_per_insert) must lie between the lowest and the highest, or both sides would block.

        Raises:
          ValueError: A number is not as said above.
        """
        if isinstance(error_buffer, numbers.Real):
            offset = samples_per_insert * min_size_to_sample
            min_diff, max_diff = offset - error_buffer, offset + error_buffer
        else:
            min_diff, max_diff = error_buffer
        _check_ratio(samples_per_insert, min_size_to_sample, min_diff, max_diff)
        super().__init__(samples_per_insert, min_size_to_sample, min_diff, max_diff)


def _check_ratio(
    samples_per_insert: float, min_size_to_sample: int, min_diff: float, max_diff: float
) -> None:
    if samples_per_insert <= 0:
        raise ValueError(f"samples_per_insert must be > 0, got {samples_per_insert}")
    if max_diff - min_diff < 2 * max(1.0, samples_per_insert):
        raise ValueError(
            "error_buffer is too small: both inserts and samples could block. At least "
            f"{2 * max(1.0, samples_per_insert):g} must lie between min_diff and max_diff, got {min_diff:g} and "
            f"{max_diff:g}"
        )
    offset = samples_per_insert * min_size_to_sample
    if max_diff < offset:
        from absl import logging

        logging.warning(
            "max_diff (%g) is below samples_per_insert * min_size_to_sample (%g): the table is full before it may be "
            "sampled, and only the rule for small tables lets inserts through.",
            max_diff,
            offset,
        )
    if min_diff > offset:
        raise ValueError(
            f"min_diff ({min_diff:g}) is above samples_per_insert * min_size_to_sample ({offset:g}): sampling would "
            "stay blocked with min_size_to_sample items"
        )
    if min_size_to_sample < 1:
        raise ValueError(f"min_size_to_sample must be >= 1, got {min_size_to_sample}")


class Queue(RateLimiter):
    """For tables that are a queue of `size` items, each sampled once."""

    def __init__(self, size: int):
        super().__init__(samples_per_insert=1.0, min_size_to_sample=1, min_diff=0.0, max_diff=size)


class Stack(RateLimiter):
    """For tables that are a stack of `size` items, each sampled once."""

    def __init__(self, size: int):
        super().__init__(samples_per_insert=1.0, min_size_to_sample=1, min_diff=0.0, max_diff=size)
