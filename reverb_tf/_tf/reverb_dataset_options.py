"""What ReverbDataset checks in its options, and how it hands them to its op."""

import datetime
import math
from collections.abc import Sequence
from typing import Any

from reverb_tf._tf.tf_import import import_tensorflow

tf = import_tensorflow("reverb_tf.ReverbDataset")

VARYING = ("error", "pad", "ragged")
NORMALIZATIONS = ("batch", "table")


def check_integer(name: str, value: Any, least: int, none: bool = True) -> None:
    if value is None and none:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        suffix = " or None" if none else ""
        raise ValueError(f"{name} must be an integer >= {least}{suffix}, got {value!r}")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def check_batch_options(batch_size: Any, **options: Any) -> None:
    """Raises ValueError for an option that was given and means nothing without a batch."""
    for name, (value, without) in options.items():
        if batch_size is None and value != without:
            raise ValueError(f"{name}={value!r} needs a batch_size")


def staleness(max_staleness: Any) -> dict[str, int]:
    """The attributes of the op for a bound in samples or seconds.

    Raises:
      ValueError: it is negative, no time at all, or neither an int, a float nor a timedelta.
    """
    if max_staleness is None:
        return {}
    if isinstance(max_staleness, datetime.timedelta):
        max_staleness = max_staleness.total_seconds()
    if isinstance(max_staleness, int) and not isinstance(max_staleness, bool):
        if max_staleness >= 0:
            return {"max_staleness_samples": max_staleness}
    elif isinstance(max_staleness, float) and 0 < max_staleness < math.inf:
        return {"max_staleness_us": max(1, round(max_staleness * 1e6))}
    raise ValueError(
        "max_staleness must be a number of samples (int >= 0), seconds (finite float or timedelta > 0) or None, "
        f"got {max_staleness!r}"
    )


def beta(weights: Any) -> Any:
    """The exponent as the op takes it: a float64 scalar or the handle of a variable.

    Raises:
      ValueError: it is negative, not finite, or not a scalar of float32 or float64.
    """
    if isinstance(weights, tf.Variable):
        if weights.dtype not in (tf.float32, tf.float64) or weights.shape.rank != 0:
            raise ValueError(
                "A variable that is given as weights must be a scalar of float32 or float64, "
                f"got {weights.dtype.name} {weights.shape}"
            )
        return weights.handle
    if not tf.is_tensor(weights):
        if isinstance(weights, bool) or not isinstance(weights, int | float):
            raise ValueError(f"weights must be a number, a scalar tensor or None, got {weights!r}")
        if not 0 <= weights < math.inf:
            raise ValueError(f"weights, the exponent, must be finite and >= 0, got {weights!r}")
    beta = tf.cast(weights, tf.float64)
    if beta.shape.rank not in (0, None):
        raise ValueError(f"weights must be a scalar, got shape {beta.shape}")
    return beta
