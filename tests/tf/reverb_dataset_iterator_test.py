"""ReverbDataset: staleness, saving and restoring, cancellation, distribution."""

import subprocess
import sys
import time

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf.support import (
    as_list,
    check_closed_session,
    reverb_dataset_of,
    uniform_table,
    wait_until_table_waits,
)

v1 = tf.compat.v1


@pytest.fixture
def service(make_service):
    return make_service(uniform_table("dist"), reverb.Table.queue("queue", 100))


# Staleness.


@pytest.mark.parametrize("bound", [0, 1, 3, 20])
@pytest.mark.parametrize("workers", [1, 2])
def test_staleness_in_samples_bounds_what_is_in_flight(service, bound, workers):
    service.write("dist", range(50))
    # What follows would be read ahead by tf.data.
    dataset = reverb_dataset_of(
        service, batch_size=4, max_staleness=bound, num_workers=workers, max_in_flight=10
    ).map(lambda sample: sample.data["x"])
    for i, _ in zip(range(4, 44, 4), dataset, strict=False):
        assert i <= service.samples_taken("dist") <= i + min(bound, 10)


def test_nothing_is_picked_before_it_is_asked_for(service):
    """So priorities, and items, of the moment count."""
    iterator = iter(reverb_dataset_of(service, "queue", batch_size=2, max_staleness=0))
    service.write("queue", range(6))
    assert service.samples_taken("queue") == 0
    assert as_list(next(iterator).data["x"]) == [[0], [1]]
    assert service.samples_taken("queue") == 2
    service.client.reset("queue")
    service.write("queue", [7, 8])
    assert as_list(next(iterator).data["x"]) == [[7], [8]]


def test_samples_that_are_too_old_are_dropped(service):
    service.write("queue", range(60))
    dataset = reverb_dataset_of(
        service, "queue", batch_size=2, max_in_flight=20, max_staleness=2.0, max_samples=10
    )
    iterator = iter(dataset)
    assert as_list(next(iterator).data["x"]) == [[0], [1]]
    taken = service.samples_taken("queue")
    # Their age is what is tested, so time has to pass; no more are taken meanwhile.
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        assert service.samples_taken("queue") <= 22
    taken = service.samples_taken("queue")
    rest = [int(v) for e in iterator for v in e.data["x"][:, 0]]
    # Those that were in flight are lost, and do not count for max_samples.
    assert rest == list(range(taken, taken + 8))
    assert service.samples_taken("queue") == taken + 8


# Saving and restoring.


@pytest.mark.parametrize("options", [{}, {"max_staleness": 0}, {"num_workers": 2}])
@pytest.mark.parametrize("batch_size", [2, None])
def test_a_budget_goes_on_where_it_was(service, tmp_path, options, batch_size):
    service.write("dist", range(50))

    def make():
        return reverb_dataset_of(service, batch_size=batch_size, max_samples=10, **options)

    iterator = iter(make())
    for _ in range(2):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "checkpoint"))
    left = 3 if batch_size else 8
    assert len(list(iterator)) == left
    restored = iter(make())
    tf.train.Checkpoint(iterator=restored).restore(path).assert_consumed()
    assert len(list(restored)) == left
    # Also one that has been used, and one that had ended.
    tf.train.Checkpoint(iterator=iterator).restore(path)
    assert len(list(iterator)) == left
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "at the end"))
    tf.train.Checkpoint(iterator=restored).restore(path)
    assert list(restored) == []


@pytest.mark.parametrize("varying", ["error", "pad", "ragged"])
def test_a_restored_iterator_has_new_samples(service, tmp_path, varying):
    service.write("queue", range(20))
    dataset = reverb_dataset_of(
        service, "queue", batch_size=2, varying=varying, weights=0.5, max_staleness=0
    )
    iterator = iter(dataset)
    next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "checkpoint"))
    del iterator
    restored = iter(dataset)
    tf.train.Checkpoint(iterator=restored).restore(path)
    data = next(restored).data["x"]
    if varying == "ragged":
        data = data.to_tensor()
    assert as_list(data) == [[2], [3]]


