"""Each blocked op ends with its step, its session, its server and its process."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import cancellation

import reverb_tf as reverb
from tests.python_api.support import RemoteServer
from tests.tf.support import (
    dataset_of,
    reverb_dataset_of,
    uniform_table,
    wait_until_blocked,
    wait_until_table_waits,
)

v1 = tf.compat.v1

# Ops that wait for the table's rate limiter, and, as nothing listens on that address, ops that only wait for a server.
OF_TABLES = ["sample", "sample_batch", "sample_trajectory", "insert", "insert_batch"]
OF_SERVERS = ["update_priorities", "delete"]
DATASETS = ["TimestepDataset", "TrajectoryDataset", "ReverbDataset"]
ABSENT = "127.0.0.1:1"

ONE = np.ones([1], np.float64)


def blocked_op(kind, address):
    """The op, or the tensor of it, that blocks when it runs; `full` is a full queue, `dist` an empty table."""
    client = reverb.TFClient(ABSENT if kind in OF_SERVERS else address)
    keys = tf.constant([1], tf.uint64)
    if kind == "sample":
        return client.sample("dist", [tf.int64]).data[0]
    if kind == "sample_batch":
        return client.sample("dist", [tf.int64], num_samples=3).data[0]
    if kind == "sample_trajectory":
        return client.sample("dist", [tf.int64], trajectories=True).data[0]
    if kind == "insert":
        return client.insert([tf.constant(1)], tf.constant(["full"]), ONE)
    if kind == "insert_batch":
        return client.insert_batch([tf.constant([1, 2])], "full", np.ones([2], np.float64))
    if kind == "update_priorities":
        return client.update_priorities("dist", keys, ONE)
    return client.delete("dist", keys)


def blocked_iterator(kind, service):
    """An iterator of an empty table."""
    if kind == "ReverbDataset":
        return iter(reverb_dataset_of(service, batch_size=2))
    return iter(dataset_of(service, kind=getattr(reverb, kind)))


@pytest.fixture
def service(make_service):
    service = make_service(uniform_table("dist"), reverb.Table.queue("full", 1))
    service.client.insert([np.int64(0)], {"full": 1.0})
    return service


@pytest.mark.parametrize("kind", OF_TABLES + OF_SERVERS)
def test_a_closed_session(service, graph, in_thread, kind):
    op = blocked_op(kind, service.address)
    session = v1.Session()
    blocked = in_thread(lambda: session.run(op))
    wait_until_blocked(blocked)
    session.close()
    with pytest.raises(tf.errors.CancelledError):
        blocked.result(timeout=10)


@pytest.mark.parametrize("kind", OF_TABLES + OF_SERVERS)
def test_a_cancelled_step(service, in_thread, kind):
    client = reverb.TFClient(service.address)
    manager = cancellation.CancellationManager()

    @tf.function
    def run():
        with tf.control_dependencies([blocked_op(kind, service.address)]):
            return tf.constant(0)

    blocked = in_thread(manager.get_cancelable_function(run.get_concrete_function()))
    wait_until_blocked(blocked)
    manager.start_cancel()
    with pytest.raises(tf.errors.CancelledError):
        blocked.result(timeout=10)
    # The server goes on, and nothing was taken.
    assert client.delete("full", tf.constant([1], tf.uint64)) == 0
    assert service.samples_taken("dist") == 0


@pytest.mark.parametrize("kind", OF_TABLES + DATASETS)
def test_a_stopped_server_of_this_process(service, in_thread, kind):
    check_stopped(service.address, service.server.stop, in_thread, kind)


@pytest.mark.parametrize("kind", OF_TABLES + DATASETS)
def test_a_stopped_server_of_another_process(in_thread, kind):
    server = RemoteServer('[reverb.Table.queue("dist", 1), reverb.Table.queue("full", 1)]')
    reverb.Client(server.address).insert([np.int64(0)], {"full": 1.0})
    check_stopped(server.address, server.stop, in_thread, kind)


def check_stopped(address, stop, in_thread, kind):
    """A guard far below the minute for which a client tries to reach a server that is lost."""
    if kind in DATASETS:
        service = type("", (), {"address": address})
        iterator = blocked_iterator(kind, service)
        blocked = in_thread(lambda: next(iterator))
    else:
        blocked = in_thread(lambda: blocked_op(kind, address))
    table = "full" if kind.startswith("insert") else "dist"
    wait_until_table_waits(reverb.Client(address), table)
    stop()
    with pytest.raises(tf.errors.UnavailableError, match=f"{address} was stopped"):
        blocked.result(timeout=30)


EXIT = """
import sys
import numpy as np
import reverb_tf as reverb
from tests.tf import support
from tests.tf.blocked_ops_test import DATASETS, OF_SERVERS, OF_TABLES, blocked_iterator, blocked_op
tables = [support.uniform_table("dist"), reverb.Table.queue("full", 1)]
service = support.Service(tables, in_process=sys.argv[1] == "in-process")
service.client.insert([np.int64(0)], {"full": 1.0})
iterators = [blocked_iterator(kind, service) for kind in DATASETS]
calls = [support.Call(lambda i=i: next(i)) for i in iterators]
calls += [support.Call(lambda k=k: blocked_op(k, service.address)) for k in OF_TABLES + OF_SERVERS]
for call in calls:
    support.wait_until_blocked(call)
print("end")
"""


@pytest.mark.parametrize("path", ["in-process", "grpc"])
def test_the_interpreter_exits_while_all_are_blocked(path):
    root = pathlib.Path(__file__).resolve().parents[2]
    result = subprocess.run(
        [sys.executable, "-c", EXIT, path],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (result.returncode, result.stdout) == (0, "end\n"), result.stderr
