"""StructuredWriter that waits, is dropped, forked or used by several threads."""

import gc
import logging

import pytest

import reverb_tf as reverb
from reverb_tf import errors
from tests.python_api import support
from tests.python_api.structured_steps import GOOD, REF, TABLES, config, items, step


@pytest.fixture
def client(serve):
    return reverb.Client(serve(TABLES).address)


@pytest.fixture
def full_client(serve):
    """Of a server whose queue has room for one item."""
    return reverb.Client(serve('[reverb.Table.queue("a", 1)]').address)


def test_timeouts(full_client):
    writer = full_client.structured_writer([GOOD])
    for i in range(3):
        writer.append(step(i))
    for call in (writer.flush, writer.end_episode):
        with pytest.raises(reverb.DeadlineExceededError, match="Timeout exceeded.*'a'"):
            call(timeout_ms=1)
        with pytest.raises(reverb.DeadlineExceededError):
            call(timeout_ms=0)
        with pytest.raises(reverb.DeadlineExceededError):
            call(timeout=0.001)
        with pytest.raises(ValueError, match="timeout_ms"):
            call(timeout_ms=-1)
        with pytest.raises(ValueError, match="only one"):
            call(timeout_ms=1, timeout=1)
    with pytest.raises(ValueError, match="block_until_num_items"):
        writer.flush(-1)
    taken = full_client.sample("a", 3, emit_timesteps=False, timeout=support.PATIENCE)
    assert [sample.data[0] for sample in taken] == [0, 1, 2]
    writer.end_episode(timeout=support.PATIENCE)


def test_shutdown_a_dropped_writer_of_a_blocked_table_ends_soon_and_says_so(serve):
    # Dropped in a process of its own, where another thread goes on while this one waits.
    address = serve('[reverb.Table.queue("a", 1)]').address
    done = support.run_script(
        """
        import sys, threading
        import reverb_tf as reverb
        ref = reverb.structured.create_reference_step(None)
        config = reverb.structured.create_config(ref[-1], "a")
        writer = reverb.Client(sys.argv[1]).structured_writer([config])
        for i in range(3):
            writer.append(i)
        ended = threading.Event()
        ticks = []
        def tick():
            while not ended.wait(0.01):
                ticks.append(1)
        thread = threading.Thread(target=tick)
        thread.start()
        del writer
        ended.set()
        thread.join()
        print(len(ticks) > 3)
        """,
        address,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True"]
    assert "lost" in done.stderr and "'a'" in done.stderr


def test_processes_a_forked_child_refuses_calls_and_drops_the_writer_at_once(serve):
    done = support.run_script(
        """
        import os, sys, warnings
        import reverb_tf as reverb
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12, about fork
        ref = reverb.structured.create_reference_step(None)
        config = reverb.structured.create_config(ref[-1], "a")
        client = reverb.Client(sys.argv[1])
        writer = client.structured_writer([config])
        writer.append(1)
        child = os.fork()
        if child == 0:
            calls = (
                lambda: writer.append(2),
                writer.flush,
                writer.end_episode,
                lambda: client.structured_writer([config]),
            )
            for call in calls:
                try:
                    call()
                except reverb.errors.FailedPreconditionError as e:
                    print("spawn" in str(e))
            del writer
            sys.stdout.flush()
            os._exit(0)
        print(os.waitpid(child, 0)[1])
        writer.flush()
        print(client.server_info()["a"].current_size)
        """,
        serve(TABLES).address,
    )
    assert done.stdout.split() == ["True"] * 4 + ["0", "1"]
    assert done.stderr == ""


def test_one_thread_at_a_time(full_client):
    writer = full_client.structured_writer([GOOD])
    for i in range(3):
        writer.append(step(i))

    def flush():
        while refuses_threads(writer.flush):
            pass

    waiting = support.Call(flush)
    while not refuses_threads(lambda: writer.flush(timeout=0)):
        pass
    samples = full_client.sample("a", 3, emit_timesteps=False, timeout=support.PATIENCE)
    assert [sample.data[0] for sample in samples] == [0, 1, 2]
    waiting.result()
    assert not refuses_threads(lambda: writer.append(step(3)))


def refuses_threads(call):
    """Whether the call is refused because another thread is inside one."""
    try:
        call()
    except errors.FailedPreconditionError as e:
        assert "Another thread" in str(e)
        return True
    except errors.DeadlineExceededError:
        pass
    return False


def test_an_append_that_may_not_wait_says_so(full_client):
    writer = full_client.structured_writer([GOOD])
    with pytest.raises(reverb.DeadlineExceededError, match="'a'"):
        for i in range(100_000):
            writer.append(step(i), timeout=0)


def test_lost_data_a_dropped_writer_flushes(client):
    writer = client.structured_writer([config(REF["a"][-2:])])
    for i in range(4):
        writer.append(step(i))
    del writer
    gc.collect()
    assert [columns for _, columns in items(client)] == [[[0, 1]], [[1, 2]], [[2, 3]]]


def test_with_flushes_and_keeps_the_exception(client, full_client, caplog):
    with client.structured_writer([GOOD]) as writer:
        writer.append(step(0))
    assert [columns for _, columns in items(client)] == [[0]]
    with caplog.at_level(logging.WARNING, "reverb_tf"), pytest.raises(KeyError):
        with full_client.structured_writer([GOOD]) as writer:
            writer.append(step(0))
            writer.append(step(1))
            raise KeyError
    assert "Items may be lost" in caplog.text


def test_native_method_names(client):
    native = client._client.NewStructuredWriter([GOOD.SerializeToString()])
    native.AppendPartial([1, None, None, None])
    assert native.step_is_open
    native.Append([None, 2.0, None, None])
    native.Flush(0, int(1000 * support.PATIENCE))
    native.EndEpisode(True)
    assert [columns for _, columns in items(client)] == [[1]]
    with pytest.raises(TypeError, match="serialized"):
        client._client.NewStructuredWriter([GOOD])
