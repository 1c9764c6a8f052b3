"""Writing checkpoints, loading them, and reading them without a server."""

import os
import pathlib
import subprocess
import sys
import time

import numpy as np
import pytest

import reverb_tf as reverb
from reverb_tf import _checkpointing, checkpoints, errors
from tests.python_api import crash_loop, support

_FORMATS = ["incremental", "reverb"]


def make_tables(max_size=100, exponent=1.0, **settings):
    signature = {
        "x": reverb.TensorSpec((None, 3), np.float32),
        "y": reverb.TensorSpec((None,), np.int64),
    }
    return [
        reverb.Table(
            "prioritized",
            reverb.selectors.Prioritized(exponent),
            reverb.selectors.Fifo(),
            max_size,
            reverb.rate_limiters.SampleToInsertRatio(2.0, 2, 4.0),
            signature=signature,
            **settings,
        ),
        reverb.Table.queue("queue", 5),
    ]


def start(folder, tables=None, **settings):
    checkpointer = reverb.checkpointers.DefaultCheckpointer(folder, **settings)
    return reverb.Server(tables or make_tables(), checkpointer=checkpointer, host="127.0.0.1")


def fill(client, count, first=0):
    """Items of two steps that overlap by one; returns their keys."""
    keys = []
    with client.trajectory_writer(2) as writer:
        for i in range(first, first + count + 1):
            writer.append({"x": np.full(3, i, np.float32), "y": np.int64(i)})
            if i > first:
                trajectory = {name: column[-2:] for name, column in writer.history.items()}
                keys.append(writer.create_item("prioritized", float(i), trajectory))
    return keys


def contents(samples):
    return [
        (sample.info.key, sample.info.priority, sample.info.times_sampled)
        + tuple(np.asarray(column).tolist() for column in sample.data)
        for sample in samples
    ]


def items_of(client, table):
    keys = [item.key for item in client.list_items(table)]
    return sorted(contents(client.get(table, keys)))


def checkpoints_in(folder):
    return sorted(path.parent.name for path in pathlib.Path(folder).glob("*/DONE"))


@pytest.mark.parametrize("format", _FORMATS)
def test_everything_comes_back(tmp_path, format):
    with start(tmp_path, format=format) as server:
        client = server.localhost_client()
        keys = fill(client, 4)
        client.insert(["text", np.float32(1)], {"queue": 1.0})
        next(client.sample("prioritized", max_in_flight_samples=1))
        client.mutate_priorities("prioritized", {keys[0]: 0.25}, deletes=[keys[1]])
        before = items_of(client, "prioritized"), items_of(client, "queue")
        infos = {name: info.rate_limiter_info for name, info in client.server_info().items()}
        path = client.checkpoint()
        assert checkpoints_in(tmp_path) == [os.path.basename(path)]
        client.insert(["later"], {"queue": 1.0})  # is not in it
    with start(tmp_path) as server:
        client = server.localhost_client()
        assert server.restored_from == path
        assert (items_of(client, "prioritized"), items_of(client, "queue")) == before
        for name, info in client.server_info().items():
            assert info.rate_limiter_info == infos[name]
            assert info.num_unique_samples == (name == "prioritized")
        (sample,) = client.sample("queue", emit_timesteps=False)
        assert sample.data[0].tolist() == [b"text"]


def test_by_default_a_temporary_folder_is_used(serve):
    server = serve('[reverb.Table.queue("q", 1)]')
    client = reverb.Client(server.address)
    client.insert([1], {"q": 1.0})
    path = client.checkpoint()
    assert checkpoints.checkpoint_reader(path).tables["q"].current_size == 1


def test_settings_in_code_hold_and_each_difference_is_named_in_one_warning(tmp_path, caplog):
    with start(tmp_path) as server:
        fill(server.localhost_client(), 4)
        server.checkpoint()
    with start(tmp_path) as server:
        assert not caplog.records
    tables = make_tables(max_size=2, exponent=0.5, max_times_sampled=7)
    with start(tmp_path, tables) as server:
        (record,) = caplog.records
        text = record.getMessage()
        for word in ("max_size", "max_times_sampled", "0.5", "100", "7"):
            assert word in text
        info = server.localhost_client().server_info()["prioritized"]
        assert (info.max_size, info.max_times_sampled, info.current_size) == (2, 7, 2)
        # The remover is a Fifo: the newest two are left.
        assert {item.priority for item in server.localhost_client().list_items("prioritized")} == {
            3.0,
            4.0,
        }


