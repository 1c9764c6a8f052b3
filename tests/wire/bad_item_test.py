"""Malformed items and messages end their stream with a status, and nothing else."""

import math
from collections.abc import Callable

import grpc
import numpy as np
import pytest

from reverb_tf.proto import reverb_service_pb2 as service_pb2
from tests.wire.support import Peer, make_request, varint


def item_mutations() -> dict[str, tuple[Callable, grpc.StatusCode, str]]:
    invalid = grpc.StatusCode.INVALID_ARGUMENT

    def on_slice(**values):
        def mutate(request):
            for name, value in values.items():
                setattr(request.items[0].flat_trajectory.columns[0].chunk_slices[0], name, value)

        return mutate

    def on_item(**values):
        def mutate(request):
            for name, value in values.items():
                setattr(request.items[0], name, value)

        return mutate

    def two_dtypes(request):
        slices = request.items[0].flat_trajectory.columns[0].chunk_slices
        slices.add(chunk_key=1, length=1, index=1)

    def squeeze(request):
        request.items[0].flat_trajectory.columns[0].squeeze = True
        request.items[0].flat_trajectory.columns[0].chunk_slices[0].length = 2

    return {
        "unknown chunk": (
            on_slice(chunk_key=5),
            grpc.StatusCode.INTERNAL,
            "Could not find sequence chunk 5.",
        ),
        "slice too long": (on_slice(length=4), invalid, ""),
        "slice behind the end": (on_slice(offset=3), invalid, ""),
        "slice overflows": (on_slice(offset=2**31 - 1, length=2**31 - 1), invalid, ""),
        "slice before the start": (on_slice(offset=-1), invalid, ""),
        "slice empty": (on_slice(length=0), invalid, ""),
        "slice negative": (on_slice(length=-1), invalid, ""),
        "tensor index": (on_slice(index=2), invalid, ""),
        "tensor index negative": (on_slice(index=-1), invalid, ""),
        "two dtypes in a column": (two_dtypes, invalid, ""),
        "squeeze of two rows": (squeeze, invalid, ""),
        "no trajectory": (lambda r: r.items[0].ClearField("flat_trajectory"), invalid, ""),
        "no columns": (lambda r: r.items[0].flat_trajectory.ClearField("columns"), invalid, ""),
        "empty column": (lambda r: r.items[0].flat_trajectory.columns.add(), invalid, ""),
        "times sampled": (on_item(times_sampled=-1), invalid, "times_sampled"),
        "priority NaN": (on_item(priority=math.nan), invalid, "nan"),
        "unknown table": (
            on_item(table="nowhere"),
            grpc.StatusCode.NOT_FOUND,
            "Priority table nowhere was not found",
        ),
        "no table": (
            on_item(table=""),
            grpc.StatusCode.NOT_FOUND,
            "Priority table  was not found",
        ),
        "table name of a megabyte": (
            on_item(table="x" * (1 << 20)),
            grpc.StatusCode.NOT_FOUND,
            "Priority table xxx",
        ),
        "keeps an unknown chunk": (
            lambda r: r.keep_chunk_keys.extend([1, 2]),
            grpc.StatusCode.FAILED_PRECONDITION,
            "2",
        ),
        "keeps a chunk twice": (
            lambda r: r.keep_chunk_keys.extend([1, 1]),
            grpc.StatusCode.FAILED_PRECONDITION,
            "twice",
        ),
        "empty message": (lambda r: r.Clear(), invalid, "neither chunks nor items"),
        "keep list only": (
            lambda r: (r.Clear(), r.keep_chunk_keys.append(1)),
            invalid,
            "neither chunks nor items",
        ),
    }


@pytest.mark.parametrize("name", item_mutations())
def test_bad_item(peer: Peer, name: str):
    mutate, expected_code, expected_text = item_mutations()[name]
    request = make_request()
    mutate(request)
    code, text = peer.insert_error(request)
    assert code == expected_code, text
    assert expected_text in text


@pytest.mark.parametrize("priority", [math.nan, -1.0, -math.inf, math.inf])
def test_priorities_that_a_prioritized_table_cannot_hold(peer: Peer, priority: float):
    code, text = peer.insert_error(make_request(table="prioritized", priority=priority))
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert "prioritized" in text
    assert peer.server_info()["prioritized"].current_size == 0


def test_every_truncation(peer: Peer):
    request = make_request(table="empty")
    request.keep_chunk_keys.append(1)
    data = request.SerializeToString()
    codes = set()
    for n in range(len(data)):
        codes.add(peer.insert_error(data[:n])[0])
        if n % 50 == 0:
            peer.expect_healthy()
    # A cut between two fields leaves a whole message.
    assert codes == {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.OK}
    peer.unary("Reset", service_pb2.ResetRequest(table="empty"), service_pb2.ResetResponse)


def test_garbage(peer: Peer):
    random = np.random.default_rng(0)
    for n in range(60):
        data = random.bytes(1 + n * 3)
        assert peer.insert_error(b"\x0a\xff" + data)[0] != grpc.StatusCode.OK
        assert peer.sample_error(b"\x0a\xff\xff\xff\xff\x7f" + data)[0] != grpc.StatusCode.OK


def test_invalid_utf8(peer: Peer):
    for table in (b"\xff", b"\xc3(", b"\xed\xa0\x80"):
        item = b"\x12" + varint(len(table)) + table
        code, text = peer.insert_error(
            make_request().SerializeToString() + b"\x12" + varint(len(item)) + item
        )
        assert code == grpc.StatusCode.INVALID_ARGUMENT, text
        request = b"\x0a" + varint(len(table)) + table + b"\x10\x01"
        assert peer.sample_error(request)[0] == grpc.StatusCode.INVALID_ARGUMENT


def test_wrong_wire_types(peer: Peer):
    good = make_request(table="empty").SerializeToString()
    for bad in (b"\x08\x01", b"\x10\x01", b"\x1d\x00\x00\x00\x00", b"\x0b\x0c", b"\x00\x00"):
        assert peer.insert_error(good + bad)[0] == grpc.StatusCode.INVALID_ARGUMENT


def test_unknown_fields_are_ignored(peer: Peer):
    request = make_request(55, table="empty").SerializeToString()
    request += varint(2000 << 3 | 2) + varint(3) + b"abc" + varint(2001 << 3) + b"\x05"
    stream = peer.insert_stream()
    stream.send(request)
    assert list(stream.read().keys) == [55]
    peer.unary("Reset", service_pb2.ResetRequest(table="empty"), service_pb2.ResetResponse)
