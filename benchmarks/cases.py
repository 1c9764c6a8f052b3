"""The workloads. Each is a generator that measures itself again whenever it is resumed.

A case is `function(bench)`: it prepares (fills tables, opens writers), then yields one figure a
round. What it prepares stays for all rounds; only the figure's own work is on the clock.
"""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks import tables
from benchmarks.bench import Bench, Figure
from benchmarks.graph_cases import (
    graph_batches,
    graph_dataset,
    graph_insert_batch,
    graph_update,
    graph_update_batch,
)
from benchmarks.variable_cases import (
    pull_10MB,
    pull_10MB_eight,
    pull_100MB,
    pull_100MB_eight,
    push_10MB,
    push_100MB,
)
from benchmarks.writer_cases import graph_insert, graph_writer, graph_writer_batch

_BATCH = 256
_BATCH_OF_LARGE = 32
_KEYS_A_CALL = 1_000
_CLOCK_EVERY = 256


def _insert_trajectory_writer(bench: Bench, max_pending: int) -> Iterator[Figure]:
    writer = bench.client().trajectory_writer(num_keep_alive_refs=1)
    values = itertools.cycle(tables.arrays("400B"))

    def work() -> int:
        for _ in range(_CLOCK_EVERY):
            writer.append(next(values))
            writer.create_item("insert_400B", 1.0, writer.history[-1:])
        writer.flush(block_until_num_items=max_pending)
        return _CLOCK_EVERY

    while True:
        yield bench.rate(work, writer.flush)


def insert_trajectory_writer(bench: Bench) -> Iterator[Figure]:
    """One-step items of 400 B through TrajectoryWriter, a second; up to 1,024 unconfirmed."""
    return _insert_trajectory_writer(bench, 1_024)


def insert_trajectory_writer_short(bench: Bench) -> Iterator[Figure]:
    """The same with at most 64 unconfirmed when the writer is asked to wait."""
    return _insert_trajectory_writer(bench, 64)


def _insert_writer(bench: Bench, max_in_flight_items: int) -> Iterator[Figure]:
    writer = bench.client().writer(
        max_sequence_length=1, chunk_length=1, max_in_flight_items=max_in_flight_items
    )
    values = itertools.cycle(tables.arrays("400B"))

    def work() -> int:
        for _ in range(_CLOCK_EVERY):
            writer.append(next(values))
            writer.create_item("insert_400B", 1, 1.0)
        return _CLOCK_EVERY

    while True:
        yield bench.rate(work, writer.flush)


def insert_writer(bench: Bench) -> Iterator[Figure]:
    """One-step items of 400 B through the legacy Writer with its default limit, a second."""
    return _insert_writer(bench, 25)


def insert_steps(bench: Bench) -> Iterator[Figure]:
    """One-step items of 41 B in five columns through the legacy Writer, one at a time, a second."""
    writer = bench.client().writer(max_sequence_length=1, chunk_length=1, max_in_flight_items=1_024)
    values = itertools.cycle(tables.steps())

    def work() -> int:
        for _ in range(_CLOCK_EVERY):
            writer.append(next(values))
            writer.create_item("insert_step", 1, 1.0)
        return _CLOCK_EVERY

    while True:
        yield bench.rate(work, writer.flush)


def insert_batch(bench: Bench) -> Iterator[Figure]:
    """The same through TrajectoryWriter.append_batch, 256 at once."""
    writer = bench.client().trajectory_writer(num_keep_alive_refs=1)
    values = tables.steps()
    batch = {
        name: np.stack([values[i % len(values)][name] for i in range(_BATCH)]) for name in values[0]
    }

    def work() -> int:
        writer.append_batch(batch, "insert_step", 1.0)
        return _BATCH

    while True:
        yield bench.rate(work, writer.flush)


def insert_writer_deep(bench: Bench) -> Iterator[Figure]:
    """The same with up to 1,024 items unconfirmed."""
    return _insert_writer(bench, 1_024)


def _actor(
    bench: Bench, writer: Any, values: list, add: Callable[[Any, Any], None]
) -> Iterator[Figure]:
    """Microseconds that `add(writer, value)` takes from the actor."""
    while True:
        spent, count, end = 0.0, 0, time.perf_counter() + bench.seconds
        while time.perf_counter() < end:
            start = time.perf_counter()
            for value in values:
                add(writer, value)
            spent += time.perf_counter() - start
            count += len(values)
            writer.flush()
        yield Figure(spent / count * 1e6, count)


