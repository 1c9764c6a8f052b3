import sys

import numpy as np
import pytest

from reverb_tf import rate_limiters


def numbers(limiter):
    internal = limiter.internal_limiter
    return (
        internal.samples_per_insert,
        internal.min_size_to_sample,
        internal.min_diff,
        internal.max_diff,
    )


def test_min_size():
    limiter = rate_limiters.MinSize(7)
    assert numbers(limiter) == (1.0, 7, -sys.float_info.max, sys.float_info.max)
    assert isinstance(limiter, rate_limiters.RateLimiter)


@pytest.mark.parametrize("size", [0, -1])
def test_min_size_must_be_positive(size):
    with pytest.raises(ValueError):
        rate_limiters.MinSize(size)


def test_min_size_must_be_an_int():
    with pytest.raises(TypeError):
        rate_limiters.MinSize(2.5)


@pytest.mark.parametrize("cls", [rate_limiters.Queue, rate_limiters.Stack])
def test_queue_and_stack(cls):
    assert numbers(cls(5)) == (1.0, 1, 0.0, 5.0)


@pytest.mark.parametrize(
    "buffer, expected",
    [
        (3, (1.0, 7.0)),
        (3.5, (0.5, 7.5)),
        (np.float64(4), (0.0, 8.0)),
        (np.float32(4), (0.0, 8.0)),
        ((2.0, 6.5), (2.0, 6.5)),
    ],
)
def test_sample_to_insert_ratio(buffer, expected):
    limiter = rate_limiters.SampleToInsertRatio(2.0, 2, buffer)
    assert numbers(limiter) == (2.0, 2, *expected)


@pytest.mark.parametrize(
    "ratio, min_size, buffer",
    [
        (0, 1, 2.0),  # no samples for an insert
        (-1, 1, 2.0),
        (1, 0, 2.0),  # nothing to sample
        (1, -1, 2.0),
        (1, 10, (9.0, 10.5)),  # both sides would block
        (5, 1, 2.0),
        (0.1, 1, 0.9),
        (1, 10, (11.0, 20.0)),  # blocked although the table has its minimum
        (2, 1, (10, 5)),
    ],
)
def test_sample_to_insert_ratio_refuses(ratio, min_size, buffer):
    with pytest.raises(ValueError):
        rate_limiters.SampleToInsertRatio(ratio, min_size, buffer)


def test_the_error_buffer_may_be_as_small_as_two_inserts():
    rate_limiters.SampleToInsertRatio(1, 10, (9.0, 11.0))
    rate_limiters.SampleToInsertRatio(5, 1, 5.0)


@pytest.mark.parametrize(
    "arguments",
    [
        (0.0, 1, 0, 1),
        (-1.0, 1, 0, 1),
        (float("nan"), 1, 0, 1),
        (1.0, 0, 0, 1),
        (1.0, 1, float("nan"), 1),
    ],
)
def test_base_class_refuses_what_cannot_work(arguments):
    with pytest.raises(ValueError):
        rate_limiters.RateLimiter(*arguments)


@pytest.mark.parametrize("arguments", [("1", 1, 0, 1), (1.0, 1.5, 0, 1), (1.0, 1, None, 1)])
def test_base_class_refuses_other_types(arguments):
    with pytest.raises(TypeError):
        rate_limiters.RateLimiter(*arguments)


def test_repr_has_the_four_numbers():
    text = repr(
        rate_limiters.RateLimiter(
            samples_per_insert=1.5, min_size_to_sample=2, min_diff=-3, max_diff=4
        )
    )
    for number in ("1.5", "2", "-3", "4"):
        assert number in text