def test_the_ratio_goes_on(tmp_path):
    with start(tmp_path) as server:
        client = server.localhost_client()
        fill(client, 4)
        with pytest.raises(errors.DeadlineExceededError):
            client.insert(
                {"x": np.zeros(3, np.float32), "y": np.int64(0)}, {"prioritized": 1.0}, timeout=0.05
            )
        server.checkpoint()
    with start(tmp_path) as server:
        client = server.localhost_client()
        step = {"x": np.zeros(3, np.float32), "y": np.int64(0)}
        with pytest.raises(errors.DeadlineExceededError):
            client.insert(step, {"prioritized": 1.0}, timeout=0.05)
        # Room for the insert that was given up above, which is still on its way, and for another.
        list(client.sample("prioritized", 4))
        client.insert(step, {"prioritized": 1.0}, timeout=support.PATIENCE)


@pytest.mark.parametrize("format", _FORMATS)
@pytest.mark.parametrize("keep", [1, 3])
def test_so_many_are_kept_and_nothing_else_is_touched(tmp_path, format, keep):
    foreign = ["zzz_file", "0000", "chunks-mine.tfrecord"]
    for name in foreign:
        (tmp_path / name).write_text("mine")
    (tmp_path / "9999-mine").mkdir()
    (tmp_path / "9999-mine" / "DONE").write_text("")
    paths = []
    with start(tmp_path / "root", format=format, keep=keep) as server:
        for name in foreign:
            (tmp_path / "root" / name).parent.mkdir(exist_ok=True)
            (tmp_path / "root" / name).write_text("mine")
        for i in range(5):
            fill(server.localhost_client(), 1, first=i)
            list(server.localhost_client().sample("prioritized", 2)) if i > 1 else None
            paths.append(os.path.basename(server.checkpoint()))
    assert paths == sorted(paths)
    assert checkpoints_in(tmp_path / "root") == paths[-keep:]
    for name in foreign:
        assert (tmp_path / "root" / name).read_text() == "mine"
    for path in paths[-keep:]:
        reader = checkpoints.checkpoint_reader(tmp_path / "root" / path)
        count = paths.index(path) + 1
        assert len(list(reader.items("prioritized"))) == count


def test_both_forms_of_a_path(tmp_path):
    with start(tmp_path, keep=2) as server:
        fill(server.localhost_client(), 1)
        older = server.checkpoint()
        fill(server.localhost_client(), 1, first=5)
        newer = server.checkpoint()
    for path, expected, size in ((tmp_path, newer, 2), (newer, newer, 2), (older, older, 1)):
        with start(path, keep=9) as server:
            assert server.restored_from == expected
            assert server.localhost_client().server_info()["prioritized"].current_size == size


def test_a_long_load_says_how_far_it_is(monkeypatch, capsys):
    clock = [0.0]
    monkeypatch.setattr(_checkpointing.time, "monotonic", lambda: clock[0])
    progress = _checkpointing.load_progress()
    for clock[0], done in ((1.0, 10), (4.0, 400), (5.0, 500), (10.0, 900)):
        progress(done * 1_000_000, 1_000_000_000)
    lines = capsys.readouterr().err.splitlines()
    assert [line.rpartition(": ")[2] for line in lines] == ["400 of 1,000 MB", "900 of 1,000 MB"]


def test_the_fallback(tmp_path):
    with start(tmp_path / "old") as server:
        fill(server.localhost_client(), 2)
        old = server.checkpoint()
    fallback = {"fallback_checkpoint_path": tmp_path / "old"}
    with start(tmp_path / "new", **fallback) as server:
        assert server.restored_from == old
        new = server.checkpoint()
    with start(tmp_path / "new", **fallback) as server:
        assert server.restored_from == new
    with pytest.raises(errors.NotFoundError, match="nowhere"):
        start(tmp_path / "other", fallback_checkpoint_path=tmp_path / "nowhere")


def test_a_checkpoint_that_must_be_there(tmp_path):
    with pytest.raises(errors.NotFoundError, match=str(tmp_path / "a")):
        start(tmp_path / "a", must_restore=True)
    with start(tmp_path / "a") as server:
        assert server.restored_from is None
        server.checkpoint()
    with start(tmp_path / "a", must_restore=True) as server:
        assert server.restored_from is not None


def test_tables_that_the_server_lacks_are_named(tmp_path):
    with start(tmp_path) as server:
        server.checkpoint()
    with pytest.raises(ValueError, match="prioritized"):
        start(tmp_path, [reverb.Table.queue("queue", 5)])


