"""Arguments of calls, converted or refused with what was given."""

import numbers
import operator
from collections.abc import Mapping
from typing import Any


def int32(value: Any, name: str) -> int:
    """An int of 32 bits; TypeError for anything else."""
    number = _index(value, name)
    if not -(2**31) <= number < 2**31:
        raise TypeError(f"{name} must be a 32-bit int, got {value!r}")
    return number


def count(value: Any, name: str) -> int:
    """An int from 1 to 2**63 - 1; TypeError for what is no int, ValueError for others."""
    number = _index(value, name)
    if not 1 <= number < 2**63:
        raise ValueError(f"{name} must be >= 1, got {value!r}")
    return number


def real(value: Any, name: str) -> float:
    """A float, of any type of real number; TypeError for anything else."""
    if not isinstance(value, numbers.Real) and not hasattr(value, "__float__"):
        raise TypeError(f"{name} must be a float, got {value!r}")
    return float(value)


def mapping(value: Any, name: str) -> None:
    """Checks that `value` is a dict or the like; TypeError if not."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a dict, got {value!r}")


def _index(value: Any, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, got {value!r}") from None
