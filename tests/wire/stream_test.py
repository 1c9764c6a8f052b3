"""The rules of the two streams, as an independent client sees them."""

import struct

import grpc
import numpy as np
import pytest

from reverb_tf.proto import reverb_service_pb2 as service_pb2
from tests.wire.support import (
    DT_INT32,
    DT_STRING,
    TIMEOUT_TEXT,
    Peer,
    add_item,
    add_tensor,
    make_chunk,
    make_request,
    snappy_literals,
    unsnappy_literals,
)


@pytest.mark.parametrize("num_samples", [0, -1, -(2**63)])
def test_bad_num_samples(peer: Peer, num_samples: int):
    code, text = peer.sample_error(
        service_pb2.SampleStreamRequest(table="uniform", num_samples=num_samples)
    )
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert str(num_samples) in text


def test_sample_of_an_unknown_table(peer: Peer):
    request = service_pb2.SampleStreamRequest(table="nowhere", num_samples=1)
    assert peer.sample_error(request) == (
        grpc.StatusCode.NOT_FOUND,
        "Priority table nowhere was not found",
    )


def test_sample_timeouts(peer: Peer):
    request = service_pb2.SampleStreamRequest(table="empty", num_samples=1)
    request.rate_limiter_timeout.milliseconds = 1
    code, text = peer.sample_error(request)
    assert code == grpc.StatusCode.DEADLINE_EXCEEDED
    assert TIMEOUT_TEXT in text
    request.rate_limiter_timeout.milliseconds = 10**15
    request.rate_limiter_timeout_nanos = 0
    code, text = peer.sample_error(request)
    assert code == grpc.StatusCode.DEADLINE_EXCEEDED
    assert TIMEOUT_TEXT in text


def test_round_trip(peer: Peer):
    request = service_pb2.InsertStreamRequest(chunks=[make_chunk(1), make_chunk(2, rows=4)])
    item = request.items.add(key=77, table="empty", priority=1.5)
    column = item.flat_trajectory.columns.add()
    column.chunk_slices.add(chunk_key=2, offset=1, length=3)
    column.chunk_slices.add(chunk_key=1, length=2)
    item.flat_trajectory.columns.add(squeeze=True).chunk_slices.add(
        chunk_key=1, offset=2, length=1, index=1
    )
    request.keep_chunk_keys.extend([2, 1])
    peer.insert(request)
    (entries,) = peer.samples("empty", 1)
    (entry,) = entries
    assert entry.info.item.key == 77
    assert entry.info.item.priority == 1.5
    assert entry.info.item.times_sampled == 1
    assert entry.info.item.inserted_at.seconds > 0
    assert entry.info.item.flat_trajectory == item.flat_trajectory
    assert (entry.info.probability, entry.info.table_size) == (1.0, 1)
    # In the order of first use, as they were sent.
    assert list(entry.data) == [make_chunk(2, rows=4), make_chunk(1)]
    rows = unsnappy_literals(entry.data[0].data.tensors[0].tensor_content)
    assert struct.unpack("<4q", rows) == (0, 1, 2, 3)
    peer.unary("Reset", service_pb2.ResetRequest(table="empty"), service_pb2.ResetResponse)


def test_old_forms_of_chunks(peer: Peer):
    chunk = make_chunk(3)
    del chunk.data.tensors[1]
    chunk.deprecated_data.extend(chunk.data.tensors)
    chunk.deprecated_data.add(dtype=DT_STRING, string_val=[b"x", b"", b"z"])
    chunk.deprecated_data[1].tensor_shape.dim.add(size=3)
    chunk.ClearField("data")
    request = service_pb2.InsertStreamRequest(chunks=[chunk])
    add_item(request, key=3, table="queue", chunk_key=3)
    peer.insert(request)
    ((entry,),) = peer.samples("queue", 1)
    assert entry.data[0].data.tensors[1].tensor_content == b"\x01\x00\x01xz"


def test_chunks_come_first_wherever_they_are(peer: Peer):
    message = make_request(8, table="queue")
    item = service_pb2.InsertStreamRequest(items=message.items)
    chunk = service_pb2.InsertStreamRequest(chunks=message.chunks)
    stream = peer.insert_stream()
    stream.send(item.SerializeToString() + chunk.SerializeToString())
    assert list(stream.read().keys) == [8]
    peer.samples("queue", 1)


