"""What the writers share."""

import logging
import operator
from collections.abc import Callable
from typing import Any

from reverb_tf import errors

# How long the end of a `with` block tries to send what is pending when an exception leaves it.
_FLUSH_ON_ERROR_MS = 1000


def flush_at_exit(flush: Callable[..., Any], exc_type: type[BaseException] | None) -> None:
    """Does what a writer does at the end of a `with` block that `exc_type` leaves (None: no exception)."""
    if exc_type is None:
        flush()
    elif not issubclass(exc_type, errors.ReverbError) or issubclass(
        exc_type, errors.InvalidArgumentError
    ):
        # What was created before the exception should arrive, but the exception must come out soon and unchanged.
        try:
            flush(timeout_ms=_FLUSH_ON_ERROR_MS)
        except Exception as e:
            logging.getLogger("reverb_tf").warning(
                "Items may be lost, as flushing failed while %s left the `with` block: %s",
                exc_type.__name__,
                e,
            )


def check_timeouts(timeout_ms: int | None, timeout: float | None) -> None:
    """Raises ValueError if both timeouts are given or one is negative."""
    if timeout_ms is not None and timeout is not None:
        raise ValueError("only one of timeout_ms and timeout can be given")
    if timeout_ms is not None and operator.index(timeout_ms) < 0:
        raise ValueError(f"timeout_ms must be >= 0 or None, got {timeout_ms}")
    if timeout is not None and not timeout >= 0:
        raise ValueError(f"timeout must be >= 0 or None, got {timeout}")
