"""Unary calls, health, reflection and the end of the server, as an independent client sees them."""

import math
import pathlib
import shutil

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

import reverb_tf
from reverb_tf import pybind
from reverb_tf.proto import reverb_service_pb2 as service_pb2
from tests.wire.support import TIMEOUT, Peer, Stream, add_item, make_request


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


def test_checkpoint(peer: Peer):
    response = peer.unary(
        "Checkpoint", service_pb2.CheckpointRequest(), service_pb2.CheckpointResponse
    )
    folder = pathlib.Path(response.checkpoint_path)
    assert (folder / "DONE").is_file()
    shutil.rmtree(folder.parent)


def test_checkpoint_without_checkpointer():
    table = reverb_tf.Table.queue("queue", 1).internal_table
    server = pybind.Server([table], 0, host="127.0.0.1")
    peer = Peer(server.port)
    with pytest.raises(grpc.RpcError) as error:
        peer.unary("Checkpoint", service_pb2.CheckpointRequest(), service_pb2.CheckpointResponse)
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    peer.channel.close()
    server.Stop()


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
