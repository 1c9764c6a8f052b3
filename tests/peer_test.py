"""An unmodified dm-reverb 0.14.0 with this package: its client with our server, our client with its server.

It runs in an environment of its own, as the two cannot share a process: `make peer` creates it.
"""

import json
import os
import pathlib
import subprocess
import textwrap

import numpy as np
import portpicker
import pytest

import reverb_tf as reverb
from tests.python_api import support

_ENVIRONMENT = pathlib.Path(os.environ.get("REVERB_TF_PEER", support.ROOT / ".peer"))
_PYTHON = _ENVIRONMENT / "bin" / "python"

pytestmark = pytest.mark.skipif(
    not _PYTHON.exists(), reason="there is no dm-reverb to talk to: run `make peer`"
)

_DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()

# Run by both sides, each with its own `reverb`. A column of each dtype, and one of strings.
_SHARED = f"""
import sys
import numpy as np

DTYPES = {_DTYPES!r}

def step(i):
    arrays = {{name: (np.arange(6).reshape(2, 3) % 5 * (i + 1)).astype(name) for name in DTYPES}}
    return {{**arrays, "text": np.array(["a" * i, "grüße"], object), "scalar": np.float32(i)}}

def stored(i):
    data = dict(step(i))
    data["text"] = np.array([text.encode() for text in data["text"]], object)
    return [np.asarray(data[name]) for name in sorted(data)]

def same(got, want):
    assert len(got) == len(want), (len(got), len(want))
    for a, b in zip(got, want):
        assert a.dtype == b.dtype and a.shape == b.shape, (a.dtype, b.dtype, a.shape, b.shape)
        assert a.tolist() == b.tolist(), (a, b)

def write(client):
    client.insert(step(0), {{"steps": 1.0}})
    with client.trajectory_writer(num_keep_alive_refs=5) as writer:
        writer.configure(("int32",), num_keep_alive_refs=5, max_chunk_length=2)
        for i in range(5):
            writer.append(step(i))
        history = writer.history
        names = sorted(step(0))
        writer.create_item("trajectories", 2.0, [history[name][-3:] for name in names])
        writer.create_item("trajectories", 3.0, [history["int32"][1:4], history["text"][-1], history["float64"][-2]])
        writer.end_episode()
        # Compresses well, and is larger than a frame of the protocol.
        frames = np.zeros((4, 300, 400), np.uint8)
        for i in range(4):
            writer.append({{"frame": frames[i] + i, "bool": np.ones((2, 3), bool)}})
        writer.create_item("trajectories", 4.0, [writer.history["frame"][:]])
        writer.flush()

def read(client):
    ((one,),) = client.sample("steps", 1)
    same(one.data, stored(0))
    samples = list(client.sample("trajectories", 3, emit_timesteps=False))
    assert [sample.info.priority for sample in samples] == [2.0, 3.0, 4.0]
    columns = list(zip(*(stored(i) for i in (2, 3, 4))))
    same(samples[0].data, [np.stack(column) for column in columns])
    names = sorted(step(0))
    int32, text, float64 = (names.index(name) for name in ("int32", "text", "float64"))
    rows = [stored(i) for i in range(5)]
    same(samples[1].data, [np.stack([rows[i][int32] for i in (1, 2, 3)]), rows[4][text], rows[3][float64]])
    same(samples[2].data, [np.zeros((4, 300, 400), np.uint8) + np.arange(4, dtype=np.uint8)[:, None, None]])

def update(client):
    keys = [client.insert_key(i) for i in range(3)]
    client.mutate_priorities("prioritized", updates={{keys[0]: 3.0, 99: 1.0}}, deletes=[keys[1]])
    seen = dict()
    for (sample,) in client.sample("prioritized", 100):
        seen[int(sample.data[0])] = (sample.info.priority, sample.info.probability, sample.info.table_size)
    assert seen == {{0: (3.0, 0.75, 2), 2: (1.0, 0.25, 2)}}, seen
    client.reset("prioritized")
    info = client.server_info(60)["prioritized"]
    assert info.current_size == 0 and info.max_size == 10
    assert info.sampler_options.prioritized.priority_exponent == 1.0

def insert_key(client, i):
    client.insert([np.int64(i)], {{"prioritized": 1.0}})
    for (sample,) in client.sample("prioritized", 1000):
        if int(sample.data[0]) == i:
            return sample.info.key
    raise AssertionError("the item was not sampled")
"""

_TABLES = """
def table(name, sampler, **settings):
    return reverb.Table(name, sampler, reverb.selectors.Fifo(), 10, reverb.rate_limiters.MinSize(1), **settings)

tables = [
    reverb.Table.queue("trajectories", 10),
    reverb.Table.queue("steps", 10),
    table("prioritized", reverb.selectors.Prioritized(1.0)),
    reverb.Table.queue("full", 1),
]
"""

