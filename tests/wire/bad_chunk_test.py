"""Malformed chunks end their stream with a status, and nothing else."""

from collections.abc import Callable

import grpc
import pytest

from reverb_tf.proto import schema_pb2
from tests.wire.support import (
    DT_INT64,
    DT_RESOURCE,
    Peer,
    make_chunk,
    make_request,
    snappy_literals,
)


def chunk_mutations() -> dict[str, Callable[[schema_pb2.ChunkData], None]]:
    def content(index: int, value: bytes):
        return lambda c: setattr(c.data.tensors[index], "tensor_content", value)

    def dim(index: int, size: int):
        return lambda c: setattr(c.data.tensors[0].tensor_shape.dim[index], "size", size)

    def add_dim(size: int):
        return lambda c: c.data.tensors[0].tensor_shape.dim.add(size=size)

    def dtype(value: int):
        return lambda c: setattr(c.data.tensors[0], "dtype", value)

    good = make_chunk().data.tensors[0].tensor_content
    mutations = {
        "no tensors": lambda c: c.ClearField("data"),
        "tensor count": lambda c: setattr(c, "data_tensors_len", 5),
        "range reversed": lambda c: setattr(c.sequence_range, "start", 9),
        "both data fields": lambda c: c.deprecated_data.add(dtype=DT_INT64),
        "empty snappy": content(0, b""),
        "snappy garbage": content(0, b"\x18" + b"\xfe\xff\xff" * 9),
        "snappy of another size": content(0, snappy_literals(b"12345678")),
        "snappy cut off": content(0, good[:-1]),
        "snappy with more behind": content(0, good + b"\x00a"),
        "snappy copy from nowhere": content(0, b"\x18\x01\x05" + good[1:]),
        "snappy declares 4 GiB": content(0, b"\xff\xff\xff\xff\x0f"),
        "snappy length without end": content(0, b"\xff" * 12),
        "no strings": content(1, b""),
        "strings cut off": content(1, b"\x01\x01\x01aa"),
        "string length huge": content(1, b"\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7fa"),
        "string lengths short": content(1, b"\x01\x01\x01aaaa"),
        "negative rows": dim(0, -3),
        "no rows": dim(0, 0),
        "rows beyond int32": dim(0, 2**31),
        "row counts differ": dim(0, 4),
        "dims overflow": add_dim(2**62),
        "dims huge": add_dim(2**40),
        "negative dim": add_dim(-1),
        "smallest dim": add_dim(-(2**63)),
        "scalar": lambda c: c.data.tensors[0].ClearField("tensor_shape"),
        "unknown rank": lambda c: setattr(c.data.tensors[0].tensor_shape, "unknown_rank", True),
        "values instead of content": lambda c: (
            c.data.tensors[0].ClearField("tensor_content"),
            c.data.tensors[0].int64_val.extend([1, 2, 3]),
        ),
        "too many string_val": lambda c: (
            c.data.tensors[1].ClearField("tensor_content"),
            c.data.tensors[1].string_val.extend([b"a"] * 4),
        ),
    }
    for value in (0, DT_RESOURCE, 21, 34, 101, -1, 2**31 - 1):
        mutations[f"dtype {value}"] = dtype(value)
    return mutations


@pytest.mark.parametrize("name", chunk_mutations())
def test_bad_chunk(peer: Peer, name: str):
    request = make_request()
    chunk_mutations()[name](request.chunks[0])
    code, text = peer.insert_error(request)
    assert code == grpc.StatusCode.INVALID_ARGUMENT, text
    assert "Chunk 1" in text
    # Alone, without the item, as well.
    request.ClearField("items")
    assert peer.insert_error(request)[0] == grpc.StatusCode.INVALID_ARGUMENT
