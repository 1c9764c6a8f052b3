"""The protocol as an independent client sees it: plain grpcio, generated messages, a snappy encoder of its own.

Every malformed message must end its own stream with a status, and nothing else: after each, a client that does
everything right is served by the same server.
"""

import itertools
import math
import queue
import struct
from collections.abc import Callable, Iterator

import grpc
import numpy as np
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

import reverb_tf
from reverb_tf.proto import reverb_service_pb2 as service_pb2
from reverb_tf.proto import schema_pb2

SERVICE = "/deepmind.reverb.ReverbService/"
TIMEOUT = 30.0
UNLIMITED = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
TIMEOUT_TEXT = "Rate Limiter: Timeout exceeded before the right to insert was acquired."

DT_INT32, DT_STRING, DT_INT64, DT_RESOURCE = 3, 7, 9, 20


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def snappy_literals(raw: bytes, piece: int = 60) -> bytes:
    """A raw snappy block of literals of at most 60 bytes."""
    out = bytearray(varint(len(raw)))
    for i in range(0, len(raw), piece):
        part = raw[i : i + piece]
        out.append((len(part) - 1) << 2)
        out += part
    return bytes(out)


def unsnappy_literals(block: bytes) -> bytes:
    """Decodes a block that has literals only."""
    position, length, shift = 0, 0, 0
    while True:
        byte = block[position]
        length |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            break
    out = bytearray()
    while position < len(block):
        tag = block[position]
        assert tag & 3 == 0, "not a literal"
        size, position = tag >> 2, position + 1
        if size >= 60:
            extra = size - 59
            size = int.from_bytes(block[position : position + extra], "little")
            position += extra
        out += block[position : position + size + 1]
        position += size + 1
    assert len(out) == length
    return bytes(out)


def add_tensor(chunk: schema_pb2.ChunkData, dtype: int, shape: list[int], content: bytes) -> None:
    tensor = chunk.data.tensors.add(dtype=dtype, tensor_content=content)
    for dim in shape:
        tensor.tensor_shape.dim.add(size=dim)


def make_chunk(key: int = 1, rows: int = 3) -> schema_pb2.ChunkData:
    """Rows 0, 1, 2, ... of an int64 scalar column, and "a" in a string column."""
    chunk = schema_pb2.ChunkData(chunk_key=key, data_tensors_len=2)
    chunk.sequence_range.episode_id = 7
    chunk.sequence_range.end = rows - 1
    add_tensor(chunk, DT_INT64, [rows], snappy_literals(np.arange(rows, dtype=np.int64).tobytes()))
    add_tensor(chunk, DT_STRING, [rows], b"\x01" * rows + b"a" * rows)
    return chunk


def add_item(
    request: service_pb2.InsertStreamRequest,
    key: int = 1,
    table: str = "uniform",
    chunk_key: int = 1,
    priority: float = 1.0,
    length: int = 1,
) -> schema_pb2.PrioritizedItem:
    item = request.items.add(key=key, table=table, priority=priority)
    item.flat_trajectory.columns.add().chunk_slices.add(chunk_key=chunk_key, length=length)
    return item


def make_request(key: int = 1, **item) -> service_pb2.InsertStreamRequest:
    request = service_pb2.InsertStreamRequest(chunks=[make_chunk(key)])
    add_item(request, key=key, chunk_key=key, **item)
    return request


class Stream:
    """A bidirectional stream of bytes whose requests are sent one by one."""

    def __init__(self, channel: grpc.Channel, method: str, response_type):
        self._requests: queue.Queue[bytes | None] = queue.Queue()
        call = channel.stream_stream(
            SERVICE + method,
            request_serializer=None,
            response_deserializer=response_type.FromString,
        )
        self.call = call(iter(self._requests.get, None), timeout=TIMEOUT)

    def send(self, message) -> None:
        self._requests.put(message if isinstance(message, bytes) else message.SerializeToString())

    def half_close(self) -> None:
        self._requests.put(None)

    def read(self):
        return next(self.call)

    def status(self) -> tuple[grpc.StatusCode, str]:
        """Reads what is left and returns how the call ended."""
        try:
            for _ in self.call:
                pass
        except grpc.RpcError:
            pass
        self.half_close()
        return self.call.code(), self.call.details()


