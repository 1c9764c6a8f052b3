"""Checkpoints of dm-reverb 0.14.0 and of this package, each loaded by the other."""

import subprocess

import numpy as np
import pytest

import reverb_tf as reverb
from tests.peer_test import _PYTHON, pytestmark  # noqa: F401 (skips where there is no dm-reverb)
from tests.python_api import support

# Both sides run this, each with its own `reverb`: the same tables, items and expectations.
_SHARED = """
import sys
import numpy as np

def tables():
    make = lambda name, sampler, remover, limiter, **settings: reverb.Table(
        name, sampler, remover, 50, limiter, **settings)
    s, r = reverb.selectors, reverb.rate_limiters
    return [
        make("fifo", s.Fifo(), s.Fifo(), r.MinSize(1)),
        make("lifo", s.Lifo(), s.Lifo(), r.MinSize(2), max_times_sampled=30),
        make("prioritized", s.Prioritized(0.7), s.MinHeap(), r.SampleToInsertRatio(3.0, 2, 50.0)),
        make("heap", s.MaxHeap(), s.Uniform(), r.MinSize(1)),
        reverb.Table.queue("queue", 20),
        make("empty", s.Uniform(), s.Fifo(), r.MinSize(1)),
    ]

DTYPES = "bool int8 int64 uint16 float16 float32 float64 complex64".split()

def step(i):
    arrays = {name: (np.arange(6).reshape(2, 3) % 5 * (i + 1)).astype(name) for name in DTYPES}
    text = np.array(["a" * i, "grüße"], object)
    return {**arrays, "noise": np.random.default_rng(i).standard_normal(50), "text": text}

def fill(client):
    with client.trajectory_writer(num_keep_alive_refs=5) as writer:
        writer.configure(("int8",), num_keep_alive_refs=5, max_chunk_length=3)
        for i in range(8):
            writer.append(step(i))
            if i < 4:
                continue
            history = writer.history
            for table in ("fifo", "lifo", "prioritized", "heap", "queue"):
                writer.create_item(table, float(i), {
                    "all": {name: history[name][-5:] for name in history},
                    "last": history["float32"][-1],
                })
    list(client.sample("prioritized", 3, emit_timesteps=False))

def check(client):
    info = client.server_info(5)
    assert {name: table.current_size for name, table in info.items()} == {
        "fifo": 4, "lifo": 4, "prioritized": 4, "heap": 4, "queue": 4, "empty": 0}
    assert info["prioritized"].sampler_options.prioritized.priority_exponent == 0.7
    assert info["prioritized"].rate_limiter_info.sample_stats.completed == 3
    assert info["prioritized"].rate_limiter_info.insert_stats.completed == 4
    assert info["lifo"].max_times_sampled == 30
    for table, order in (("queue", [4, 5, 6, 7]), ("fifo", [4]), ("lifo", [7]), ("heap", [7])):
        samples = list(client.sample(table, len(order), emit_timesteps=False))
        for sample, i in zip(samples, order):
            assert sample.info.priority == i, (table, sample.info.priority, i)
            names = sorted(step(0))
            assert len(sample.data) == len(names) + 1
            for name, column in zip(names, sample.data):
                want = np.stack([step(j)[name] for j in range(i - 4, i + 1)])
                if name == "text":
                    want = np.array([[t.encode() for t in row] for row in want.tolist()], object)
                assert column.dtype == want.dtype and column.shape == want.shape, (name, column.dtype, column.shape)
                assert column.tolist() == want.tolist(), name
            assert sample.data[-1].tolist() == step(i)["float32"].tolist()
"""

_PEER = """
import reverb
server = reverb.Server(tables(), checkpointer=reverb.checkpointers.DefaultCheckpointer(sys.argv[1]))
client = server.localhost_client()
if sys.argv[2] == "save":
    fill(client)
    client.checkpoint()
else:
    check(client)
server.stop()
"""


def run_peer(folder, what):
    result = subprocess.run(
        [str(_PYTHON), "-c", _SHARED + _PEER, str(folder), what],
        capture_output=True,
        text=True,
        timeout=support.PATIENCE,
        env={"PATH": "/usr/bin:/bin"},
    )
    assert result.returncode == 0, result.stderr[-4000:]


@pytest.fixture(scope="module")
def shared():
    scope = {"reverb": reverb}
    exec(_SHARED, scope)
    return scope


def start(shared, folder, **settings):
    checkpointer = reverb.checkpointers.DefaultCheckpointer(folder, **settings)
    return reverb.Server(shared["tables"](), checkpointer=checkpointer, host="127.0.0.1")


def test_ours_loads_what_dm_reverb_saved(shared, tmp_path, caplog):
    run_peer(tmp_path, "save")
    with start(shared, tmp_path) as server:
        assert server.restored_from is not None
        assert not caplog.records  # no setting differs
        shared["check"](server.localhost_client())


def test_dm_reverb_loads_what_ours_saved(shared, tmp_path):
    with start(shared, tmp_path, format="reverb") as server:
        shared["fill"](server.localhost_client())
        server.checkpoint()
    run_peer(tmp_path, "check")


def test_the_reader_reads_what_dm_reverb_saved(shared, tmp_path):
    run_peer(tmp_path, "save")
    reader = reverb.checkpoint_reader(tmp_path)
    assert reader.format == "reverb"
    assert {name: info.current_size for name, info in reader.tables.items()} == {
        **dict.fromkeys(["fifo", "lifo", "prioritized", "heap", "queue"], 4),
        "empty": 0,
    }
    for i, sample in enumerate(reader.items("queue"), start=4):
        assert sample.info.priority == i
        np.testing.assert_array_equal(sample.data[-1], shared["step"](i)["float32"])


def test_what_ours_restored_is_saved_for_dm_reverb_again(shared, tmp_path):
    run_peer(tmp_path / "theirs", "save")
    with start(
        shared, tmp_path / "ours", fallback_checkpoint_path=tmp_path / "theirs", format="reverb"
    ) as server:
        server.checkpoint()
    run_peer(tmp_path / "ours", "check")