@pytest.mark.parametrize("format", _FORMATS)
def test_damage_is_named_with_what_else_there_is(tmp_path, format):
    with start(tmp_path, format=format, keep=2) as server:
        fill(server.localhost_client(), 2)
        older = server.checkpoint()
        newer = pathlib.Path(server.checkpoint())
    file = newer / "items.tfrecord"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0x10
    file.write_bytes(data)
    for call in (lambda: start(tmp_path), lambda: checkpoints.checkpoint_reader(newer)):
        with pytest.raises(errors.DataLossError) as e:
            call()
        assert "items.tfrecord" in str(e.value)
        assert os.path.basename(older) in str(e.value)
    with start(older) as server:
        assert server.localhost_client().server_info()["prioritized"].current_size == 2


@pytest.mark.parametrize("signal", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("on_exit", [True, False])
def test_a_checkpoint_before_the_end(tmp_path, signal, on_exit):
    result = support.run_script(
        """
        import os, signal, sys, threading
        import reverb_tf as reverb
        checkpointer = reverb.checkpointers.DefaultCheckpointer(sys.argv[1], on_exit=sys.argv[3] == "True")
        server = reverb.Server([reverb.Table.queue("q", 2)], checkpointer=checkpointer, host="127.0.0.1")
        server.localhost_client().insert([1], {"q": 1.0})
        sys.setswitchinterval(1e6)  # the thread runs once the main thread is inside wait()
        ready = threading.Event()
        def send():
            ready.wait()
            os.kill(os.getpid(), getattr(signal, sys.argv[2]))
        threading.Thread(target=send).start()
        ready.set()
        server.wait()
        """,
        str(tmp_path),
        signal,
        str(on_exit),
    )
    assert result.returncode != 0
    found = checkpoints_in(tmp_path)
    assert len(found) == on_exit
    if on_exit:
        assert checkpoints.checkpoint_reader(tmp_path).tables["q"].current_size == 1


def test_a_schedule(tmp_path):
    with start(tmp_path, every=0.05, keep=1) as server:
        fill(server.localhost_client(), 2)
        seen = set()
        deadline = time.monotonic() + support.PATIENCE
        while len(seen) < 3 and time.monotonic() < deadline:
            seen.update(checkpoints_in(tmp_path))
        assert len(seen) >= 3
    assert len(checkpoints_in(tmp_path)) == 1


@pytest.mark.parametrize("format", _FORMATS)
def test_reading_without_a_server(tmp_path, format):
    with start(tmp_path, format=format) as server:
        client = server.localhost_client()
        keys = fill(client, 3)
        client.insert([b"a"], {"queue": 1.0})
        expected = client.server_info()
        path = server.checkpoint()
    reader = reverb.checkpoint_reader(tmp_path)
    assert (reader.path, reader.format) == (path, format)
    assert reader.num_bytes > 0
    for name, info in reader.tables.items():
        for field in (
            "sampler_options",
            "remover_options",
            "max_size",
            "rate_limiter_info",
            "signature",
        ):
            assert getattr(info, field) == getattr(expected[name], field), field
        assert info.current_size == expected[name].current_size
    samples = list(reader.items("prioritized", unpack_as_table_signature=True))
    assert [sample.info.key for sample in samples] == keys
    np.testing.assert_array_equal(samples[1].data["y"], [1, 2])
    np.testing.assert_array_equal(samples[2].data["x"], np.repeat([[2.0], [3.0]], 3, axis=1))
    with pytest.raises(errors.NotFoundError, match="'queue'"):
        list(reader.items("nothing"))


def test_the_command(tmp_path):
    with start(tmp_path) as server:
        fill(server.localhost_client(), 3)
        server.checkpoint()
    command = [sys.executable, "-m", "reverb_tf.checkpoints"]
    run = lambda path: subprocess.run(  # noqa: E731
        [*command, str(path)], capture_output=True, text=True, env=support.environment()
    )
    result = run(tmp_path)
    assert result.returncode == 0, result.stderr
    assert "table 'prioritized': 3 of at most 100 items" in result.stdout
    missing = run(tmp_path / "nowhere")
    assert missing.returncode == 1 and "nowhere" in missing.stderr


@pytest.mark.parametrize("format", _FORMATS)
def test_kills(tmp_path, format):
    loop = crash_loop.CrashLoop(tmp_path, format, keep=2, seed=1)
    for _ in range(6):
        loop.run_once()
