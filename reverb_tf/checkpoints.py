"""Reading checkpoints without a server.

    python -m reverb_tf.checkpoints PATH

prints what a checkpoint holds.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from typing import Any

from reverb_tf import _checkpointing, _signature, errors, item_selectors, reverb_types
from reverb_tf._native import _reverb
from reverb_tf.proto import schema_pb2
from reverb_tf.replay_sample import ReplaySample


class CheckpointReader:
    """One checkpoint, of this package or of dm-reverb. Made by checkpoint_reader(). Not thread-safe.

    Attributes:
      path: Folder of the checkpoint.
      format: "incremental" or "reverb".
      num_bytes: Of all files that it needs; some may be shared with other checkpoints.
      tables: TableInfo of each table by name, as of the checkpoint.
    """

    def __init__(self, path: str | os.PathLike[str]):
        """Opens the checkpoint; see checkpoint_reader()."""
        self._reader = _reverb.CheckpointReader.open(
            os.fsdecode(path), _checkpointing.load_progress()
        )
        self.path: str = self._reader.path
        self.format: str = self._reader.format
        self.num_bytes: int = self._reader.num_bytes
        self.tables = {record["name"]: _table_info(record) for record in self._reader.tables()}

    def items(
        self, table: str, *, unpack_as_table_signature: bool = False
    ) -> Iterator[ReplaySample]:
        """Yields the items of a table in the order in which they were inserted.

        Args:
          table: Name of the table.
          unpack_as_table_signature: Data has the structure of the table's signature, if it has one; else it is a list
            of columns.

        Yields:
          ReplaySamples whose arrays have the leading (time) axis, except for squeezed columns. `info` is as of the
          checkpoint, with probability 0.

        Raises:
          NotFoundError: There is no such table.
          DataLossError: The checkpoint is damaged; the text says where.
        """
        items = self._reader.items(table)
        structure = None
        if unpack_as_table_signature and self.tables[table].signature is not None:
            structure = _reverb.Structure(self.tables[table].signature)
        while (sample := items.next(structure)) is not None:
            yield sample

    def __repr__(self) -> str:
        return f"CheckpointReader(path={self.path!r})"


def checkpoint_reader(path: str | os.PathLike[str]) -> CheckpointReader:
    """Opens a checkpoint.

    Args:
      path: Folder of the checkpoint, or folder of checkpoints, of which the newest complete one is opened.

    Raises:
      NotFoundError: There is no complete checkpoint.
      DataLossError: The checkpoint is damaged; the text says where, and what else there is.
    """
    return CheckpointReader(path)


def _selector_options(record: tuple[str, float]) -> schema_pb2.KeyDistributionOptions:
    kind, exponent = record
    options = schema_pb2.KeyDistributionOptions()
    if kind == "prioritized":
        options.prioritized.priority_exponent = exponent
    elif kind in ("min_heap", "max_heap"):
        options.heap.min_heap = kind == "min_heap"
    else:
        setattr(options, kind, True)
    options.is_deterministic = kind not in ("prioritized", "uniform")
    return options


def _table_info(record: dict[str, Any]) -> reverb_types.TableInfo:
    samples_per_insert, min_size_to_sample, min_diff, max_diff = record["rate_limiter"]
    limiter = schema_pb2.RateLimiterInfo(
        samples_per_insert=samples_per_insert,
        min_size_to_sample=min_size_to_sample,
        min_diff=min_diff,
        max_diff=max_diff,
    )
    limiter.insert_stats.completed = record["inserts"]
    limiter.sample_stats.completed = record["samples"]
    signature = record["signature"]
    return reverb_types.TableInfo(
        name=record["name"],
        sampler_options=_selector_options(record["sampler"]),
        remover_options=_selector_options(record["remover"]),
        max_size=record["max_size"],
        max_times_sampled=record["max_times_sampled"],
        rate_limiter_info=limiter,
        signature=None
        if signature is None
        else _signature.decode(_signature.StructuredValue.FromString(signature)),
        current_size=record["num_items"],
        num_episodes=0,
        num_deleted_episodes=record["num_deleted_episodes"],
        num_unique_samples=record["num_unique_samples"],
        table_worker_time=schema_pb2.TableWorkerTime(),
    )


def _summary(reader: CheckpointReader) -> Iterator[str]:
    yield f"{reader.path}: format {reader.format}, {reader.num_bytes:,} bytes"
    for info in reader.tables.values():
        sampler = item_selectors.selector_from_options(info.sampler_options)
        remover = item_selectors.selector_from_options(info.remover_options)
        limiter = info.rate_limiter_info
        yield f"table {info.name!r}: {info.current_size:,} of at most {info.max_size:,} items"
        yield f"  sampler {sampler}, remover {remover}, max_times_sampled {info.max_times_sampled}"
        yield (
            f"  rate limiter: samples_per_insert {limiter.samples_per_insert:g}, min_size_to_sample "
            f"{limiter.min_size_to_sample}, diff {limiter.min_diff:g} to {limiter.max_diff:g}; "
            f"{limiter.insert_stats.completed:,} inserts and {limiter.sample_stats.completed:,} samples so far"
        )
        yield f"  signature {info.signature}"


def main(argv: list[str] | None = None) -> int:
    """Prints a summary of a checkpoint. Returns the exit code: 1 if it cannot be read."""
    parser = argparse.ArgumentParser(
        prog="python -m reverb_tf.checkpoints", description="Prints what a checkpoint holds."
    )
    parser.add_argument("path", help="a checkpoint, or a folder of checkpoints: the newest")
    options = parser.parse_args(argv)
    try:
        for line in _summary(checkpoint_reader(options.path)):
            print(line)
    except errors.ReverbError as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