def test_what_follows_can_be_saved_too(service, tmp_path):
    service.write("queue", range(20))
    dataset = reverb_dataset_of(service, "queue", batch_size=2, max_samples=12)
    dataset = dataset.map(lambda sample: sample.data["x"]).prefetch(2)
    iterator = iter(dataset)
    found = [int(v) for v in np.ravel(next(iterator))]
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "checkpoint"))
    del iterator
    restored = iter(dataset)
    tf.train.Checkpoint(iterator=restored).restore(path)
    found += [int(v) for element in restored for v in np.ravel(element)]
    assert len(found) == 12


# Cancellation.


@pytest.mark.parametrize("batch_size", [3, None])
@pytest.mark.parametrize("options", [{}, {"num_workers": 3}, {"max_staleness": 0}])
def test_session_closed_while_get_next_is_blocked(service, graph, in_thread, batch_size, options):
    service.write("queue", range(batch_size - 1 if batch_size else 0))
    dataset = reverb_dataset_of(service, "queue", batch_size=batch_size, **options)
    check_closed_session(dataset, in_thread)


def test_server_stopped_while_get_next_is_blocked(service, in_thread):
    iterator = iter(reverb_dataset_of(service, batch_size=2))
    blocked = in_thread(lambda: next(iterator))
    wait_until_table_waits(service.client, "dist")
    service.server.stop()
    with pytest.raises(tf.errors.UnavailableError, match="was stopped"):
        blocked.result(timeout=90)


def test_iterators_dropped_while_samples_are_buffered(service):
    service.write("dist", range(10))
    for workers in (1, 3):
        for _ in range(3):
            iterator = iter(
                reverb_dataset_of(service, batch_size=4, max_in_flight=100, num_workers=workers)
            )
            next(iterator)
            del iterator


def test_the_interpreter_exits_while_get_next_is_blocked():
    program = """
import threading
import tensorflow as tf
import reverb_tf as reverb
server = reverb.Server([reverb.Table.queue("queue", 10)])
for host in ("localhost", "0.0.0.0"):  # in the process, and through gRPC
    dataset = reverb.ReverbDataset(f"{host}:{server.port}", "queue", 2, dtypes=tf.int64, shapes=tf.TensorShape([None]))
    iterator = iter(dataset.prefetch(1))
    threading.Thread(target=lambda: next(iterator), daemon=True).start()
print("done")
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert "done" in result.stdout, result.stderr


# Distribution.


@pytest.fixture
def strategy():
    if len(tf.config.list_logical_devices("CPU")) < 4:
        pytest.skip("TensorFlow was started with fewer than four virtual CPUs")
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(4)])


def test_distribute_datasets_from_function(service, strategy):
    service.write("dist", range(10))
    distributed = strategy.distribute_datasets_from_function(
        lambda _: reverb_dataset_of(service, batch_size=3, max_samples=24, weights=0.5)
    )

    @tf.function
    def step(sample):
        return strategy.run(lambda s: s.data["x"], args=(sample,))

    steps = [strategy.experimental_local_results(step(sample)) for sample in distributed]
    assert [len(replicas) for replicas in steps] == [4, 4]
    assert all(value.shape == [3, 1] for replicas in steps for value in replicas)


@pytest.mark.parametrize("policy", ["AUTO", "DATA", "OFF"])
@pytest.mark.parametrize("remainder", [0, 2])
def test_distribute_dataset(service, strategy, policy, remainder):
    """A batch is split among the replicas."""
    service.write("dist", range(10))
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy[policy]
    dataset = reverb_dataset_of(service, batch_size=8, max_samples=16 + remainder)
    steps = list(strategy.experimental_distribute_dataset(dataset.with_options(options)))
    sizes = [
        [len(v) for v in strategy.experimental_local_results(sample.data["x"])] for sample in steps
    ]
    assert sizes[:2] == [[2] * 4] * 2
    assert sum(map(sum, sizes)) == 16 + remainder
