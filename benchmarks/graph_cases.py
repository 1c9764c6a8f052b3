"""TFClient in a loop inside one `tf.function`: batches of inserts, and sampling one item and updating it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks import tables
from benchmarks.bench import Bench, Figure

_INSERTED = "insert_400B"
_UPDATED = "graph_400B"
_BATCH = 256
# Rounds of the loop in one run of the function, so that Python takes no part.
_ROUNDS = 200


def _loop(bench: Bench, items: int, step: Callable) -> Iterator[Figure]:
    """Items a second of `step`, which is called with the number of the round and handles so many."""
    import tensorflow as tf

    @tf.function
    def run():
        for i in tf.range(_ROUNDS):
            step(i)

    def work() -> int:
        run()
        return _ROUNDS * items

    work()
    while True:
        yield bench.rate(work)


def graph_insert_batch(bench: Bench) -> Iterator[Figure]:
    """TFClient.insert_batch of 256 items, which waits until they are in the table."""
    import numpy as np
    import tensorflow as tf

    rows = tables.arrays("400B")
    values = tf.constant(np.stack([rows[i % len(rows)] for i in range(_BATCH)]))
    priorities = tf.ones([_BATCH], tf.float64)
    client = bench.reverb.TFClient(bench.address)
    return _loop(bench, _BATCH, lambda _: client.insert_batch([values], _INSERTED, priorities))


def graph_batches(bench: Bench) -> Iterator[Figure]:
    """ReverbDataset of batches of 256 items of 400 B, read in the graph, items a second."""
    tables.fill(bench.client(), "sample_400B", "400B")
    dataset = bench.reverb.ReverbDataset(bench.address, "sample_400B", _BATCH)
    iterator = iter(dataset)
    return _loop(bench, _BATCH, lambda _: next(iterator))


def graph_dataset(bench: Bench) -> Iterator[Figure]:
    """TrajectoryDataset with .batch(256), items of 400 B, read in the graph, items a second."""
    tables.fill(bench.client(), "sample_400B", "400B")
    dataset = bench.reverb.TrajectoryDataset.from_table_signature(
        bench.address, "sample_400B", max_in_flight_samples_per_worker=2 * _BATCH
    )
    iterator = iter(dataset.batch(_BATCH, drop_remainder=True))
    return _loop(bench, _BATCH, lambda _: next(iterator))


def graph_update(bench: Bench) -> Iterator[Figure]:
    """Samples one item, then sets its priority; steps a second."""
    import tensorflow as tf

    tables.fill(bench.client(), _UPDATED, "400B")
    client = bench.reverb.TFClient(bench.address)

    def step(i) -> None:
        sample = client.sample(_UPDATED, [tf.float32])
        priority = tf.cast(i % 7, tf.float64) + tf.reduce_max(
            tf.abs(tf.cast(sample.data[0], tf.float64))
        )
        client.update_priorities(_UPDATED, [sample.info.key], [priority])

    return _loop(bench, 1, step)


def graph_update_batch(bench: Bench) -> Iterator[Figure]:
    """The same for 256 items in one request each; items a second."""
    import tensorflow as tf

    tables.fill(bench.client(), _UPDATED, "400B")
    client = bench.reverb.TFClient(bench.address)

    def step(i) -> None:
        shapes = [[tables.FLOATS["400B"]]]
        sample = client.sample(_UPDATED, [tf.float32], data_shapes=shapes, num_samples=_BATCH)
        largest = tf.reduce_max(tf.abs(tf.cast(sample.data[0], tf.float64)), axis=1)
        client.update_priorities(_UPDATED, sample.info.key, tf.cast(i % 7, tf.float64) + largest)

    return _loop(bench, _BATCH, step)
