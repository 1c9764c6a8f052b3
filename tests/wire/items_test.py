"""GetItems, ListItems, DeleteItems, SetRateLimiter and Reset as an independent client sees them."""

import math

import grpc
import pytest

from reverb_tf.proto import reverb_service_pb2 as service_pb2
from tests.wire.support import SERVICE, TIMEOUT, Peer, make_request

_UNARY = {
    "ListItems": service_pb2.ListItemsResponse,
    "DeleteItems": service_pb2.DeleteItemsResponse,
    "SetRateLimiter": service_pb2.SetRateLimiterResponse,
    "Reset": service_pb2.ResetResponse,
}

# Bytes that are no message of the five: a cut varint, a cut table name, a table name that is no UTF-8, a key that is a
# float, a field of group type.
_MALFORMED = [
    b"\x10\xff",
    b"\x0a\x09q",
    b"\x0a\x02\xff\xfe",
    b"\x15\x00\x00",
    b"\x0b\x0a\x01q",
]


def _get(peer: Peer, request) -> list:
    """Entries of the answer."""
    call = peer.channel.unary_stream(
        SERVICE + "GetItems",
        request_serializer=lambda m: m if isinstance(m, bytes) else m.SerializeToString(),
        response_deserializer=service_pb2.SampleStreamResponse.FromString,
    )
    return [entry for r in call(request, timeout=TIMEOUT) for entry in r.entries]


def _call(peer: Peer, method: str, request):
    if method == "GetItems":
        return _get(peer, request)
    return peer.unary(method, request, _UNARY[method])


def _error(peer: Peer, method: str, request) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as error:
        _call(peer, method, request)
    return error.value.code(), error.value.details()


@pytest.mark.parametrize("method", ["GetItems", *_UNARY])
@pytest.mark.parametrize("message", _MALFORMED, ids=lambda m: m.hex())
def test_malformed_messages_are_refused(peer: Peer, method: str, message: bytes):
    expected = (grpc.StatusCode.INVALID_ARGUMENT, f"the message is not a {method}Request")
    assert _error(peer, method, message) == expected


@pytest.mark.parametrize("method", ["GetItems", *_UNARY])
def test_unknown_tables(peer: Peer, method: str):
    request = service_pb2.ListItemsRequest(table="nowhere")  # the table is field 1 of all of them
    expected = (grpc.StatusCode.NOT_FOUND, "Priority table nowhere was not found")
    assert _error(peer, method, request.SerializeToString()) == expected
    assert _error(peer, method, b"")[0] == grpc.StatusCode.NOT_FOUND


def test_get_list_and_delete(peer: Peer):
    for key in (11, 12):
        peer.insert(make_request(key, table="prioritized", priority=key))
    entries = _get(peer, service_pb2.GetItemsRequest(table="prioritized", keys=[12, 99, 11, 12]))
    assert [entry.info.item.key for entry in entries] == [12, 11, 12]
    assert all(entry.end_of_sequence for entry in entries)
    info = entries[0].info
    assert (info.item.priority, info.item.times_sampled, info.probability) == (12.0, 0, 0.0)
    assert info.item.table == "prioritized"
    assert [chunk.chunk_key for chunk in entries[0].data] == [12]

    request = service_pb2.ListItemsRequest(table="prioritized", max_items=1)
    keys = []
    while True:
        page = peer.unary("ListItems", request, service_pb2.ListItemsResponse)
        keys += [item.key for item in page.items]
        assert len(page.items) <= 1
        assert all(item.num_bytes > 0 and item.age_nanos >= 0 for item in page.items)
        if page.next == 0:
            break
        assert page.next > request.start
        request.start = page.next
    assert sorted(keys) == [11, 12]

    request = service_pb2.DeleteItemsRequest(table="prioritized", keys=[11, 11, 99, 12])
    response = peer.unary("DeleteItems", request, service_pb2.DeleteItemsResponse)
    assert response.num_deleted == 2
    assert peer.server_info()["prioritized"].current_size == 0


@pytest.mark.parametrize("max_items", [0, -1, -(2**31)])
def test_pages_without_room_are_refused(peer: Peer, max_items: int):
    request = service_pb2.ListItemsRequest(table="uniform", max_items=max_items)
    code, details = _error(peer, "ListItems", request)
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert str(max_items) in details


def test_pages_from_anywhere_end(peer: Peer):
    for start in (1, 2**31, 2**32, 2**64 - 1):
        request = service_pb2.ListItemsRequest(table="empty", start=start, max_items=2**31 - 1)
        response = peer.unary("ListItems", request, service_pb2.ListItemsResponse)
        assert (len(response.items), response.next) == (0, 0)


@pytest.mark.parametrize(
    "field, value",
    [
        ("samples_per_insert", 0.0),
        ("samples_per_insert", math.nan),
        ("samples_per_insert", math.inf),
        ("min_size_to_sample", 0),
        ("min_size_to_sample", -(2**63)),
        ("min_diff", math.nan),
        ("max_diff", math.nan),
        ("max_diff", -1.0),
    ],
)
def test_limiters_that_make_no_sense_change_nothing(peer: Peer, field: str, value: float):
    before = peer.server_info()["queue"].rate_limiter_info
    request = service_pb2.SetRateLimiterRequest(
        table="queue", samples_per_insert=1.0, min_size_to_sample=1, min_diff=0.0, max_diff=5.0
    )
    setattr(request, field, value)
    code, details = _error(peer, "SetRateLimiter", request)
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert "Rate limiter" in details
    assert peer.server_info()["queue"].rate_limiter_info == before


def test_set_rate_limiter(peer: Peer):
    request = service_pb2.SetRateLimiterRequest(
        table="other_queue", samples_per_insert=2.0, min_size_to_sample=3, min_diff=-1, max_diff=7
    )
    peer.unary("SetRateLimiter", request, service_pb2.SetRateLimiterResponse)
    info = peer.server_info()["other_queue"].rate_limiter_info
    assert (info.samples_per_insert, info.min_size_to_sample) == (2.0, 3)
    assert (info.min_diff, info.max_diff) == (-1.0, 7.0)