def actor_array(bench: Bench) -> Iterator[Figure]:
    """Microseconds that append and create_item of one 400 B array take from the actor."""

    def add(writer, value) -> None:
        writer.append(value)
        writer.create_item("insert_400B", 1.0, writer.history[-1:])

    writer = bench.client().trajectory_writer(num_keep_alive_refs=1)
    return _actor(bench, writer, tables.arrays("400B"), add)


def actor_step(bench: Bench) -> Iterator[Figure]:
    """The same of a dict of 41 bytes in five columns."""

    def add(writer, value) -> None:
        writer.append(value)
        history = writer.history
        writer.create_item("insert_step", 1.0, {name: history[name][-1:] for name in history})

    writer = bench.client().trajectory_writer(num_keep_alive_refs=1)
    return _actor(bench, writer, tables.steps(), add)


def actor_structured(bench: Bench) -> Iterator[Figure]:
    """The same through StructuredWriter, whose append makes the item."""
    structured = bench.reverb.structured
    values = tables.steps()
    config = structured.create_config(
        structured.pattern_from_transform(
            values[0], lambda step: {name: step[name][-1:] for name in step}
        ),
        "insert_step",
    )
    writer = bench.client().structured_writer([config])
    return _actor(bench, writer, values, lambda writer, value: writer.append(value))


def _elements(bench: Bench, batches: Iterator[Any], batch: int) -> Iterator[Figure]:
    """Items a second of an iterator of batches."""
    next(batches)

    def work() -> int:
        next(batches)
        return batch

    while True:
        yield bench.rate(work)


def _dataset(bench: Bench, address: str, size: str, batch: int) -> Iterator[Figure]:
    dataset = bench.reverb.TrajectoryDataset.from_table_signature(
        server_address=address,
        table=f"sample_{size}",
        max_in_flight_samples_per_worker=2 * batch,
    )
    return _elements(bench, iter(dataset.batch(batch, drop_remainder=True)), batch)


def _batches(bench: Bench, address: str, size: str, batch: int) -> Iterator[Figure]:
    dataset = bench.reverb.ReverbDataset.from_table_signature(address, f"sample_{size}", batch)
    return _elements(bench, iter(dataset), batch)


def _in_process(bench: Bench, elements: Callable[..., Iterator[Figure]]) -> Iterator[Figure]:
    """Of items of 400 B of a server in the client's process."""
    server = bench.reverb.Server(tables.make(bench.reverb))
    try:
        address = f"localhost:{server.port}"
        tables.fill(bench.reverb.Client(address), "sample_400B", "400B")
        yield from elements(bench, address, "400B", _BATCH)
    finally:
        server.stop()


def dataset_400B(bench: Bench) -> Iterator[Figure]:  # noqa: N802
    """Dataset with .batch(256), items of 400 B, items a second."""
    tables.fill(bench.client(), "sample_400B", "400B")
    return _dataset(bench, bench.address, "400B", _BATCH)


def dataset_400kB(bench: Bench) -> Iterator[Figure]:  # noqa: N802
    """Dataset with .batch(256), items of 400 kB, items a second."""
    tables.fill(bench.client(), "sample_400kB", "400kB")
    return _dataset(bench, bench.address, "400kB", _BATCH)


def dataset_in_process(bench: Bench) -> Iterator[Figure]:
    """Dataset with .batch(256), items of 400 B, of a server in the same process, items a second."""
    return _in_process(bench, _dataset)


def dataset_400kB_small(bench: Bench) -> Iterator[Figure]:  # noqa: N802
    """Dataset with .batch(32), items of 400 kB, items a second."""
    tables.fill(bench.client(), "sample_400kB", "400kB")
    return _dataset(bench, bench.address, "400kB", _BATCH_OF_LARGE)


def batches_400B(bench: Bench) -> Iterator[Figure]:  # noqa: N802
    """ReverbDataset of batches of 256 items of 400 B, items a second."""
    tables.fill(bench.client(), "sample_400B", "400B")
    return _batches(bench, bench.address, "400B", _BATCH)


def batches_400kB(bench: Bench) -> Iterator[Figure]:  # noqa: N802
    """ReverbDataset of batches of 32 items of 400 kB, items a second."""
    tables.fill(bench.client(), "sample_400kB", "400kB")
    return _batches(bench, bench.address, "400kB", _BATCH_OF_LARGE)


def batches_in_process(bench: Bench) -> Iterator[Figure]:
    """ReverbDataset of batches of 256 items of 400 B of a server in the same process."""
    return _in_process(bench, _batches)


def client_sample(bench: Bench) -> Iterator[Figure]:
    """Client.sample of 1,000 items of 400 B a call, items a second."""
    client = bench.client()
    tables.fill(client, "sample_400B", "400B")

    def work() -> int:
        return sum(1 for _ in client.sample("sample_400B", num_samples=1_000))

    while True:
        yield bench.rate(work)


