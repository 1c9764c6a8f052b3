"""An independent client of the protocol: plain grpcio, generated messages, a snappy encoder of its own."""

import itertools
import queue

import grpc
import numpy as np

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
    # Of items that show that the server serves; distinct in a process.
    _keys = itertools.count(1 << 40)

    def __init__(self, port: int):
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=UNLIMITED)

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