def test_chunks_outlive_their_message_only_if_kept(peer: Peer):
    stream = peer.insert_stream()
    stream.send(service_pb2.InsertStreamRequest(chunks=[make_chunk(1)], keep_chunk_keys=[9, 9]))
    stream.send(service_pb2.InsertStreamRequest(chunks=[make_chunk(2)]))
    both = service_pb2.InsertStreamRequest(keep_chunk_keys=[2])
    add_item(both, key=1, table="uniform", chunk_key=1)
    add_item(both, key=2, table="uniform", chunk_key=2)
    stream.send(both)
    first = service_pb2.InsertStreamRequest()
    add_item(first, key=3, table="uniform", chunk_key=1)
    stream.send(first)
    code, text = stream.status()
    assert code == grpc.StatusCode.INTERNAL
    assert text == "Could not find sequence chunk 1."


def test_half_close_leaves_blocked_items_to_the_table(peer: Peer):
    stream = peer.insert_stream()
    for key in (1, 2):
        stream.send(make_request(key, table="queue"))
        assert list(stream.read().keys) == [key]
    stream.send(make_request(3, table="queue"))
    stream.half_close()
    assert stream.status()[0] == grpc.StatusCode.OK
    assert [s[0].info.item.key for s in peer.samples("queue", 3)] == [1, 2, 3]
    assert peer.server_info()["queue"].current_size == 0


def test_half_closed_sample_stream_still_delivers(peer: Peer):
    stream = peer.sample_stream()
    stream.send(service_pb2.SampleStreamRequest(table="queue", num_samples=2))
    stream.half_close()
    peer.insert(make_request(1, table="queue"))
    peer.insert(make_request(2, table="queue"))
    keys = []
    for response in stream.call:
        keys += [entry.info.item.key for entry in response.entries]
    assert keys == [1, 2]
    assert stream.call.code() == grpc.StatusCode.OK


def test_cancelled_sample_stream_takes_nothing(peer: Peer):
    before = peer.server_info()["other_queue"].rate_limiter_info.sample_stats.completed
    stream = peer.sample_stream()
    # The second request waits; the answer to the first shows that the server has read that far.
    peer.insert(make_request(1, table="uniform"))
    stream.send(service_pb2.SampleStreamRequest(table="uniform", num_samples=1))
    stream.read()
    stream.send(service_pb2.SampleStreamRequest(table="other_queue", num_samples=2))
    stream.call.cancel()
    stream.half_close()
    assert stream.status()[0] == grpc.StatusCode.CANCELLED
    # A request that comes later is served first in first out behind whatever was left waiting.
    peer.insert(make_request(1, table="other_queue"))
    peer.insert(make_request(2, table="other_queue"))
    info = peer.server_info()["other_queue"]
    assert info.rate_limiter_info.sample_stats.completed == before
    assert [s[0].info.item.key for s in peer.samples("other_queue", 2)] == [1, 2]


def test_updates_are_acknowledged_too(peer: Peer):
    stream = peer.insert_stream()
    stream.send(make_request(9, table="uniform"))
    assert list(stream.read().keys) == [9]
    stream.send(make_request(9, table="uniform", priority=4.0))
    assert list(stream.read().keys) == [9]


def test_requests_of_one_sample_stream_may_differ(peer: Peer):
    peer.insert(make_request(1, table="uniform"))
    peer.insert(make_request(2, table="healthy"))
    stream = peer.sample_stream()
    stream.send(service_pb2.SampleStreamRequest(table="uniform", num_samples=1))
    stream.send(service_pb2.SampleStreamRequest(table="healthy", num_samples=1))
    tables = [stream.read().entries[0].info.item.table for _ in range(2)]
    assert tables == ["uniform", "healthy"]


def test_large_samples_are_split(peer: Peer):
    raw = np.random.default_rng(0).bytes(1_600_000)
    request = service_pb2.InsertStreamRequest()
    item = request.items.add(key=1, table="queue", priority=1)
    column = item.flat_trajectory.columns.add()
    for key in range(1, 6):
        chunk = request.chunks.add(chunk_key=key)
        add_tensor(chunk, DT_INT32, [1, len(raw) // 4], snappy_literals(raw))
        column.chunk_slices.add(chunk_key=key, length=1)
    peer.insert(request)
    (entries,) = peer.samples("queue", 1)
    assert [len(entry.data) for entry in entries] == [2, 2, 1]
    assert [entry.HasField("info") for entry in entries] == [True, False, False]
    assert [entry.end_of_sequence for entry in entries] == [False, False, True]
