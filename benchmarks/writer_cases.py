"""One-step items of 400 B, written by a loop inside one `tf.function`.

dm-reverb has no writer for graphs: there, `TFClient.insert` is what a loop can use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks import tables
from benchmarks.bench import Bench, Figure

_TABLE = "insert_400B"
_ENVIRONMENTS = 16
# Rounds of the loop in one run of the function, so that Python takes no part.
_ROUNDS = 1_000
_INSERT_ROUNDS = 200


def _loop(bench: Bench, rounds: int, items: int, write: Callable, flush=None) -> Iterator[Figure]:
    """Items a second of `write`, which is called with the number of the round and makes so many items."""
    import tensorflow as tf

    @tf.function
    def run():
        for i in tf.range(rounds):
            write(i)
        if flush is not None:
            flush()

    def work() -> int:
        run()
        return rounds * items

    work()
    while True:
        yield bench.rate(work)


def _values(environments: int | None):
    """Floats to write; `values[i % len]` for round i."""
    import numpy as np
    import tensorflow as tf

    arrays = tables.arrays("400B")
    if environments is not None:
        arrays = [np.stack([a] * environments) for a in arrays]
    return tf.constant(np.stack(arrays))


def _writer(bench: Bench, environments: int | None) -> Iterator[Figure]:
    import tensorflow as tf

    values = _values(environments)
    spec = tf.TensorSpec([tables.FLOATS["400B"]], tf.float32)
    writer = bench.reverb.TFClient(bench.address).trajectory_writer(
        spec, num_keep_alive_refs=1, batch_size=environments
    )

    def write(i) -> None:
        writer.append(values[i % values.shape[0]])
        writer.create_item(_TABLE, 1.0, num_timesteps=1)

    return _loop(bench, _ROUNDS, environments or 1, write, writer.flush)


def graph_writer(bench: Bench) -> Iterator[Figure]:
    """Append + create_item of a TFTrajectoryWriter, one flush for each 1,000."""
    return _writer(bench, None)


def graph_writer_batch(bench: Bench) -> Iterator[Figure]:
    """The same of 16 environments that are stepped together."""
    return _writer(bench, _ENVIRONMENTS)


def graph_insert(bench: Bench) -> Iterator[Figure]:
    """TFClient.insert, which waits until the item is in the table."""
    import tensorflow as tf

    values = _values(None)
    client = bench.reverb.TFClient(bench.address)

    def write(i) -> None:
        client.insert(
            [values[i % values.shape[0]]],
            tf.constant([_TABLE]),
            tf.constant([1.0], tf.float64),
        )

    return _loop(bench, _INSERT_ROUNDS, 1, write)
