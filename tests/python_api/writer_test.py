"""The legacy Writer against servers of this process and over gRPC."""

import gc
import threading

import numpy as np
import pytest

import reverb_tf as reverb
from reverb_tf import errors
from tests.python_api import support

_TABLES = """[
    reverb.Table.queue("q", 1000),
    reverb.Table.queue("one", 1),
    reverb.Table("capped", reverb.selectors.Uniform(), reverb.selectors.Fifo(), 1000, reverb.rate_limiters.MinSize(1)),
    reverb.Table("step", reverb.selectors.Fifo(), reverb.selectors.Fifo(), 1000, reverb.rate_limiters.MinSize(1),
                 signature=reverb.TensorSpec((2,), np.float32)),
    reverb.Table("sequence", reverb.selectors.Fifo(), reverb.selectors.Fifo(), 1000, reverb.rate_limiters.MinSize(1),
                 signature=reverb.TensorSpec((3, 2), np.float32)),
]"""


@pytest.fixture
def client(serve):
    return reverb.Client(serve(_TABLES).address)


@pytest.mark.parametrize("chunk_length", [1, 2, 3, 4])
def test_items_over_the_newest_steps(client, chunk_length):
    with client.writer(4, chunk_length=chunk_length) as writer:
        for i in range(10):
            writer.append({"b": i, "a": [np.full(2, 10 * i)]})
            writer.create_item("q", min(i + 1, 4), 1.0 + i)
    samples = list(client.sample("q", 10, emit_timesteps=False))
    for i, sample in enumerate(samples):
        steps = list(range(max(0, i - 3), i + 1))
        assert sample.data[0].tolist() == [[10 * step] * 2 for step in steps]
        assert sample.data[1].tolist() == steps
        assert sample.info.priority == 1.0 + i


def test_create_item_returns_the_key(client):
    with client.writer(1) as writer:
        writer.append(1)
        keys = [writer.create_item("q", 1, 1.0) for _ in range(2)]
        writer.append(2)
        keys.append(writer.create_item("q", 1, 1.0))
    samples = client.sample("q", 3, emit_timesteps=False)
    assert [sample.info.key for sample in samples] == keys


def test_timesteps_of_a_sequence(client):
    with client.writer(3) as writer:
        writer.append_sequence({"x": np.arange(3), "y": np.arange(6.0).reshape(3, 2)})
        writer.create_item("q", 3, 1.0)
    (steps,) = client.sample("q")
    assert [step.data[0].tolist() for step in steps] == [0, 1, 2]
    assert [step.data[1].tolist() for step in steps] == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize(
    "sequence, text",
    [
        ([], "no arrays"),
        ({"a": np.zeros(2), "b": np.zeros(3)}, "leading axis"),
        ({"a": np.zeros(2), "b": 1}, "scalar"),
        (3, "scalar"),
    ],
    ids=repr,
)
def test_sequences_that_are_refused(client, sequence, text):
    with client.writer(3, chunk_length=3) as writer:
        with pytest.raises(ValueError, match=text):
            writer.append_sequence(sequence)
        with pytest.raises(ValueError, match="only 0"):
            writer.create_item("q", 1, 1.0)


@pytest.mark.parametrize(
    "arguments",
    [
        {"max_sequence_length": 0},
        {"max_sequence_length": 2, "chunk_length": 3},
        {"max_sequence_length": 2, "chunk_length": 0},
        {"max_sequence_length": 2, "max_in_flight_items": 0},
    ],
    ids=repr,
)
def test_arguments_are_checked(client, arguments):
    with pytest.raises(ValueError):
        client.writer(**arguments)


def test_any_limit_of_items_in_flight(client):
    for limit in (1, None):
        with client.writer(1, max_in_flight_items=limit) as writer:
            for i in range(3):
                writer.append(i)
                writer.create_item("q", 1, 1.0)
        assert support.take(client, count=3) == [[[0]], [[1]], [[2]]]


def test_a_changed_shape_is_refused_inside_a_chunk_only(client):
    with client.writer(4, chunk_length=2) as writer:
        writer.append([np.zeros(2)])
        for bad in ([np.zeros(3)], [np.zeros(2, np.float32)], [np.zeros(2), 1]):
            with pytest.raises(ValueError):
                writer.append(bad)
        writer.append([np.ones(2)])
        writer.create_item("q", 2, 1.0)
        writer.append([np.zeros(3)])
        writer.create_item("q", 1, 1.0)
        with pytest.raises(ValueError, match="have changed"):
            writer.create_item("q", 2, 1.0)
    assert support.take(client, count=2) == [[[[0, 0], [1, 1]]], [[[0, 0, 0]]]]


