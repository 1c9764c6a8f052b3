"""What a server says about a load, and what ends its wait."""

import contextlib
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

_logger = logging.getLogger("reverb_tf")

# Seconds that a load may take before it says how far it is, and between two such lines.
_QUIET = 3.0
_BETWEEN = 5.0


class Terminated(SystemExit):
    """SIGTERM has come. Ends the process as the signal would have, with exit code 143."""

    def __init__(self) -> None:
        super().__init__(128 + signal.SIGTERM)


def load_progress() -> Callable[[int, int], None]:
    """Returns a function of bytes done and in all that prints a line to stderr now and then, if a load takes long."""
    due = time.monotonic() + _QUIET

    def progress(done: int, total: int) -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        due = time.monotonic() + _BETWEEN
        print(
            f"reverb_tf: loading a checkpoint: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB",
            file=sys.stderr,
            flush=True,
        )

    return progress


def report_restore(path: str, num_items: int, differences: list[str]) -> None:
    """Logs what was restored; one warning if settings differ."""
    if differences:
        _logger.warning(
            "Restored %d items from %s. Settings given in code hold where they differ from those of the checkpoint:%s",
            num_items,
            path,
            "".join(f"\n  {line}" for line in differences),
        )
    else:
        _logger.info("Restored %d items from %s.", num_items, path)


@contextlib.contextmanager
def sigterm_raises(wanted: bool) -> Iterator[None]:
    """Inside, SIGTERM raises Terminated, if that is wanted and this is the main thread: only that hears of signals."""
    if not wanted or threading.current_thread() is not threading.main_thread():
        yield
        return

    def handler(*unused: Any) -> None:
        raise Terminated

    previous = signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous or signal.SIG_DFL)