def mutate_priorities(bench: Bench) -> Iterator[Figure]:
    """Client.mutate_priorities of 1,000 keys, calls a second."""
    client = bench.client()
    tables.fill(client, "update_400B", "400B")
    keys: set[int] = set()
    while len(keys) < _KEYS_A_CALL:
        for sample in client.sample("update_400B", num_samples=_KEYS_A_CALL):
            keys.add(int(sample[0].info.key))
    rng = np.random.default_rng(0)
    chosen = sorted(keys)[:_KEYS_A_CALL]
    updates = [dict(zip(chosen, rng.random(_KEYS_A_CALL).tolist())) for _ in range(8)]  # noqa: B905
    turns = itertools.cycle(updates)

    def work() -> int:
        client.mutate_priorities("update_400B", next(turns))
        return 1

    while True:
        yield bench.rate(work)


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of the table that compare.py prints."""

    title: str
    unit: str
    # Ways of doing it; a side's figure is that of its best one.
    ours: tuple[Callable[[Bench], Iterator[Figure]], ...]
    reference: tuple[Callable[[Bench], Iterator[Figure]], ...]
    less_is_better: bool = False


def _row(title: str, unit: str, case, **kwargs) -> Row:
    return Row(title, unit, (case,), (case,), **kwargs)


_TRAJECTORY_WRITERS = (insert_trajectory_writer, insert_trajectory_writer_short)

ROWS = {
    "insert": Row(
        "insert one-step items of 400 B",
        "items/s",
        (*_TRAJECTORY_WRITERS, insert_writer, insert_writer_deep),
        (*_TRAJECTORY_WRITERS, insert_writer, insert_writer_deep),
    ),
    "batch": Row(
        "insert one-step items of 41 B in five columns",
        "items/s",
        (insert_batch,),
        (insert_steps,),
    ),
    "actor_array": _row(
        "append + create_item, 400 B", "us a step", actor_array, less_is_better=True
    ),
    "actor": _row("append + create_item, dict of 5", "us a step", actor_step, less_is_better=True),
    "actor_structured": _row(
        "StructuredWriter.append, dict of 5", "us a step", actor_structured, less_is_better=True
    ),
    "dataset": _row("dataset, .batch(256), 400 B", "items/s", dataset_400B),
    "dataset_large": _row("dataset, .batch(256), 400 kB", "items/s", dataset_400kB),
    "dataset_local": _row("dataset, same process, 400 B", "items/s", dataset_in_process),
    "batches": Row(
        "ReverbDataset / .batch(256), 400 B", "items/s", (batches_400B,), (dataset_400B,)
    ),
    "batches_large": Row(
        "ReverbDataset / .batch(32), 400 kB", "items/s", (batches_400kB,), (dataset_400kB_small,)
    ),
    "batches_local": Row(
        "ReverbDataset, same process, 400 B",
        "items/s",
        (batches_in_process,),
        (dataset_in_process,),
    ),
    "sample": _row("Client.sample, 400 B", "items/s", client_sample),
    "update": _row("mutate_priorities, 1,000 keys", "calls/s", mutate_priorities),
    "graph_batches": Row(
        "ReverbDataset / .batch(256), 400 B, in a tf.function",
        "items/s",
        (graph_batches,),
        (graph_dataset,),
    ),
    "graph_writer": Row(
        "write 400 B in a tf.function loop", "items/s", (graph_writer,), (graph_insert,)
    ),
    "graph_writer_batch": Row(
        "the same, 16 environments", "items/s", (graph_writer_batch,), (graph_insert,)
    ),
    "graph_insert": _row("TFClient.insert of 400 B in a loop", "items/s", graph_insert),
    "graph_insert_batch": Row(
        "TFClient.insert_batch of 256", "items/s", (graph_insert_batch,), (graph_insert,)
    ),
    "graph_update": _row("sample 400 B and update it in a loop", "items/s", graph_update),
    "graph_update_batch": Row(
        "the same, 256 at a time", "items/s", (graph_update_batch,), (graph_update,)
    ),
    "push": _row("push 20 variables of 10 MB", "pushes/s", push_10MB),
    "push_large": _row("push 20 variables of 100 MB", "pushes/s", push_100MB),
    "pull": _row("pull 20 variables of 10 MB", "pulls/s", pull_10MB),
    "pull_large": _row("pull 20 variables of 100 MB", "pulls/s", pull_100MB),
    "pull_eight": _row("the same by 8 at once, 10 MB", "pulls/s", pull_10MB_eight),
    "pull_large_eight": _row("the same by 8 at once, 100 MB", "pulls/s", pull_100MB_eight),
}
