"""TFTrajectoryWriter: how what waits ends."""

import subprocess
import sys
import textwrap

import pytest
import tensorflow as tf
from tensorflow.python.eager import cancellation

import reverb_tf as reverb
from tests.python_api.support import RemoteServer
from tests.tf.support import contents, wait_until_blocked, wait_until_table_waits

v1 = tf.compat.v1

SPEC = tf.TensorSpec([], tf.int64)


@pytest.fixture
def service(make_service):
    """Its queue has room for one item."""
    return make_service(reverb.Table.queue("queue", 1), reverb.Table.queue("free", 100))


def fill(writer, values):
    for value in values:
        writer.append(value)
        writer.create_item("queue", 1.0, writer.history[-1:])


def function_of(method, *arguments):
    """A tf.function that calls the method and returns nothing, as an operation cannot be returned."""

    @tf.function
    def function():
        method(*arguments)

    return function


@pytest.mark.parametrize("op", ["flush", "end_episode"])
@pytest.mark.parametrize("batch_size", [None, 3])
def test_cancelled_step(service, in_thread, op, batch_size):
    client = reverb.TFClient(service.address)
    writer = client.trajectory_writer(SPEC, 1, batch_size=batch_size)
    fill(writer, [1, 2] if batch_size is None else [[1, 2, 3]])
    function = function_of(getattr(writer, op))
    manager = cancellation.CancellationManager()
    blocked = in_thread(manager.get_cancelable_function(function.get_concrete_function()))
    wait_until_blocked(blocked)
    manager.start_cancel()
    with pytest.raises(tf.errors.CancelledError):
        blocked.result(timeout=10)
    # The items stay queued, and the writer goes on.
    for _ in range(1 if batch_size is None else 2):
        next(service.client.sample("queue"))
    function()


def test_closed_session(service, graph, in_thread):
    writer = reverb.TFTrajectoryWriter(service.address, SPEC, 1)
    fill_one = writer.append(1)
    with tf.control_dependencies([fill_one]):
        key = writer.create_item("queue", 1.0, num_timesteps=1)
    flush = writer.flush()
    session = v1.Session()
    for _ in range(2):
        session.run(key)
    blocked = in_thread(lambda: session.run(flush))
    wait_until_blocked(blocked)
    session.close()
    with pytest.raises(tf.errors.CancelledError):
        blocked.result(timeout=10)


def test_an_op_that_waits_for_its_turn(service, in_thread):
    """It ends with its step, without having done anything; others go on."""
    writer = reverb.TFTrajectoryWriter(service.address, SPEC, 2)
    fill(writer, [1, 2])
    flush = in_thread(function_of(writer.flush))
    wait_until_blocked(flush)
    append = function_of(writer.append, 3)
    manager = cancellation.CancellationManager()
    waiting = in_thread(manager.get_cancelable_function(append.get_concrete_function()))
    later = in_thread(lambda: writer.append(4))
    wait_until_blocked(waiting)
    wait_until_blocked(later, 0.1)
    manager.start_cancel()
    with pytest.raises(tf.errors.CancelledError):
        waiting.result(timeout=10)
    assert flush.running and later.running
    next(service.client.sample("queue"))
    flush.result(timeout=10)
    later.result(timeout=10)
    writer.create_item("free", 1.0, num_timesteps=2)
    writer.flush(block_until_num_items=1)
    next(service.client.sample("queue"))
    writer.flush()
    assert [item[0].tolist() for item in contents(service, "free")] == [[2, 4]]


def test_back_pressure(service, in_thread):
    """create_item waits once 4,096 items are unconfirmed; the wait ends with the step."""
    writer = reverb.TFTrajectoryWriter(service.address, SPEC, 1)

    @tf.function
    def run():
        for i in tf.range(5_000, dtype=tf.int64):
            writer.append(i)
            writer.create_item("queue", 1.0, num_timesteps=1)

    manager = cancellation.CancellationManager()
    blocked = in_thread(manager.get_cancelable_function(run.get_concrete_function()))
    wait_until_blocked(blocked, 3)
    manager.start_cancel()
    with pytest.raises(tf.errors.CancelledError):
        blocked.result(timeout=10)


@pytest.mark.parametrize("batch_size", [None, 2])
def test_timeouts(service, batch_size):
    writer = reverb.TFTrajectoryWriter(service.address, SPEC, 1, batch_size=batch_size)
    fill(writer, [1, 2] if batch_size is None else [[1, 2]])
    for call in (writer.flush, writer.end_episode):
        with pytest.raises(tf.errors.DeadlineExceededError, match="'queue'.*1 of at most 1"):
            call(timeout=0.3)
        with pytest.raises(tf.errors.DeadlineExceededError, match="Timeout exceeded after 0 s"):
            call(timeout=0)
        with pytest.raises(ValueError, match="timeout must be >= 0"):
            call(timeout=-1)
    next(service.client.sample("queue"))
    writer.end_episode(timeout=10)


