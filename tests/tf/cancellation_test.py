"""Every way in which something blocked on the graph side ends."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import cancellation

import reverb_tf as reverb
from tests.tf.support import (
    check_closed_session,
    dataset_of,
    uniform_table,
    wait_until_blocked,
    wait_until_table_waits,
)

v1 = tf.compat.v1


@pytest.fixture
def service(make_service):
    return make_service(uniform_table("dist"), reverb.Table.queue("queue", 1))


@pytest.fixture(params=["TimestepDataset", "TrajectoryDataset"])
def kind(request):
    return getattr(reverb, request.param)


def insert_op(service, table):
    return reverb.TFClient(service.address).insert(
        [tf.constant(1, tf.int64)], tf.constant([table]), tf.constant([1.0], tf.float64)
    )


def sample_op(service):
    return reverb.TFClient(service.address).sample("dist", [tf.int64]).data[0]


@pytest.mark.parametrize("workers", [1, 3])
def test_session_closed_while_get_next_is_blocked(service, kind, graph, in_thread, workers):
    dataset = dataset_of(service, kind=kind, num_workers_per_iterator=workers)
    check_closed_session(dataset, in_thread)


def test_session_closed_while_a_prefetched_get_next_is_blocked(service, kind, graph, in_thread):
    check_closed_session(dataset_of(service, kind=kind).batch(2).prefetch(1), in_thread)


def test_session_closed_while_a_sample_op_is_blocked(service, graph, in_thread):
    sample = sample_op(service)
    session = v1.Session()
    blocked = in_thread(lambda: session.run(sample))
    wait_until_blocked(blocked)
    session.close()
    with pytest.raises(tf.errors.CancelledError):
        blocked.result(timeout=10)


def test_a_cancelled_sample_takes_no_item(make_service, graph, in_thread):
    service = make_service(reverb.Table.queue("queue", 10))
    sample = reverb.TFClient(service.address).sample("queue", [tf.int64])
    session = v1.Session()
    blocked = in_thread(lambda: session.run(sample))
    wait_until_blocked(blocked)
    session.close()
    with pytest.raises(tf.errors.CancelledError):
        blocked.result(timeout=10)
    for i in range(3):
        service.client.insert([np.int64(i)], {"queue": 1.0})
    with v1.Session() as session:
        assert [session.run(sample).data[0] for _ in range(3)] == [0, 1, 2]


def test_session_closed_while_an_insert_op_is_blocked(service, graph, in_thread):
    insert = insert_op(service, "queue")
    session = v1.Session()
    session.run(insert)
    blocked = in_thread(lambda: session.run(insert))
    wait_until_blocked(blocked)
    session.close()
    with pytest.raises(tf.errors.CancelledError):
        blocked.result(timeout=10)


def test_run_timeout_of_a_blocked_sample(service, graph):
    sample = sample_op(service)
    with v1.Session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(sample, options=v1.RunOptions(timeout_in_ms=500))
        # The session goes on.
        service.client.insert([np.int64(4)], {"dist": 1.0})
        assert session.run(sample) == 4


def test_an_error_elsewhere_in_the_step_cancels_a_blocked_sample(service, graph):
    sample = sample_op(service)
    go = v1.placeholder(tf.int32)
    failing = tf.debugging.Assert(go > 0, ["stop"])
    with v1.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="stop"):
            session.run([sample, failing], {go: 0})


def test_a_cancelled_function_ends_a_blocked_sample(service, in_thread):
    client = reverb.TFClient(service.address)

    @tf.function
    def sample():
        return client.sample("dist", [tf.int64]).data[0]

    manager = cancellation.CancellationManager()
    cancelable = manager.get_cancelable_function(sample.get_concrete_function())
    blocked = in_thread(cancelable)
    wait_until_blocked(blocked)
    manager.start_cancel()
    with pytest.raises(tf.errors.CancelledError):
        blocked.result(timeout=10)
    service.client.insert([np.int64(4)], {"dist": 1.0})
    assert sample() == 4


def test_a_sample_of_a_step_that_is_already_cancelled(service):
    client = reverb.TFClient(service.address)
    manager = cancellation.CancellationManager()
    manager.start_cancel()

    @tf.function
    def sample():
        return client.sample("dist", [tf.int64]).data[0]

    with pytest.raises(tf.errors.CancelledError):
        manager.get_cancelable_function(sample.get_concrete_function())()


def test_server_stopped_while_a_sample_op_is_blocked(service, graph, in_thread):
    sample = sample_op(service)
    with v1.Session() as session:
        blocked = in_thread(lambda: session.run(sample))
        wait_until_table_waits(service.client, "dist")
        service.server.stop()
        with pytest.raises(tf.errors.UnavailableError, match="was stopped"):
            blocked.result(timeout=90)


def test_server_stopped_while_get_next_is_blocked(service, kind, in_thread):
    iterator = iter(dataset_of(service, kind=kind))
    blocked = in_thread(lambda: next(iterator))
    wait_until_table_waits(service.client, "dist")
    service.server.stop()
    with pytest.raises(tf.errors.UnavailableError, match="was stopped"):
        blocked.result(timeout=90)


def test_iterators_dropped_while_samples_are_buffered(service, kind):
    service.write("dist", range(10))
    for _ in range(5):
        iterator = iter(
            dataset_of(
                service,
                kind=kind,
                max_in_flight_samples_per_worker=100,
                num_workers_per_iterator=3,
            )
        )
        next(iterator)
        del iterator


def test_many_calls_in_flight_when_the_session_goes(service, graph, in_thread):
    """The client lives until its calls end."""
    samples = [sample_op(service) for _ in range(8)]
    session = v1.Session()
    blocked = in_thread(lambda: session.run(samples))
    wait_until_blocked(blocked)
    session.close()
    with pytest.raises(tf.errors.CancelledError):
        blocked.result(timeout=10)
