"""Every call that can block says what it waited for when its timeout runs out (the "silent wait" row)."""

import socket

import numpy as np
import pytest

import reverb_tf as reverb
from reverb_tf import errors
from tests.python_api import support

_TABLES = '[reverb.Table.queue("q", 1), reverb.Table.queue("other", 1)]'


def _timeout_text(call, expected) -> str:
    """The text of the error with which call(timeout) ends; longer if a slow server has not said its numbers."""
    for timeout in (0.2, 1, 10, 60):
        with pytest.raises(errors.DeadlineExceededError) as e:
            call(timeout)
        assert isinstance(e.value, TimeoutError)
        if all(part in str(e.value) for part in expected):
            break
    return str(e.value)


def _insert(client):
    client.insert([1], {"q": 1.0})
    return lambda timeout: client.insert([2], {"other": 1.0, "q": 1.0}, timeout=timeout)


def _sample(client):
    return lambda timeout: next(client.sample("q", timeout=timeout))


def _writer_with_items(client, n: int):
    client.insert([1], {"q": 1.0})
    writer = client.trajectory_writer(1)
    writer.append(1)
    for _ in range(n):
        writer.create_item("q", 1.0, writer.history[-1:])
    return writer


def _create_item(client):
    writer = _writer_with_items(client, 4096)
    return lambda timeout: writer.create_item("q", 1.0, writer.history[-1:], timeout=timeout)


def _flush(client):
    writer = _writer_with_items(client, 3)
    return lambda timeout: writer.flush(timeout=timeout)


def _flush_millis(client):
    writer = _writer_with_items(client, 3)
    return lambda timeout: writer.flush(timeout_ms=int(timeout * 1000))


def _end_episode(client):
    writer = _writer_with_items(client, 3)
    return lambda timeout: writer.end_episode(timeout=timeout)


def _append_batch(client):
    client.insert([1], {"q": 1.0})
    writer = client.trajectory_writer(1)
    writer.append_batch(np.zeros(4096), "q", 1.0)
    return lambda timeout: writer.append_batch(np.zeros(2), "q", 1.0, timeout=timeout)


def _step_writer(client, chunk_length: int):
    client.insert([1], {"q": 1.0})
    writer = client.writer(2, chunk_length=chunk_length, max_in_flight_items=3)
    for _ in range(3 * chunk_length):
        writer.append(1)
        if chunk_length == 1:
            writer.create_item("q", 1, 1.0)
    return writer


def _step_create_item(client):
    writer = _step_writer(client, 1)
    return lambda timeout: writer.create_item("q", 1, 1.0, timeout=timeout)


def _step_append(client):
    writer = _step_writer(client, 2)
    for _ in range(3):
        writer.create_item("q", 1, 1.0)
    writer.append(2)
    writer.create_item("q", 1, 1.0)
    return lambda timeout: writer.append(3, timeout=timeout)


def _step_flush(client):
    writer = _step_writer(client, 1)
    return lambda timeout: writer.flush(timeout=timeout)


_FULL = ["table 'q'", "1 of at most 1 items", "1 inserts * 1 samples per insert - 0 samples = 1"]

_WAITING = {
    "insert": (_insert, ["insert into table 'other', 'q'", "table 'other' of server", *_FULL]),
    "sample": (_sample, ["table 'q'", "0 of at most 1 items", "needs at least 1 items"]),
    "create_item": (_create_item, ["4096 unconfirmed items", *_FULL]),
    "flush": (_flush, ["3 unconfirmed items", *_FULL]),
    "flush with timeout_ms": (_flush_millis, ["3 unconfirmed items", *_FULL]),
    "end_episode": (_end_episode, ["3 unconfirmed items", *_FULL]),
    "append_batch": (_append_batch, ["4096 unconfirmed items", *_FULL]),
    "Writer.create_item": (_step_create_item, ["3 unconfirmed items", *_FULL]),
    "Writer.append": (_step_append, ["3 unconfirmed items", *_FULL]),
    "Writer.flush": (_step_flush, ["3 unconfirmed items", *_FULL]),
}


@pytest.mark.parametrize("name", _WAITING)
def test_waiting_for_a_limiter(serve, name):
    address = serve(_TABLES).address
    prepare, expected = _WAITING[name]
    expected = [*expected, f"server {address}"]
    text = _timeout_text(prepare(reverb.Client(address)), expected)
    for part in [*expected, "Timeout exceeded"]:
        assert part in text


def _flush_unsent(client, timeout):
    writer = client.trajectory_writer(1, validate_items=False)
    writer.append(1)
    writer.create_item("q", 1.0, writer.history[-1:])
    writer.flush(timeout=timeout)


_LIMITER = reverb.rate_limiters.MinSize(1)
_UNARY = {
    "server_info": (lambda c, t: c.server_info(t), ["server info"]),
    "insert": (lambda c, t: c.insert([1], {"q": 1.0}, timeout=t), ["table 'q'"]),
    "sample": (lambda c, t: next(c.sample("q", timeout=t)), ["table 'q'"]),
    "mutate_priorities": (
        lambda c, t: c.mutate_priorities("q", deletes=[1], timeout=t),
        ["MutatePriorities", "table 'q'"],
    ),
    "reset": (lambda c, t: c.reset("q", timeout=t), ["Reset", "table 'q'"]),
    "checkpoint": (lambda c, t: c.checkpoint(timeout=t), ["Checkpoint"]),
    "get": (lambda c, t: c.get("q", [1], timeout=t), ["GetItems", "table 'q'"]),
    "list_items": (
        lambda c, t: next(c.list_items("q", timeout=t)),
        ["ListItems", "table 'q'"],
    ),
    "delete": (lambda c, t: c.delete("q", [1], timeout=t), ["DeleteItems", "table 'q'"]),
    "set_rate_limiter": (
        lambda c, t: c.set_rate_limiter("q", _LIMITER, timeout=t),
        ["SetRateLimiter", "table 'q'"],
    ),
    "trajectory_writer": (lambda c, t: c.trajectory_writer(1, timeout=t), ["signatures"]),
    "writer": (lambda c, t: c.writer(1, timeout=t), ["signatures"]),
    "flush": (_flush_unsent, ["1 unconfirmed items", "table 'q'"]),
}


@pytest.mark.parametrize("name", _UNARY)
def test_waiting_for_an_absent_server(name):
    address = f"127.0.0.1:{support.dead_port()}"
    call, _ = _UNARY[name]
    client = reverb.Client(address)
    expected = [address, "cannot be reached", "refused"]
    text = _timeout_text(lambda timeout: call(client, timeout), expected)
    for part in expected:
        assert part in text.replace("Connection refused", "refused")


@pytest.mark.parametrize("name", _UNARY)
def test_waiting_for_a_server_that_says_nothing(name):
    call, expected = _UNARY[name]
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        client = reverb.Client(address)
        expected = [*expected, address]
        text = _timeout_text(lambda timeout: call(client, timeout), expected)
    for part in expected:
        assert part in text