def test_timeout_of_create_item(service):
    writer = reverb.TFTrajectoryWriter(service.address, SPEC, 1)
    writer.append(1)
    with pytest.raises(tf.errors.DeadlineExceededError, match="CreateItem waits.*'queue'"):
        for _ in range(5_000):
            writer.create_item("queue", 1.0, num_timesteps=1, timeout=0.3)


def test_close_ends_what_waits(service, in_thread):
    writer = reverb.TFTrajectoryWriter(service.address, SPEC, 1)
    fill(writer, [1, 2])
    blocked = in_thread(function_of(writer.flush))
    wait_until_blocked(blocked)
    writer.close()
    with pytest.raises(tf.errors.CancelledError, match="closed"):
        blocked.result(timeout=10)
    for call in (
        lambda: writer.append(1),
        writer.flush,
        writer.end_episode,
        lambda: fill(writer, [1]),
    ):
        with pytest.raises(tf.errors.CancelledError, match="closed"):
            call()
    writer.close()


@pytest.mark.parametrize("batch_size", [None, 2])
def test_stopped_server(service, in_thread, batch_size):
    writer = reverb.TFTrajectoryWriter(service.address, SPEC, 1, batch_size=batch_size)
    fill(writer, [1, 2] if batch_size is None else [[1, 2]])
    blocked = in_thread(function_of(writer.flush))
    wait_until_table_waits(service.client, "queue")
    service.server.stop()
    # A successor of the server is not waited for as long as for a lost one.
    with pytest.raises(tf.errors.UnavailableError, match="was stopped"):
        blocked.result(timeout=30)
    with pytest.raises(tf.errors.UnavailableError, match="was stopped"):
        writer.append(1 if batch_size is None else [1, 2])


@pytest.mark.parametrize("batch_size", [None, 2])
def test_killed_server(in_thread, batch_size):
    server = RemoteServer('[reverb.Table.queue("queue", 1)]')
    writer = reverb.TFTrajectoryWriter(server.address, SPEC, 1, batch_size=batch_size, patience=0.5)
    fill(writer, [1, 2] if batch_size is None else [[1, 2]])
    blocked = in_thread(function_of(writer.flush))
    wait_until_blocked(blocked)
    server.kill()
    with pytest.raises(tf.errors.UnavailableError, match=server.address):
        blocked.result(timeout=30)
    with pytest.raises(tf.errors.UnavailableError, match=server.address):
        writer.append(1 if batch_size is None else [1, 2])


def test_absent_server():
    address = "127.0.0.1:1"
    writer = reverb.TFTrajectoryWriter(address, SPEC, 1, patience=0.2)
    writer.append(1)
    with pytest.raises(tf.errors.UnavailableError, match=address):
        writer.create_item("t", 1.0, num_timesteps=1)
    unchecked = reverb.TFTrajectoryWriter(address, SPEC, 1, patience=0.2, validate_items=False)
    unchecked.append(1)
    unchecked.create_item("t", 1.0, num_timesteps=1)
    with pytest.raises(tf.errors.UnavailableError, match=address):
        unchecked.flush()


def test_destroyed_resource(service, in_thread):
    writer = reverb.TFTrajectoryWriter(service.address, SPEC, 1)
    handle = writer._handle
    fill(writer, [1, 2])
    blocked = in_thread(function_of(writer.flush))
    wait_until_blocked(blocked)
    tf.raw_ops.DestroyResourceOp(resource=handle)
    with pytest.raises(tf.errors.NotFoundError):
        writer.append(1)
    # What is in flight ends first.
    next(service.client.sample("queue"))
    blocked.result(timeout=10)


def test_a_dropped_writer_lets_go_of_its_resource(service):
    writer = reverb.TFTrajectoryWriter(service.address, SPEC, 1)
    handle = writer._handle
    del writer
    with pytest.raises(tf.errors.NotFoundError):
        tf.raw_ops.DestroyResourceOp(resource=handle, ignore_lookup_error=False)


@pytest.mark.parametrize("how", ["flush()", "append(1)", "close()"])
def test_the_interpreter_exits(service, how):
    program = f"""
        import os
        import tensorflow as tf
        import reverb_tf
        writer = reverb_tf.TFTrajectoryWriter("{service.address}", tf.TensorSpec([], tf.int64), 1)
        writer.append(1)
        writer.create_item("free", 1.0, num_timesteps=1)
        writer.{how}
        print("at the end", flush=True)
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (result.returncode, result.stdout) == (0, "at the end\n"), result.stderr[-3000:]