def test_create_item_refuses(client):
    with client.writer(2) as writer:
        writer.append(1)
        writer.append(2)
        writer.append(3)
        for table, steps, priority, error in [
            ("q", 0, 1.0, ValueError),
            ("q", 3, 1.0, ValueError),
            ("q", 1, float("nan"), ValueError),
            ("nowhere", 1, 1.0, ValueError),
            ("step", 1, 1.0, ValueError),
            (3, 1, 1.0, TypeError),
            ("q", 1, "high", TypeError),
            ("q", 1.5, 1.0, TypeError),
        ]:
            with pytest.raises(error):
                writer.create_item(table, steps, priority)


def test_signatures_of_steps_and_of_sequences(client):
    with client.writer(3) as writer:
        for _ in range(3):
            writer.append(np.zeros(2, np.float32))
        for steps in (1, 2, 3):
            writer.create_item("step", steps, 1.0)
        writer.create_item("sequence", 3, 1.0)
        with pytest.raises(ValueError, match="'sequence'"):
            writer.create_item("sequence", 2, 1.0)


def test_three_dtypes_through_one_queue(client):
    rows = [np.int64(3), np.float32([1, 2]), np.array(["x", "y"], object)]
    with client.writer(1) as writer:
        for row in rows:
            writer.append([row])
            writer.create_item("q", 1, 1.0)
    got = [sample.data[0] for sample in client.sample("q", 3, emit_timesteps=False)]
    assert [x.dtype for x in got] == [np.int64, np.float32, object]
    assert [x.tolist() for x in got] == [[3], [[1.0, 2.0]], [[b"x", b"y"]]]


def test_delta_encoding(client):
    rows = np.random.default_rng(0).integers(-(2**63), 2**63 - 1, (5, 7))
    with client.writer(5, delta_encoded=True) as writer:
        writer.append_sequence(
            [rows, rows.astype(np.uint8), rows.astype(np.float32), rows[:, 0], rows % 2 == 0]
        )
        writer.create_item("q", 4, 1.0)
    (sample,) = client.sample("q", emit_timesteps=False)
    for got, expected in zip(
        sample.data,
        [rows, rows.astype(np.uint8), rows.astype(np.float32), rows[:, 0], rows % 2 == 0],
        strict=True,
    ):
        np.testing.assert_array_equal(got, expected[1:])


def test_flush_confirms(client):
    writer = client.writer(10)
    writer.append(1)
    writer.create_item("q", 1, 1.0)
    writer.flush()
    assert client.server_info()["q"].current_size == 1
    writer.append(2)
    writer.create_item("q", 2, 1.0)
    writer.close()
    assert support.take(client, count=2) == [[[1]], [[1, 2]]]


def fill(writer, items, table="one"):
    for i in range(items):
        writer.append(i)
        writer.create_item(table, 1, 1.0)


def test_lost_data_close_is_a_barrier(client):
    writer = client.writer(1)
    fill(writer, 3)
    closing = support.Call(writer.close)
    assert support.take(client, "one", 3) == [[[0]], [[1]], [[2]]]
    closing.result()
    assert "closed: True" in repr(writer)


def test_lost_data_close_says_what_was_not_confirmed(client):
    writer = client.writer(1)
    fill(writer, 4)
    with pytest.raises(errors.DeadlineExceededError, match="items were not confirmed.*'one'"):
        writer.close(timeout=0.01)
    with pytest.raises(ValueError):
        writer.close()


def test_silent_wait_every_wait_has_a_timeout(client):
    writer = client.writer(1, max_in_flight_items=2)
    fill(writer, 3)  # One of them is in the table.
    writer.append(3)
    for wait in (
        lambda: [writer.create_item("one", 1, 1.0, timeout=0.01) for _ in range(2)],
        lambda: writer.flush(timeout=0.01),
    ):
        with pytest.raises(errors.DeadlineExceededError, match="'one'"):
            wait()
    with pytest.raises(ValueError):
        writer.flush(timeout=-1)


def test_silent_wait_append_that_completes_a_chunk_has_a_timeout(client):
    writer = client.writer(2, chunk_length=2, max_in_flight_items=1)
    for i in range(3):
        writer.append(i)
        writer.create_item("one", 1, 1.0, timeout=support.PATIENCE)
    with pytest.raises(errors.DeadlineExceededError, match="'one'"):
        writer.append(3, timeout=0.01)