# Runs what it is sent, a JSON string a line, and answers each with a line: the text of the error, or nothing.
_PEER = """
import json, traceback, reverb
reverb.Client.insert_key = insert_key
print("ready", flush=True)
for line in sys.stdin:
    try:
        exec(json.loads(line))
        print(json.dumps(""), flush=True)
    except BaseException:
        print(json.dumps(traceback.format_exc()), flush=True)
"""


class Peer:
    """A Python process with dm-reverb in it."""

    def __init__(self):
        self._process = subprocess.Popen(
            [str(_PYTHON), "-c", _SHARED + _PEER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        )
        assert self._process.stdout.readline() == "ready\n", "dm-reverb does not start"

    def run(self, code: str) -> None:
        """Runs code there; what it defines stays."""
        self._process.stdin.write(json.dumps(textwrap.dedent(code)) + "\n")
        self._process.stdin.flush()
        error = json.loads(self._process.stdout.readline())
        assert not error, error

    def stop(self) -> None:
        self._process.stdin.close()
        self._process.wait(support.PATIENCE)
        self._process.stdout.close()


@pytest.fixture(scope="module")
def peer():
    peer = Peer()
    yield peer
    peer.stop()


@pytest.fixture(scope="module")
def serving_peer():
    """Another one, so that its server and its client have gRPC between them."""
    peer = Peer()
    yield peer
    peer.stop()


@pytest.fixture(scope="module")
def shared():
    scope = {"reverb": reverb}
    exec(_SHARED, scope)
    return scope


@pytest.fixture
def our_server(peer):
    scope = {"reverb": reverb}
    exec(_TABLES, scope)
    server = reverb.Server(scope["tables"])
    address = f"localhost:{server.port}"
    peer.run(f"client, address = reverb.Client({address!r}), {address!r}")
    yield address
    server.stop()


@pytest.fixture
def peer_server(serving_peer, peer):
    port = portpicker.pick_unused_port()
    serving_peer.run(_TABLES + f"server = reverb.Server(tables, port={port})")
    address = f"localhost:{port}"
    peer.run(f"client, address = reverb.Client({address!r}), {address!r}")
    yield address
    serving_peer.run("server.stop()")


class OurClient(reverb.Client):
    """With the helper that the scripts share."""

    def insert_key(self, i):
        (key,) = self.insert([np.int64(i)], {"prioritized": 1.0})
        return key


def test_its_client_writes_reads_and_updates_our_server(peer, our_server):
    peer.run("write(client)\nread(client)\nupdate(client)\n")


def test_our_client_writes_reads_and_updates_its_server(peer, peer_server, shared):
    client = OurClient(peer_server)
    shared["write"](client)
    shared["read"](client)
    shared["update"](client)


def test_it_writes_and_we_read_from_our_server(peer, our_server, shared):
    peer.run("write(client)\n")
    shared["read"](reverb.Client(our_server))


def test_we_write_and_it_reads_from_our_server(peer, our_server, shared):
    shared["write"](reverb.Client(our_server))
    peer.run("read(client)\n")


def test_it_writes_and_we_read_from_its_server(peer, peer_server, shared):
    peer.run("write(client)\n")
    shared["read"](reverb.Client(peer_server))


def test_we_write_and_it_reads_from_its_server(peer, peer_server, shared):
    shared["write"](reverb.Client(peer_server))
    peer.run("read(client)\n")


def test_its_other_writers(peer, our_server):
    """The legacy writer (whole steps in a chunk, delta encoding) and the structured writer."""
    peer.run(
        """
        with client.writer(max_sequence_length=4, delta_encoded=True, chunk_length=2) as writer:
            for i in range(5):
                writer.append([np.arange(4, dtype=np.int32) * i, np.float32(i)])
            writer.create_item("trajectories", 3, 1.0)
        step_structure = {"a": None}
        pattern = reverb.structured_writer.pattern_from_transform(step_structure, lambda x: {"last": x["a"][-2:]})
        config = reverb.structured_writer.create_config(pattern, "trajectories")
        writer = client.structured_writer([config])
        for i in range(2):
            writer.append({"a": np.int64(i)})
        writer.flush()
        """
    )
    samples = list(reverb.Client(our_server).sample("trajectories", 2, emit_timesteps=False))
    assert samples[0].data[0].tolist() == [[0, 2, 4, 6], [0, 3, 6, 9], [0, 4, 8, 12]]
    assert samples[0].data[1].tolist() == [2.0, 3.0, 4.0]
    assert samples[1].data[0].tolist() == [0, 1]


def test_our_legacy_writer_and_batches_with_its_server(peer, peer_server):
    client = reverb.Client(peer_server)
    with client.writer(max_sequence_length=4, delta_encoded=True, chunk_length=2) as writer:
        for i in range(5):
            writer.append([np.arange(4, dtype=np.int32) * i, np.float32(i)])
        writer.create_item("trajectories", 3, 1.0)
    with client.trajectory_writer(1) as batches:
        batches.append_batch({"a": np.arange(3), "b": np.zeros((3, 2))}, "trajectories", [1, 2, 3])
    peer.run(
        """
        samples = list(client.sample("trajectories", 4, emit_timesteps=False))
        assert samples[0].data[0].tolist() == [[0, 2, 4, 6], [0, 3, 6, 9], [0, 4, 8, 12]]
        assert samples[0].data[1].tolist() == [2.0, 3.0, 4.0]
        assert [sample.data[0].tolist() for sample in samples[1:]] == [[0], [1], [2]]
        assert [sample.info.priority for sample in samples[1:]] == [1.0, 2.0, 3.0]
        """
    )


def test_its_datasets_and_its_tf_client(peer, our_server):
    peer.run(
        """
        import tensorflow as tf
        tf_client = reverb.TFClient(address)
        tf_client.insert([tf.constant([1.0, 2.0])], tf.constant(["prioritized"]), tf.constant([2.0], tf.float64))
        sample = tf_client.sample("prioritized", [tf.float32])
        assert sample.data[0].numpy().tolist() == [1.0, 2.0]
        tf_client.update_priorities("prioritized", tf.constant([sample.info.key.numpy()], tf.uint64),
                                    tf.constant([5.0], tf.float64))
        dataset = reverb.TrajectoryDataset(address, "prioritized", [tf.float32], [tf.TensorShape([None, 2])],
                                           max_in_flight_samples_per_worker=2, max_samples=5)
        elements = list(dataset)
        assert len(elements) == 5
        assert [float(element.info.priority) for element in elements] == [5.0] * 5
        assert elements[0].data[0].numpy().tolist() == [[1.0, 2.0]]
        """
    )


def test_our_graph_ops_with_its_server(peer_server):
    tf = pytest.importorskip("tensorflow")
    client = reverb.TFClient(peer_server)
    writer = client.trajectory_writer({"x": tf.TensorSpec([], tf.int64)}, 2)

    @tf.function
    def write():
        client.insert([tf.constant(0, tf.int64)], ["prioritized"], tf.constant([1.0], tf.float64))
        keys = client.insert_batch(
            [tf.range(1, 4, dtype=tf.int64)], "prioritized", tf.ones([3], tf.float64)
        )
        for i in tf.range(4):
            writer.append({"x": tf.cast(i, tf.int64)})
        writer.create_item("trajectories", 1.0, num_timesteps=2)
        writer.flush()
        client.update_priorities("prioritized", keys, tf.constant([0.0, 0.0, 2.0], tf.float64))
        return client.delete("prioritized", keys[:1])

    assert int(write()) == -1  # that server does not say how many there were
    samples = client.sample("prioritized", [tf.int64], num_samples=50)
    assert set(samples.info.table_size.numpy().tolist()) == {3}
    assert set(samples.data[0].numpy().flatten().tolist()) == {0, 3}
    (batch,) = reverb.ReverbDataset(
        peer_server,
        "trajectories",
        1,
        dtypes=[tf.int64],
        shapes=[tf.TensorShape([None])],
        max_samples=1,
    )
    assert batch.data[0].numpy().tolist() == [[2, 3]]


def test_calls_that_its_server_does_not_have(peer_server):
    client = reverb.Client(peer_server)
    (key,) = client.insert([1], {"prioritized": 1.0})
    for call in (
        lambda: client.get("prioritized", [key]),
        lambda: next(client.list_items("prioritized")),
        lambda: client.delete("prioritized", [key]),
        lambda: client.set_rate_limiter("prioritized", reverb.rate_limiters.MinSize(1)),
    ):
        with pytest.raises(NotImplementedError, match=f"{peer_server}.*dm-reverb"):
            call()
    info = client.server_info(60)["prioritized"]
    assert (info.current_size, info.priority_max, info.samples_allowed) == (1, None, None)


@pytest.mark.parametrize("server", ["our_server", "peer_server"])
def test_full_tables_hold_writers_back(request, server):
    client = reverb.Client(request.getfixturevalue(server))
    writer = client.trajectory_writer(1)
    for i in range(4):
        writer.append(i)
        writer.create_item("full", 1.0, writer.history[-1:])
    with pytest.raises(reverb.DeadlineExceededError):
        writer.flush(timeout_ms=1)
    samples = client.sample("full", 4, timeout=support.PATIENCE)
    assert [int(step.data[0]) for (step,) in samples] == [0, 1, 2, 3]
    writer.flush(timeout=support.PATIENCE)
    with pytest.raises(reverb.DeadlineExceededError):
        next(client.sample("full", timeout=0.1))


def test_the_peer_is_what_it_says(peer):
    peer.run("import importlib.metadata as m\nassert m.version('dm-reverb') == '0.14.0'")
