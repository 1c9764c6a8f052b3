"""The client of a server."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from reverb_tf import (
    _arguments,
    chunker_options,
    rate_limiters,
    replay_sample,
    reverb_types,
    trajectory_writer,
)
from reverb_tf._native import _reverb
from reverb_tf.writer import Writer, open_writer

if TYPE_CHECKING:
    from reverb_tf import structured_writer

# Samples that Client.sample() asks for ahead of what its caller has taken, unless it is told otherwise.
_DEFAULT_IN_FLIGHT = 16


class Client:
    """Inserts into, samples from and manages the tables of a server.

    Thread-safe, and may be pickled (by its address). Creating one does not connect. Calls to a server that cannot be
    reached are tried again for a minute, then they raise UnavailableError; every call takes a `timeout` in seconds and
    ends on Ctrl-C. A server of the same process is called directly.
    """

    def __init__(self, server_address: str):
        """Creates a client of the server at `server_address`, for example "localhost:8000"."""
        self._server_address = server_address
        self._client = _reverb.Client(server_address)
        self._signature_cache: dict[str, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._server_address,)

    def __repr__(self) -> str:
        return f"Client, server_address={self._server_address}"

    @property
    def server_address(self) -> str:
        """The address given to the constructor."""
        return self._server_address

    def insert(
        self, data: Any, priorities: Mapping[str, float], *, timeout: float | None = None
    ) -> list[int]:
        """Inserts one step as an item of each of some tables and waits until all of them have it.

        Args:
          data: Nest of arrays (or what numpy makes arrays of). The item gets a leading axis of length 1.
          priorities: Priority of the item in each table that is to get it.
          timeout: Seconds; None: no limit. A rate limiter can make the call wait.

        Returns:
          The keys of the items, in the order of `priorities`.

        Raises:
          ValueError: No tables, an unknown table, a priority that a table refuses, or data that does not match a
            table's signature.
          TypeError: A leaf of `data` cannot be stored.
          DeadlineExceededError: Not every table had its item in time; the others may still get it.
          UnavailableError: The server could not be reached.
        """
        if not priorities:
            raise ValueError("priorities must name at least one table")
        _arguments.mapping(priorities, "priorities")
        return self._client.insert(data, dict(priorities), timeout)

    def sample(
        self,
        table: str,
        num_samples: int = 1,
        *,
        emit_timesteps: bool = True,
        unpack_as_table_signature: bool = False,
        timeout: float | None = None,
        max_in_flight_samples: int | None = None,
    ) -> Generator[Any, None, None]:
        """Samples items. Nothing happens before the first one is asked for.

        Args:
          table: Name of the table.
          num_samples: >= 1.
          emit_timesteps: True: each item is a list of one ReplaySample for each step (all columns must have the same
            length); False: one ReplaySample whose arrays have the leading axis.
          unpack_as_table_signature: Data has the structure of the table's signature, if it has one; else it is a list
            of columns.
          timeout: Seconds that each item may take; None: no limit.
          max_in_flight_samples: How many items may be taken from the table before the caller asks for them; at most
            that many are lost when the generator is dropped early. None: 16, and never more than `num_samples`.

        Yields:
          Items as said above. `info` holds Python numbers, arrays are numpy's, strings are bytes in object arrays.

        Raises:
          TypeError: num_samples or max_in_flight_samples is no int.
          ValueError: They are not >= 1, or columns differ in length with emit_timesteps.
          NotFoundError: There is no such table.
          DeadlineExceededError: An item took longer than `timeout`.
          UnavailableError: The server could not be reached.
        """
        if num_samples == -1:
            return
        num_samples = _arguments.count(num_samples, "num_samples")
        if max_in_flight_samples is not None:
            _arguments.count(max_in_flight_samples, "max_in_flight_samples")
        structure = self._structure(table, timeout) if unpack_as_table_signature else None
        in_flight = min(num_samples, max_in_flight_samples or _DEFAULT_IN_FLIGHT)
        sampler = self._client.NewSampler(table, num_samples, in_flight)
        try:
            for _ in range(num_samples):
                yield sampler.next(timeout, bool(emit_timesteps), structure)
        finally:
            sampler.close()

    def mutate_priorities(
        self,
        table: str,
        updates: Mapping[int, float] | None = None,
        deletes: Iterable[int] | None = None,
        *,
        timeout: float | None = None,
    ) -> None:
        """Deletes items, then changes priorities of others. Keys that the table does not have are ignored.

        Args:
          table: Name of the table.
          updates: New priority of each key.
          deletes: Keys of the items to delete.
          timeout: Seconds; None: no limit.

        Raises:
          NotFoundError: There is no such table.
          ValueError: A priority that the table refuses; nothing was changed then.
          TypeError: A key is no int from 0 to 2**64 - 1 or a priority no float.
        """
        if updates is not None:
            _arguments.mapping(updates, "updates")
        self._client.mutate_priorities(
            table,
            {} if updates is None else dict(updates),
            () if deletes is None else deletes,
            timeout,
        )

    def get(
        self,
        table: str,
        keys: Iterable[int],
        *,
        missing: Literal["raise", "skip"] = "raise",
        unpack_as_table_signature: bool = False,
        timeout: float | None = None,
    ) -> list[replay_sample.ReplaySample]:
        """The items of those keys, with their data. This does not count as sampling them.

        Args:
          table: Name of the table.
          keys: Of the items; their number bounds the memory that the call takes.
          missing: What to do about keys that the table does not have (any more): "raise" a KeyError that lists them, or
            "skip" them.
          unpack_as_table_signature: As in sample().
          timeout: Seconds; None: no limit.

        Returns:
          The items in the order of `keys`, as from sample(emit_timesteps=False). `info.probability` is 0.

        Raises:
          KeyError: Keys that the table does not have, with missing="raise".
          NotFoundError: There is no such table.
          TypeError: A key is no int from 0 to 2**64 - 1.
          UnimplementedError: The server is dm-reverb or an older release.
          DeadlineExceededError, UnavailableError: As for every call.
        """
        if missing not in ("raise", "skip"):
            raise ValueError(f'missing must be "raise" or "skip", got {missing!r}')
        keys = list(keys)
        structure = self._structure(table, timeout) if unpack_as_table_signature else None
        items = self._client.get(table, keys, timeout, structure)
        if missing == "raise" and len(items) < len(keys):
            absent = _absent(keys, items)
            text = ", ".join(absent[:10]) + (", ..." if len(absent) > 10 else "")
            raise KeyError(f"Table {table} does not have {len(absent)} of {len(keys)} keys: {text}")
        return items

    def list_items(
        self, table: str, *, page_size: int = 1000, timeout: float | None = None
    ) -> Iterator[reverb_types.ItemInfo]:
        """Iterates over all items of a table, in no particular order and without their data.

        The items are fetched page by page while the caller iterates. An item that is in the table all the time is given
        exactly once, whatever else comes and goes; one that comes or goes meanwhile may or may not be given.

        Args:
          table: Name of the table.
          page_size: 1 to 10000, items that are fetched at a time. The table does nothing else while it makes a page.
          timeout: Seconds that each page may take; None: no limit.

        Returns:
          An iterator of ItemInfo.

        Raises (on iteration):
          NotFoundError: There is no such table.
          UnimplementedError: The server is dm-reverb or an older release.
          DeadlineExceededError, UnavailableError: As for every call.
        """
        page_size = _arguments.count(page_size, "page_size")
        if page_size > 10000:
            raise ValueError(f"page_size must be between 1 and 10000, got {page_size}")

        def pages() -> Iterator[reverb_types.ItemInfo]:
            start = 0
            while True:
                items, start = self._client.list_items(table, start, page_size, timeout)
                yield from items
                if start == 0:
                    return

        return pages()

    def delete(self, table: str, keys: Iterable[int], *, timeout: float | None = None) -> int:
        """Deletes items.

        Args:
          table: Name of the table.
          keys: Of the items; those that the table does not have are ignored.
          timeout: Seconds; None: no limit.

        Returns:
          How many of the items were there. (Not counting those that were deleted by a first try of this call whose
          answer was lost together with the connection.)

        Raises:
          NotFoundError: There is no such table.
          TypeError: A key is no int from 0 to 2**64 - 1.
          UnimplementedError: The server is dm-reverb or an older release; nothing is deleted then.
          DeadlineExceededError, UnavailableError: As for every call.
        """
        return self._client.delete(table, keys, timeout)

    def set_rate_limiter(
        self, table: str, rate_limiter: rate_limiters.RateLimiter, *, timeout: float | None = None
    ) -> None:
        """Changes when items may be inserted and sampled from now on; see Table.set_rate_limiter().

        Raises:
          NotFoundError: There is no such table.
          ValueError: The numbers of the limiter make no rule.
          UnimplementedError: The server is dm-reverb or an older release.
          DeadlineExceededError, UnavailableError: As for every call.
        """
        limiter = rate_limiters.internal_limiter(rate_limiter)
        self._client.set_rate_limiter(table, limiter, timeout)

    def reset(self, table: str, *, timeout: float | None = None) -> None:
        """Removes all items of a table and resets its counters and its rate limiter.

        Raises:
          NotFoundError: There is no such table.
        """
        self._client.Reset(table, timeout)

    def checkpoint(self, *, timeout: float | None = None) -> str:
        """Makes the server write all its tables to disk and waits until it has.

        Args:
          timeout: Seconds; None: no limit.

        Returns:
          The folder that was written, on the machine of the server.

        Raises:
          ValueError: The server has no checkpointer, as all servers of this release.
          DeadlineExceededError: The server did not answer in time.
          UnavailableError: The server could not be reached.
        """
        return self._client.Checkpoint(timeout)

    def server_info(self, timeout: float | None = None) -> dict[str, reverb_types.TableInfo]:
        """Settings and counters of every table, by name.

        Args:
          timeout: Seconds; None or not above 0: no limit.

        Raises:
          DeadlineExceededError: The server did not answer in time.
          UnavailableError: The server could not be reached.
        """
        infos = [
            reverb_types.TableInfo.from_serialized_proto(info)
            for info in self._client.ServerInfo(timeout)
        ]
        self._signature_cache = {info.name: info.signature for info in infos}
        return {info.name: info for info in infos}

    def trajectory_writer(
        self,
        num_keep_alive_refs: int,
        *,
        validate_items: bool = True,
        timeout: float | None = None,
    ) -> "trajectory_writer.TrajectoryWriter":
        """Creates a writer of steps and of items made of them.

        Args:
          num_keep_alive_refs: >= 1, how many of the newest steps an item can refer to.
          validate_items: Check items against the signatures of the server's tables when they are made. The signatures
            are fetched here, if this client does not have them yet.
          timeout: Seconds that this may take; None: no limit.

        Raises:
          ValueError: num_keep_alive_refs < 1.
          UnavailableError: The server could not be reached.
        """
        num_keep_alive_refs = _arguments.count(num_keep_alive_refs, "num_keep_alive_refs")
        options = chunker_options.AutoTunedChunkerOptions(num_keep_alive_refs, 1.0)
        return trajectory_writer.TrajectoryWriter(
            self._client.NewTrajectoryWriter(options, bool(validate_items), timeout)
        )

    def structured_writer(
        self, configs: "Sequence[structured_writer.Config]"
    ) -> "structured_writer.StructuredWriter":
        """Creates a writer of steps that makes items by itself, as configs say.

        The server is not contacted, and items are not checked against signatures.

        Args:
          configs: At least one, of reverb_tf.structured.create_config().

        Raises:
          ValueError: There are none, or one makes no sense; the text says which and why.
          TypeError: One is no config.
        """
        from reverb_tf import structured_writer

        serialized = []
        for config in configs:
            if not isinstance(config, structured_writer.Config):
                raise TypeError(f"a config is made by create_config(), got {config!r}")
            serialized.append(config.SerializeToString())
        return structured_writer.StructuredWriter(self._client.NewStructuredWriter(serialized))

    def writer(
        self,
        max_sequence_length: int,
        delta_encoded: bool = False,
        chunk_length: int | None = None,
        max_in_flight_items: int | None = 25,
        *,
        timeout: float | None = None,
    ) -> Writer:
        """Creates a writer of steps and of items over the newest of them.

        Args:
          max_sequence_length: >= 1, how many of the newest steps an item can have.
          delta_encoded: Store integer arrays as differences, which compress better where steps are alike.
          chunk_length: Steps stored together, 1 <= chunk_length <= max_sequence_length; None: 10 if that is allowed.
          max_in_flight_items: >= 1, how many items may be unconfirmed before the writer waits, except that those
            which one chunk completes are sent together; None: 1,000,000.
          timeout: Seconds that fetching the signatures of the tables may take; None: no limit.

        Raises:
          ValueError: A number is not as said above.
          UnavailableError: The server could not be reached.
        """
        settings = (max_sequence_length, delta_encoded, chunk_length, max_in_flight_items)
        return open_writer(self._client, *settings, timeout)

    def _structure(self, table: str, timeout: float | None) -> _reverb.Structure | None:
        signature = self._table_signature(table, timeout)
        return None if signature is None else _reverb.Structure(signature)

    def _table_signature(self, table: str, timeout: float | None) -> Any:
        if table not in self._signature_cache:
            self.server_info(timeout)
        if table not in self._signature_cache:
            raise ValueError(
                f"Server at {self._server_address} does not contain any table named {table}. "
                f"Found: {', '.join(sorted(self._signature_cache))}."
            )
        return self._signature_cache[table]


def _absent(keys: list[int], items: list[replay_sample.ReplaySample]) -> list[str]:
    """The keys without an item; the items are in the order of their keys."""
    absent = []
    found = iter(items)
    item = next(found, None)
    for key in keys:
        if item is not None and item.info.key == key:
            item = next(found, None)
        else:
            absent.append(str(key))
    return absent
