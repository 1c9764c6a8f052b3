"""Tables and the server that holds them."""

import abc
import collections
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from reverb_tf import (
    _arguments,
    _checkpointing,
    client,
    errors,
    item_selectors,
    rate_limiters,
    reverb_types,
)
from reverb_tf._native import _reverb
from reverb_tf.platform.default import checkpointers

if TYPE_CHECKING:
    from reverb_tf.platform import checkpointers_lib


class TableExtensionBase(metaclass=abc.ABCMeta):
    """Base class of table extensions. This release has no native extension that one could build."""

    @abc.abstractmethod
    def build_internal_extensions(self, table_name: str) -> Sequence[Any]:
        """Returns the native extensions for the table of that name."""


class Table:
    """A table of items: trajectories with a key and a priority.

    Thread-safe. `info`, `can_sample` and `can_insert` work with and without a server.
    """

    def __init__(
        self,
        name: str,
        sampler: reverb_types.SelectorType,
        remover: reverb_types.SelectorType,
        max_size: int,
        rate_limiter: rate_limiters.RateLimiter,
        max_times_sampled: int = 0,
        extensions: Sequence[TableExtensionBase] = (),
        signature: reverb_types.SpecNest | None = None,
        *,
        seed: int | None = None,
    ):
        """Creates an empty table.

        Args:
          name: Not empty; distinct within a server.
          sampler: Which item is sampled.
          remover: Which item is removed when the table has more than `max_size`.
          max_size: >= 1, items.
          rate_limiter: When items may be inserted and sampled.
          max_times_sampled: An item is removed after so many samples; < 1: never.
          extensions: Objects whose native extensions the table gets.
          signature: Nest of TensorSpecs that items must match (either a single step or with a leading time axis);
            None: anything may be inserted.
          seed: From 0 to 2**64 - 1; makes the choices of Uniform and Prioritized repeatable: the same calls in the same
            order pick the same items. None: the system seeds them.

        Raises:
          ValueError: The name is empty, max_size < 1, or the signature has leaves that are no specs.
          TypeError: An argument is of another type than said above.
        """
        if not name:
            raise ValueError("The name of a table must not be empty")
        max_size = _arguments.int32(max_size, "max_size")
        if max_size <= 0:
            raise ValueError(f"max_size must be >= 1, got {max_size}")
        for role, selector in (("sampler", sampler), ("remover", remover)):
            if not isinstance(selector, item_selectors.ItemSelector):
                raise TypeError(f"{role} must be one of reverb_tf.selectors, got {selector!r}")
        limiter = rate_limiters.internal_limiter(rate_limiter)
        self._sampler = sampler
        self._remover = remover
        self._rate_limiter = rate_limiter
        self._extensions = extensions
        self._signature = signature
        self._seed = seed
        for extension in extensions:
            if not hasattr(extension, "build_internal_extensions"):
                raise TypeError(f"extensions must hold TableExtensionBases, got {extension!r}")
            if extension.build_internal_extensions(name):
                raise TypeError(f"{extension!r} builds extensions that this release does not know")
        self.internal_table = _reverb.Table(
            name=name,
            sampler=sampler,
            remover=remover,
            max_size=max_size,
            max_times_sampled=_arguments.int32(max_times_sampled, "max_times_sampled"),
            rate_limiter=limiter,
            signature=_encode_signature(signature),
            seed=seed,
        )

    @classmethod
    def queue(
        cls,
        name: str,
        max_size: int,
        extensions: Sequence[TableExtensionBase] = (),
        signature: reverb_types.SpecNest | None = None,
    ) -> "Table":
        """A queue of `max_size` items: the oldest is sampled first, and once; inserts wait while it is full."""
        limiter = rate_limiters.Queue(max_size)
        return cls._sampled_once(
            name, item_selectors.Fifo, max_size, limiter, extensions, signature
        )

    @classmethod
    def stack(
        cls,
        name: str,
        max_size: int,
        extensions: Sequence[TableExtensionBase] = (),
        signature: reverb_types.SpecNest | None = None,
    ) -> "Table":
        """A stack of `max_size` items: the newest is sampled first, and once; inserts wait while it is full."""
        limiter = rate_limiters.Stack(max_size)
        return cls._sampled_once(
            name, item_selectors.Lifo, max_size, limiter, extensions, signature
        )

    @classmethod
    def _sampled_once(
        cls,
        name: str,
        selector: Callable[[], reverb_types.SelectorType],
        max_size: int,
        rate_limiter: rate_limiters.RateLimiter,
        extensions: Sequence[TableExtensionBase],
        signature: reverb_types.SpecNest | None,
    ) -> "Table":
        return cls(
            name=name,
            sampler=selector(),
            remover=selector(),
            max_size=max_size,
            max_times_sampled=1,
            rate_limiter=rate_limiter,
            extensions=extensions,
            signature=signature,
        )

    @property
    def name(self) -> str:
        """The name of the table."""
        return self.internal_table.name()

    @property
    def info(self) -> reverb_types.TableInfo:
        """Settings and counters of this moment."""
        return reverb_types.TableInfo.from_serialized_proto(self.internal_table.info())

    def can_sample(self, num_samples: int) -> bool:
        """Whether the rate limiter allows `num_samples` (>= 1) samples now; the size of the table does not count."""
        return self.internal_table.can_sample(_arguments.count(num_samples, "num_samples"))

    def can_insert(self, num_inserts: int) -> bool:
        """Whether the rate limiter allows `num_inserts` (>= 1) inserts now; the size of the table does not count."""
        return self.internal_table.can_insert(_arguments.count(num_inserts, "num_inserts"))

    def set_rate_limiter(self, rate_limiter: rate_limiters.RateLimiter) -> None:
        """Changes when items may be inserted and sampled from now on, also while a server serves the table.

        What has been inserted, sampled and deleted so far counts for the new rule too. Calls that wait for the old rule
        go on at once if the new one allows it.

        Raises:
          TypeError: `rate_limiter` is none.
          CancelledError: The server of the table has stopped.
        """
        self.internal_table.set_rate_limiter(rate_limiters.internal_limiter(rate_limiter))
        self._rate_limiter = rate_limiter

    def replace(
        self,
        name: str | None = None,
        sampler: reverb_types.SelectorType | None = None,
        remover: reverb_types.SelectorType | None = None,
        max_size: int | None = None,
        rate_limiter: rate_limiters.RateLimiter | None = None,
        max_times_sampled: int | None = None,
        extensions: Sequence[TableExtensionBase] | None = None,
        signature: reverb_types.SpecNest | None = None,
        *,
        seed: int | None = None,
    ) -> "Table":
        """Returns a new, empty table with the settings of this one, except for those that are given."""
        info = self.info
        limiter = info.rate_limiter_info

        def pick(value: Any, default: Any) -> Any:
            return default if value is None else value

        return Table(
            name=pick(name, info.name),
            sampler=sampler or item_selectors.selector_from_options(info.sampler_options),
            remover=remover or item_selectors.selector_from_options(info.remover_options),
            max_size=pick(max_size, info.max_size),
            rate_limiter=rate_limiter
            or rate_limiters.RateLimiter(
                samples_per_insert=limiter.samples_per_insert,
                min_size_to_sample=limiter.min_size_to_sample,
                min_diff=limiter.min_diff,
                max_diff=limiter.max_diff,
            ),
            max_times_sampled=pick(max_times_sampled, info.max_times_sampled),
            extensions=pick(extensions, self._extensions),
            signature=pick(signature, info.signature),
            seed=pick(seed, self._seed),
        )

    def __repr__(self) -> str:
        return repr(self.internal_table)


