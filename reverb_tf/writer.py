"""Writes steps whose arrays go together, and items over the newest of them."""

import logging
import os
from typing import Any

from reverb_tf import _arguments

# How long the end of a writer that an exception leaves, or that was forgotten, tries to send what is pending.
_FLUSH_ON_ERROR = 1.0


class Writer:
    """Writes steps to a server, and items (over the newest steps) to its tables.

    Use Client.writer() to create one. A writer is for one thread at a time. Every call that can wait takes a `timeout`
    in seconds (None: no limit); when it has run out, DeadlineExceededError says what was waited for.

    All arrays of a step are stored together, `chunk_length` steps in a chunk, and an item is sent when its last step is
    in a chunk. The call that sends waits until `max_in_flight_items` will not be exceeded.

    A `with` block closes at its end. When an exception leaves the block, what is pending is tried for a second, and the
    exception comes out unchanged.
    """

    def __init__(self, internal_writer: Any):
        """Wraps the native writer."""
        self._writer = internal_writer
        self._process = os.getpid()
        self._closed = False

    def __enter__(self) -> "Writer":
        if self._closed:
            raise ValueError("cannot enter a writer that is closed")
        return self

    def __exit__(self, exc_type: type[BaseException] | None, exc: Any, traceback: Any) -> None:
        if self._closed:
            return
        if exc_type is None:
            self.close()
        else:
            self._close_quietly(f"{exc_type.__name__} left the `with` block")

    def __del__(self) -> None:
        # A forked child has only a copy: what is pending is sent by its parent.
        if not getattr(self, "_closed", True) and self._process == os.getpid():
            self._close_quietly("the writer was dropped without close()")

    def __repr__(self) -> str:
        return f"{self._writer!r}, closed: {self._closed}"

    def append(self, data: Any, *, timeout: float | None = None) -> None:
        """Appends one step.

        Args:
          data: Nest of arrays (or what numpy makes arrays of), as many in every step.
          timeout: Seconds that this may wait because too many items are unconfirmed.

        Raises:
          ValueError: Another number of arrays than before, or a dtype or shape that differs from the steps in the same
            chunk. The step is dropped.
          TypeError: An array cannot be stored.
          DeadlineExceededError: The wait was too long. The step was not appended.
          CancelledError: The writer was closed.
          ReverbError: The stream to the server has failed for good.
        """
        self._writer.Append(data, timeout)

    def append_sequence(self, sequence: Any, *, timeout: float | None = None) -> None:
        """Appends T steps: row t of every array is step t. All or nothing.

        Args:
          sequence: Nest of arrays of shape [T, ...].
          timeout: As for append().

        Raises:
          ValueError: No arrays, a scalar, different T, or as for append().
          Others: As for append().
        """
        self._writer.AppendSequence(sequence, timeout)

    def create_item(
        self, table: str, num_timesteps: int, priority: float, *, timeout: float | None = None
    ) -> int:
        """Makes an item of the newest steps. Its arrays have shape [num_timesteps, ...].

        Args:
          table: Name of the table.
          num_timesteps: How many steps, 1 <= num_timesteps <= max_sequence_length of the writer.
          priority: Of the item.
          timeout: Seconds that this may wait because too many items are unconfirmed.

        Returns:
          The key of the item.

        Raises:
          ValueError: num_timesteps is not as said above or more than were appended, dtypes or shapes differ among the
            steps, the priority is NaN, the table is unknown, or its signature does not match.
          DeadlineExceededError: The wait was too long. The item was not made.
          CancelledError: The writer was closed.
          ReverbError: The stream to the server has failed for good.
        """
        return self._writer.CreateItem(table, num_timesteps, priority, timeout)

    def flush(self, *, timeout: float | None = None) -> None:
        """Sends all items, in a shorter chunk if need be, and waits until the server has confirmed them.

        Raises:
          DeadlineExceededError: Items were still unconfirmed after that time. They stay queued.
          CancelledError: The writer was closed.
          ReverbError: The stream to the server has failed for good.
        """
        self._writer.Flush(timeout)

    def close(self, retry_on_unavailable: bool = True, *, timeout: float | None = None) -> None:
        """Sends all items, waits until the server has confirmed them, and ends the writer.

        The writer is closed whatever happens; what is not confirmed then is given up.

        Args:
          retry_on_unavailable: False: items that wait for a server that is not available are given up at once.
          timeout: Seconds.

        Raises:
          ValueError: The writer is closed already.
          ReverbError: Items were not confirmed; the text says how many, and why. DeadlineExceededError after the
            timeout, UnavailableError if the server could not be reached.
        """
        if self._closed:
            raise ValueError("the writer is closed already")
        self._closed = True
        self._writer.Close(bool(retry_on_unavailable), timeout)

    def _close_quietly(self, why: str) -> None:
        try:
            self.close(timeout=_FLUSH_ON_ERROR)
        except Exception as e:
            logging.getLogger("reverb_tf").warning("Items may be lost, as %s: %s", why, e)


def open_writer(
    client: Any,
    max_sequence_length: int,
    delta_encoded: bool,
    chunk_length: int | None,
    max_in_flight_items: int | None,
    timeout: float | None,
) -> Writer:
    """Creates a writer of a native client. Arguments and errors as of Client.writer()."""
    most = _arguments.count(max_sequence_length, "max_sequence_length")
    length = (
        min(10, most) if chunk_length is None else _arguments.count(chunk_length, "chunk_length")
    )
    if length > most:
        raise ValueError(f"chunk_length must be <= max_sequence_length ({most}), got {length}")
    in_flight = 1_000_000
    if max_in_flight_items is not None:
        in_flight = _arguments.count(max_in_flight_items, "max_in_flight_items")
    return Writer(client.NewWriter(length, most, bool(delta_encoded), in_flight, timeout))