class Peer:
    def __init__(self, port: int):
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=UNLIMITED)
        self._keys = itertools.count(1 << 40)

    def insert_stream(self) -> Stream:
        return Stream(self.channel, "InsertStream", service_pb2.InsertStreamResponse)

    def sample_stream(self) -> Stream:
        return Stream(self.channel, "SampleStream", service_pb2.SampleStreamResponse)

    def unary(self, method: str, request, response_type):
        call = self.channel.unary_unary(
            SERVICE + method,
            request_serializer=lambda m: m if isinstance(m, bytes) else m.SerializeToString(),
            response_deserializer=response_type.FromString,
        )
        return call(request, timeout=TIMEOUT)

    def server_info(self) -> dict[str, schema_pb2.TableInfo]:
        info = self.unary(
            "ServerInfo", service_pb2.ServerInfoRequest(), service_pb2.ServerInfoResponse
        )
        return {table.name: table for table in info.table_info}

    def insert(self, request: service_pb2.InsertStreamRequest) -> None:
        """Inserts the items of the request and waits until all are confirmed."""
        stream = self.insert_stream()
        stream.send(request)
        missing = {item.key for item in request.items}
        while missing:
            missing -= set(stream.read().keys)
        stream.half_close()
        assert stream.status()[0] == grpc.StatusCode.OK

    def insert_error(self, request) -> tuple[grpc.StatusCode, str]:
        stream = self.insert_stream()
        stream.send(request)
        stream.half_close()
        return stream.status()

    def sample_error(self, request) -> tuple[grpc.StatusCode, str]:
        stream = self.sample_stream()
        stream.send(request)
        stream.half_close()
        return stream.status()

    def samples(self, table: str, n: int) -> list[list]:
        """Entries of n samples."""
        stream = self.sample_stream()
        stream.send(service_pb2.SampleStreamRequest(table=table, num_samples=n))
        samples: list[list] = [[]]
        while len(samples) <= n:
            for entry in stream.read().entries:
                samples[-1].append(entry)
                if entry.end_of_sequence:
                    samples.append([])
        stream.half_close()
        assert stream.status()[0] == grpc.StatusCode.OK
        return samples[:n]

    def expect_healthy(self) -> None:
        key = next(self._keys)
        self.insert(make_request(key, table="healthy"))
        (sample,) = self.samples("healthy", 1)
        assert sample[0].info.item.key == key


@pytest.fixture(name="server", scope="module")
def _server() -> Iterator[reverb_tf.Server]:
    def table(name: str, sampler) -> reverb_tf.Table:
        return reverb_tf.Table(
            name=name,
            sampler=sampler,
            remover=reverb_tf.selectors.Fifo(),
            max_size=1000,
            rate_limiter=reverb_tf.rate_limiters.MinSize(1),
        )

    server = reverb_tf.Server(
        tables=[
            table("uniform", reverb_tf.selectors.Uniform()),
            table("prioritized", reverb_tf.selectors.Prioritized(0.5)),
            table("empty", reverb_tf.selectors.Uniform()),
            table("healthy", reverb_tf.selectors.Lifo()),
            reverb_tf.Table.queue("queue", 2),
            reverb_tf.Table.queue("other_queue", 2),
        ],
        port=None,
    )
    yield server
    server.stop()


@pytest.fixture(name="peer")
def _peer(server: reverb_tf.Server) -> Iterator[Peer]:
    peer = Peer(server.port)
    yield peer
    peer.expect_healthy()
    peer.channel.close()


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
    for value in (0, DT_RESOURCE, 21, 31, 101, -1, 2**31 - 1):
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