def _encode_signature(signature: Any) -> bytes | None:
    """The serialized signature; None for a signature without leaves or None."""
    if signature is None or (isinstance(signature, dict | list | tuple) and not signature):
        return None
    from reverb_tf import _signature

    for path, leaf in _reverb.flatten_with_path(signature):
        if not _signature.is_spec(leaf):
            raise ValueError(
                f"The leaves of a signature must be TensorSpecs, got {leaf!r} at {path}"
            )
    return _signature.encode(signature).SerializeToString(deterministic=True)


class Server:
    """Serves tables over gRPC, and to clients of this process without it.

    The server stops when it is stopped, when a `with` block around it ends, or when the last reference to it goes.
    """

    def __init__(
        self,
        tables: Sequence[Table] | None = None,
        port: int | None = None,
        checkpointer: "checkpointers_lib.CheckpointerBase | None" = None,
        *,
        host: str = "[::]",
    ):
        """Starts serving.

        Args:
          tables: At least one, with distinct names.
          port: To listen on; None or 0: the system picks a free one, see `port`.
          checkpointer: Where checkpoints are written, and loaded from before the server serves; see
            reverb_tf.checkpointers.DefaultCheckpointer. None: a new temporary folder, so nothing is loaded.
          host: Address to listen on; "[::]" is every interface, "127.0.0.1" this machine alone.

        Raises:
          ValueError: No tables, two tables of one name, or the port cannot be listened on (BindError).
            Also a checkpoint that has tables which are not among `tables`.
          TypeError: What is given as a table is none, the port is no int, or the checkpointer is none.
          DataLossError: The checkpoint to load is damaged; the text says where, and what else could be loaded.
          NotFoundError: There is no checkpoint where one must be.
        """
        self._server = None
        if not tables:
            raise ValueError("A server needs at least one table")
        tables = list(tables)
        for table in tables:
            if not isinstance(table, Table):
                raise TypeError(f"tables must hold reverb_tf.Tables, got {table!r}")
        counts = collections.Counter(table.name for table in tables)
        duplicates = sorted(name for name, count in counts.items() if count > 1)
        if duplicates:
            raise ValueError(
                f"The names of tables must be distinct, got more than one of: {', '.join(duplicates)}"
            )
        if checkpointer is None:
            checkpointer = checkpointers.default_checkpointer()
        elif not hasattr(checkpointer, "internal_checkpointer"):
            raise TypeError(
                f"checkpointer must be one of reverb_tf.checkpointers, got {checkpointer!r}"
            )
        self._tables = tables
        self._checkpointer = checkpointer
        port = 0 if port is None else _arguments.int32(port, "port")
        if not 0 <= port < 2**16:
            raise ValueError(f"port must be between 0 and 65535, got {port}")
        try:
            self._server = _reverb.Server(
                [table.internal_table for table in tables],
                port,
                checkpointer.internal_checkpointer(),
                host=host,
                progress=_checkpointing.load_progress(),
            )
        except errors.UnavailableError as e:
            raise errors.BindError(str(e)) from None
        self._port = self._server.port
        self._stopped = False
        path, num_items, _, differences = self._server.restored()
        self._restored_from = path or None
        if path:
            _checkpointing.report_restore(path, num_items, differences)

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return self._port

    @property
    def restored_from(self) -> str | None:
        """Folder of the checkpoint that was loaded at the start; None: there was none."""
        return self._restored_from

    def checkpoint(self, *, timeout: float | None = None) -> str:
        """Writes a checkpoint of all tables, which go on to be used, and returns its folder.

        Args:
          timeout: Seconds; None: no limit. The checkpoint is finished all the same.

        Raises:
          DeadlineExceededError: It was not complete on disk in time.
          ReverbError: It could not be written; the text names the file and the cause.
        """
        return self._server.Checkpoint(timeout)

    def stop(self) -> None:
        """Ends what clients wait for with CancelledError and releases the port. May be called again.

        A client that does not read what is sent to it is cut off after half a second.
        """
        if self._server is not None:
            self._server.Stop()
            self._stopped = True

    def wait(self, timeout: float | None = None) -> None:
        """Blocks until stop() is called, by another thread or before.

        Ctrl-C ends the wait with KeyboardInterrupt; the server goes on, so that there is time for a last look at it.
        With a checkpointer that has `on_exit`, a checkpoint is written first, also when SIGTERM comes, which then ends
        the wait with SystemExit (in the main thread).

        Args:
          timeout: Seconds; None: no limit.

        Raises:
          DeadlineExceededError: The server still ran after `timeout` seconds.
        """
        on_exit = bool(getattr(self._checkpointer, "on_exit", False))
        with _checkpointing.sigterm_raises(on_exit):
            try:
                self._server.Wait(timeout)
            except (KeyboardInterrupt, _checkpointing.Terminated):
                if on_exit:
                    self.checkpoint()
                raise

    def localhost_client(self) -> "client.Client":
        """A client of this server. It does not go through gRPC while both are in one process."""
        return client.Client(f"localhost:{self._port}")

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *unused: object) -> None:
        self.stop()

    def __del__(self) -> None:
        if getattr(self, "_server", None) is None or self._stopped:
            return
        if not sys.is_finalizing():
            import logging

            logging.getLogger("reverb_tf").warning(
                "The server on port %d stops because the last reference to it is gone. Keep it, or call stop().",
                self._port,
            )
        self.stop()

    def __repr__(self) -> str:
        tables = ", ".join(repr(table) for table in self._tables)
        return f"Server(port={self._port}, tables=[{tables}], checkpointer={self._checkpointer!r})"