def test_lost_exception_leaving_a_with_block_while_the_table_is_full(client):
    with pytest.raises(ZeroDivisionError):
        with client.writer(1) as writer:
            fill(writer, 4)
            raise ZeroDivisionError
    with pytest.raises(ValueError):
        writer.close()


def test_an_exception_in_a_with_block_loses_no_items(client):
    with pytest.raises(ZeroDivisionError):
        with client.writer(3) as writer:
            fill(writer, 2, "q")
            raise ZeroDivisionError
    assert support.take(client, count=2) == [[[0]], [[1]]]


def test_a_dropped_writer_sends_what_is_pending(client):
    writer = client.writer(3)
    fill(writer, 2, "q")
    del writer
    gc.collect()
    assert support.take(client, count=2) == [[[0]], [[1]]]


def test_a_dropped_writer_does_not_hang(client, caplog):
    writer = client.writer(1)
    fill(writer, 4)
    del writer
    gc.collect()
    assert "dropped without close()" in caplog.text


def test_a_forked_child_drops_its_copy_in_silence():
    result = support.run_script(
        """
        import os, warnings
        import reverb_tf as reverb
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12, about fork
        server = reverb.Server([reverb.Table.queue("q", 10)], host="127.0.0.1")
        client = server.localhost_client()
        writer = client.writer(2)
        writer.append(1)
        writer.create_item("q", 1, 1.0)
        child = os.fork()
        if child == 0:
            try:
                writer.append(2)
            except RuntimeError:
                print("refused", flush=True)
            del writer
            os._exit(0)
        os.waitpid(child, 0)
        writer.close()
        print(client.server_info()["q"].current_size)
        server.stop()
        """
    )
    assert (result.returncode, result.stdout.split(), result.stderr) == (0, ["refused", "1"], "")


def test_closed_writers_refuse(client):
    writer = client.writer(1)
    writer.append(1)
    writer.close()
    for call in (
        lambda: writer.append(1),
        lambda: writer.append_sequence([[1]]),
        lambda: writer.create_item("q", 1, 1.0),
        writer.flush,
    ):
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(ValueError):
        writer.close()
    with pytest.raises(ValueError):
        with writer:
            pass


def test_close_in_a_with_block(client):
    with client.writer(1) as writer:
        fill(writer, 1, "q")
        writer.close()
    assert support.take(client) == [[[0]]]


def test_repr(client):
    writer = client.writer(5, chunk_length=2)
    assert repr(writer) == (
        "Writer(chunk_length=2, max_timesteps=5, delta_encoded=False, max_in_flight_items=25), closed: False"
    )


def test_dead_server_close_without_retries():
    server = support.RemoteServer('[reverb.Table.queue("one", 1)]')
    writer = reverb.Client(server.address).writer(1)
    fill(writer, 4)
    server.kill()
    with pytest.raises(errors.UnavailableError, match="items were not confirmed"):
        writer.close(retry_on_unavailable=False)


def test_64_threads_with_writers_of_one_client(client):
    def write(number):
        writer = client.writer(2)
        for i in range(10):
            writer.append([np.full((2, 3), 100 * number + i)])
            writer.create_item("q", 1, 1.0)
        writer.flush()
        writer.close()

    threads = [threading.Thread(target=write, args=(i,)) for i in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.server_info()["q"].current_size == 640
    got = sorted(column[0][0][0] for (column,) in support.take(client, count=640))
    assert got == [100 * number + i for number in range(64) for i in range(10)]


def test_threads_with_writers_in_scopes(client):
    def write():
        with client.writer(2) as writer:
            for i in range(256):
                writer.append([i, np.zeros(4)])
                writer.create_item("capped", 1, 1.0)

    threads = [threading.Thread(target=write) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.server_info()["capped"].current_size == 1000


def test_two_threads_in_one_writer_are_told(client):
    writer = client.writer(1)
    fill(writer, 3)
    flushing = support.Call(writer.flush)
    seen = None
    while seen is None:  # until the other thread is inside
        try:
            writer.flush(timeout=0)
        except errors.FailedPreconditionError as e:
            seen = e
        except errors.DeadlineExceededError:
            pass
    assert "thread" in str(seen)
    assert support.take(client, "one", 3) == [[[0]], [[1]], [[2]]]
    flushing.result()


def test_names():
    assert reverb.Writer is reverb.client.Writer is reverb.writer.Writer
