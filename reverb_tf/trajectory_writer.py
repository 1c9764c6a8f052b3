"""Writes steps, and items made of them."""

import datetime
import math
import operator
from typing import Any

from reverb_tf import _arguments, _writing, chunker_options, errors
from reverb_tf._native import _reverb

TrajectoryColumn = _reverb.TrajectoryColumn
_ColumnHistory = _reverb.ColumnHistory


class TrajectoryWriter:
    """Writes steps to a server, and items (trajectories over those steps) to its tables.

    Use Client.trajectory_writer() to create one. A writer is for one thread at a time; only close() may be called at
    any time.

    A `with` block flushes at its end, and does not close. close() and the destructor do not flush: items that were not
    confirmed are dropped.
    """

    def __init__(self, internal_writer: Any):
        """Wraps the native writer, or any object with its methods."""
        self._writer = internal_writer
        self._core = _reverb.WriterCore(internal_writer)
        self._is_native = isinstance(internal_writer, _reverb.TrajectoryWriter)

    def __enter__(self) -> "TrajectoryWriter":
        return self

    def __exit__(self, exc_type: type[BaseException] | None, exc: Any, traceback: Any) -> None:
        _writing.flush_at_exit(self.flush, exc_type)

    def __del__(self) -> None:
        if hasattr(self, "_is_native"):
            self.close()

    @property
    def history(self) -> Any:
        """The nest of everything appended so far, with the history of a column at each leaf.

        `history[...][i]`, `[a:b]` and `[[i, j]]` are the columns that create_item() takes. An int picks one step and
        leaves out the leading axis. Steps count from the start of the episode, whether they are still kept or not;
        choosing one that is not (or that was absent) raises ValueError.

        Raises:
          RuntimeError: Nothing was appended yet.
        """
        return self._core.history()

    @property
    def episode_steps(self) -> int:
        """Steps appended (without partial ones) since the episode began."""
        return self._writer.episode_steps

    def append(self, data: Any, *, partial_step: bool = False) -> None:
        """Appends one step.

        Args:
          data: Nest of arrays (or what numpy makes arrays of). Fields may be left out or be None, and new ones may
            come; the dtype and shape of a field must not change.
          partial_step: The next append adds fields to this step, which must not be set yet, instead of starting
            another.

        Raises:
          ValueError: A dtype or shape changed, or a field is set twice in a step.
          TypeError: A leaf cannot be stored, or a container changed its kind.
          KeyError: A field became a container, or the other way round.
          CancelledError: The writer was closed.
          ReverbError: The stream to the server has failed for good.
        """
        try:
            self._core.append(data, bool(partial_step))
        except ValueError as e:
            raise self._with_path(e) from None

    def append_sequence(self, data: Any) -> None:
        """Appends T steps in one call: row t of every array is step t. All or nothing.

        Steps that are kept are stored together: in chunks of max_chunk_length where configure() has set it, else of
        num_keep_alive_refs, but not of more than 64 KiB (unless a single step is larger).

        Args:
          data: Nest of arrays of shape [T, ...], otherwise as for append().

        Raises:
          ValueError: No arrays, a scalar, different T, or as for append().
          FailedPreconditionError: The step is open (after append with partial_step).
          Others: As for append().
        """
        try:
            self._core.append_sequence(data)
        except ValueError as e:
            raise self._with_path(e) from None

    def append_batch(
        self,
        data: Any,
        table: str | None = None,
        priorities: Any = None,
        *,
        timeout: float | None = None,
    ) -> list[int]:
        """Appends T steps in one call and, if a table is given, makes an item of each. All or nothing.

        This is the fast way to add many transitions. The steps are in chunks of their own, which hold all of them as
        far as max_chunk_length (where configure() has set it) and 64 KiB a chunk allow, however many steps are kept; so
        one item that outlives the others keeps that much. Without a table this is append_sequence().

        Args:
          data: Nest of arrays of shape [T, ...], otherwise as for append().
          table: Name of the table that gets an item of each step. The arrays of an item have a leading axis of 1,
            unless the table's signature (with validation) has the shapes of the step itself.
          priorities: Of the items: a number, or T numbers.
          timeout: Seconds that this may wait because too much is unconfirmed; None: no limit.

        Returns:
          The keys of the items, in the order of the steps; [] without a table.

        Raises:
          ValueError: As for append_sequence() and create_item(), or priorities are missing or not T.
          TypeError: priorities are no numbers, or as for append().
          DeadlineExceededError: The wait was too long. Nothing was appended.
          Others: As for append_sequence() and create_item().
        """
        if table is None:
            if priorities is not None:
                raise ValueError("priorities were given without a table")
            self.append_sequence(data)
            return []
        if priorities is None:
            raise ValueError(f"the items for table {table!r} need priorities")
        try:
            return self._core.append_batch(data, table, priorities, timeout)
        except ValueError as e:
            raise self._with_path(e) from None

    def create_item(
        self, table: str, priority: float, trajectory: Any, *, timeout: float | None = None
    ) -> int:
        """Queues an item. It is sent when the data it refers to is complete, or by flush().

        Args:
          table: Name of the table.
          priority: Of the item.
          trajectory: Nest of TrajectoryColumns: slices of `history`.
          timeout: Seconds that this may wait because too much is unconfirmed; None: no limit.

        Returns:
          The key of the item.

        Raises:
          TypeError: A leaf of `trajectory` is no TrajectoryColumn.
          ValueError: The trajectory or a column is empty, a step is not kept any more, dtypes or shapes are mixed, the
            priority is NaN, or (with validation) the table is unknown or its signature does not match.
          CancelledError: The writer was closed.
          ReverbError: The stream to the server has failed for good.
        """
        return self._core.create_item(table, priority, trajectory, timeout)

    def flush(
        self,
        block_until_num_items: int = 0,
        timeout_ms: int | None = None,
        *,
        timeout: float | None = None,
    ) -> None:
        """Sends everything and waits for confirmations.

        Args:
          block_until_num_items: >= 0, how many items may still be unconfirmed when this returns.
          timeout_ms: Milliseconds; None or 0: no limit.
          timeout: Seconds, instead of `timeout_ms`; here 0 means not to wait at all.

        Raises:
          ValueError: An argument is negative.
          DeadlineExceededError: More items were still unconfirmed after that time. They stay queued.
        """
        block_until_num_items = operator.index(block_until_num_items)
        if block_until_num_items < 0:
            raise ValueError(f"block_until_num_items must be >= 0, got {block_until_num_items}")
        _writing.check_timeouts(timeout_ms, timeout)
        if timeout is not None and self._is_native:
            self._writer.flush_within(block_until_num_items, timeout)
            return
        if timeout is not None:
            timeout_ms = max(1, math.ceil(timeout * 1000))
        try:
            self._writer.Flush(block_until_num_items, -1 if timeout_ms is None else timeout_ms)
        except RuntimeError as e:
            raise _as_timeout(e, "flush", timeout_ms) from None

    def end_episode(
        self,
        clear_buffers: bool = True,
        timeout_ms: int | None = None,
        *,
        timeout: float | None = None,
    ) -> None:
        """Flushes, then begins a new episode. A step that is still open is closed as it is.

        Args:
          clear_buffers: Also empty the histories; else items may still refer to steps of this episode.
          timeout_ms: Milliseconds; None: no limit.
          timeout: Seconds, instead of `timeout_ms`.

        Raises:
          ValueError: An argument is negative.
          DeadlineExceededError: Items were still unconfirmed after that time. The episode goes on.
        """
        _writing.check_timeouts(timeout_ms, timeout)
        clear_buffers = bool(clear_buffers)
        if timeout is not None and self._is_native:
            self._writer.end_episode_within(clear_buffers, timeout)
        else:
            if timeout is not None:
                timeout_ms = math.ceil(timeout * 1000)
            try:
                self._writer.EndEpisode(clear_buffers, timeout_ms)
            except RuntimeError as e:
                raise _as_timeout(e, "end_episode", timeout_ms) from None
        self._core.episode_ended(clear_buffers)

    def close(self) -> None:
        """Ends the stream without flushing; later calls raise CancelledError. May be called again."""
        self._writer.Close()

    def configure(
        self, path: tuple[str | int, ...], *, num_keep_alive_refs: int, max_chunk_length: int | None
    ) -> None:
        """Sets how a column is kept and grouped, now or when it first appears.

        Args:
          path: Keys and positions that lead to the column, for example ("observation", 0).
          num_keep_alive_refs: >= 1, how many of its newest steps an item can refer to.
          max_chunk_length: Steps stored together, 1 <= max_chunk_length <= num_keep_alive_refs; None: found while
            writing.

        Raises:
          ValueError: A number is not as said above.
          TypeError: The path is no sequence of keys and positions, or a number no int.
          FailedPreconditionError: The column has steps that are not in a chunk yet.
        """
        if isinstance(path, str | bytes):
            raise TypeError(f"path must be a tuple of keys and positions, got {path!r}")
        num_keep_alive_refs = _arguments.count(num_keep_alive_refs, "num_keep_alive_refs")
        options: chunker_options.AutoTunedChunkerOptions | chunker_options.ConstantChunkerOptions
        if max_chunk_length is None:
            options = chunker_options.AutoTunedChunkerOptions(
                num_keep_alive_refs=num_keep_alive_refs, throughput_weight=1.0
            )
        elif not 1 <= max_chunk_length <= num_keep_alive_refs:
            raise ValueError(
                f"max_chunk_length must be >= 1 and <= num_keep_alive_refs ({num_keep_alive_refs}), got "
                f"{max_chunk_length}"
            )
        else:
            options = chunker_options.ConstantChunkerOptions(
                max_chunk_length=max_chunk_length, num_keep_alive_refs=num_keep_alive_refs
            )
        self._core.configure(tuple(path), options)

    def _with_path(self, error: ValueError) -> ValueError:
        """The error with `for column 3` replaced by the path of column 3."""
        before, found, after = str(error).partition(" for column ")
        digits = after[: len(after) - len(after.lstrip("0123456789"))]
        paths = self._core.paths()
        if not found or not digits or " for column " in after or int(digits) >= len(paths):
            return error
        return type(error)(f"{before} for column {paths[int(digits)]}{after[len(digits) :]}")


def _as_timeout(error: RuntimeError, call: str, timeout_ms: int | None) -> Exception:
    """A DeadlineExceededError for other writers' errors that say so in their text."""
    if isinstance(error, errors.ReverbError) or "Timeout exceeded" not in str(error):
        return error
    limit = datetime.timedelta(milliseconds=timeout_ms or 0)
    return errors.DeadlineExceededError(f"{call} did not complete within {limit}: {error}")