@pytest.mark.parametrize("priority", [math.nan, -1.0, math.inf])
def test_bad_updates_change_nothing(peer: Peer, priority: float):
    peer.insert(make_request(5, table="prioritized", priority=0.5))
    peer.insert(make_request(6, table="prioritized", priority=0.5))
    request = service_pb2.MutatePrioritiesRequest(table="prioritized", delete_keys=[5])
    request.updates.add(key=6, priority=2.0)
    request.updates.add(key=6, priority=priority)
    with pytest.raises(grpc.RpcError) as error:
        peer.unary("MutatePriorities", request, service_pb2.MutatePrioritiesResponse)
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert peer.server_info()["prioritized"].current_size == 2
    assert {s[0].info.item.priority for s in peer.samples("prioritized", 20)} == {0.5}
    peer.unary("Reset", service_pb2.ResetRequest(table="prioritized"), service_pb2.ResetResponse)


@pytest.mark.parametrize(
    "method, request_message",
    [
        ("MutatePriorities", service_pb2.MutatePrioritiesRequest(table="nowhere")),
        ("Reset", service_pb2.ResetRequest(table="nowhere")),
    ],
)
def test_unary_calls_to_unknown_tables(peer: Peer, method: str, request_message):
    with pytest.raises(grpc.RpcError) as error:
        peer.unary(method, request_message, service_pb2.ResetResponse)
    assert error.value.code() == grpc.StatusCode.NOT_FOUND
    assert error.value.details() == "Priority table nowhere was not found"


def test_checkpoint_without_checkpointer(peer: Peer):
    with pytest.raises(grpc.RpcError) as error:
        peer.unary("Checkpoint", service_pb2.CheckpointRequest(), service_pb2.CheckpointResponse)
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT


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


def test_initialize_connection_gives_no_address(peer: Peer):
    stream = Stream(peer.channel, "InitializeConnection", service_pb2.InitializeConnectionResponse)
    stream.send(service_pb2.InitializeConnectionRequest(pid=1, table_name="uniform"))
    stream.send(service_pb2.InitializeConnectionRequest(pid=1, table_name="uniform"))
    responses = list(stream.call)
    assert all(response.address == 0 for response in responses)
    assert stream.status()[0] == grpc.StatusCode.OK


def test_server_info(peer: Peer):
    tables = peer.server_info()
    assert set(tables) == {
        "uniform",
        "prioritized",
        "empty",
        "healthy",
        "queue",
        "other_queue",
    }
    assert tables["prioritized"].sampler_options.prioritized.priority_exponent == 0.5
    assert tables["queue"].max_times_sampled == 1
    assert not tables["queue"].HasField("signature")


def test_health(peer: Peer):
    health = health_pb2_grpc.HealthStub(peer.channel)
    for service in ("", "deepmind.reverb.ReverbService"):
        response = health.Check(health_pb2.HealthCheckRequest(service=service), timeout=TIMEOUT)
        assert response.status == health_pb2.HealthCheckResponse.SERVING


def test_reflection(peer: Peer):
    reflection = reflection_pb2_grpc.ServerReflectionStub(peer.channel)
    requests = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(
            file_containing_symbol="deepmind.reverb.ReverbService"
        ),
    ]
    services, file = reflection.ServerReflectionInfo(iter(requests), timeout=TIMEOUT)
    names = {service.name for service in services.list_services_response.service}
    assert {"deepmind.reverb.ReverbService", "grpc.health.v1.Health"} <= names
    assert file.file_descriptor_response.file_descriptor_proto


def test_stop_ends_blocked_calls_at_once():
    server = reverb_tf.Server(tables=[reverb_tf.Table.queue("queue", 1)], port=None)
    peer = Peer(server.port)
    insert = peer.insert_stream()
    request = make_request(1, table="queue")
    add_item(request, key=2, table="queue")
    insert.send(request)
    assert list(insert.read().keys) == [1]
    idle = peer.sample_stream()
    idle.send(service_pb2.SampleStreamRequest(table="queue", num_samples=1))
    idle.read()
    assert list(insert.read().keys) == [2]
    idle.send(service_pb2.SampleStreamRequest(table="queue", num_samples=1))
    idle.read()
    idle.send(service_pb2.SampleStreamRequest(table="queue", num_samples=1))
    server.stop()
    ended = {grpc.StatusCode.CANCELLED, grpc.StatusCode.UNAVAILABLE}
    assert insert.status()[0] in ended
    assert idle.status()[0] in ended
    peer.channel.close()
