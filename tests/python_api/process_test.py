"""What goes on around a process: imports, forks, exits, servers that come and go."""

import importlib.util
import multiprocessing
import time

import pytest

import reverb_tf as reverb
from reverb_tf import errors
from tests.python_api import support

_USE = """
    server = reverb.Server([reverb.Table.queue("q", 5)])
    client = server.localhost_client()
    client.insert([np.float32(2)], {"q": 1.0})
    print(float(next(client.sample("q"))[0].data[0]))
    server.stop()
"""

_BLOCK_TENSORFLOW = """
    import sys
    class Finder:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in ("tensorflow", "keras"):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    sys.meta_path.insert(0, Finder())
"""


def output(*parts: str) -> list[str]:
    import textwrap

    result = support.run_script("".join(textwrap.dedent(part) for part in parts))
    assert result.returncode == 0, result.stderr[-4000:]
    return result.stdout.split("\n")[:-1]


def test_everything_but_graphs_works_without_tensorflow():
    lines = output(
        _BLOCK_TENSORFLOW,
        "import numpy as np\nimport reverb_tf as reverb\n",
        _USE,
        """
        spec = reverb.TensorSpec((None,), np.float32, "x")
        table = reverb.Table.queue("q", 5, signature={"x": (spec,)})
        print(table.info.signature == {"x": (spec,)})
        for name in ("TFClient", "TrajectoryDataset"):
            try:
                getattr(reverb, name)
            except ImportError as e:
                print(e)
        """,
    )
    assert lines[:2] == ["2.0", "True"]
    assert len(lines) == 4
    for line in lines[2:]:
        assert "pip install" in line and "TensorFlow" in line


def test_importing_is_light():
    heavy = output(
        """
        import sys
        import numpy
        before = set(sys.modules)
        import reverb_tf
        heavy = ("tensorflow", "grpc", "google", "absl", "tree", "asyncio", "multiprocessing", "ml_dtypes")
        print(sorted({name.partition(".")[0] for name in set(sys.modules) - before} & set(heavy)))
        """
    )
    assert heavy == ["[]"]


def test_unknown_attributes():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        reverb.nothing  # noqa: B018
    assert {"TFClient", "TrajectoryDataset", "Client"} <= set(dir(reverb))


@pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed"
)
@pytest.mark.parametrize("order", ["reverb_tf, tensorflow", "tensorflow, reverb_tf"])
def test_loading_before_and_after_tensorflow(order):
    first, second = order.split(", ")
    lines = output(
        f"import {first}\nimport {second}\nimport numpy as np\nimport reverb_tf as reverb\nimport tensorflow as tf\n",
        _USE,
        """
        specs = {"x": tf.TensorSpec([None, 3], tf.bfloat16, "x")}
        print(reverb.Table.queue("q", 5, signature=specs).info.signature == specs)
        """,
    )
    assert lines == ["2.0", "True"]


@pytest.mark.parametrize("use_before", [False, True])
def test_fork(use_before):
    lines = output(
        f"""
        import os, sys
        import numpy as np
        import reverb_tf as reverb
        if {use_before}:
            server = reverb.Server([reverb.Table.queue("q", 5)])
            client = server.localhost_client()
            client.insert([1], {{"q": 1.0}})
            writer = client.trajectory_writer(1)
            samples = client.sample("q", 2)
            next(samples)
        child = os.fork()
        if child == 0:
            try:
                if {use_before}:
                    for call in (lambda: client.insert([1], {{"q": 1.0}}), lambda: next(samples),
                                 lambda: writer.append(1), server.wait, lambda: reverb.Client("localhost:1"),
                                 lambda: reverb.Server([reverb.Table.queue("q", 5)])):
                        try:
                            call()
                            print("worked")
                        except reverb.errors.FailedPreconditionError as e:
                            print("spawn" in str(e))
                    server.stop()
                    writer.close()
                    del server, client, writer, samples
                else:
                    with reverb.Server([reverb.Table.queue("q", 5)]) as own:
                        own.localhost_client().insert([1], {{"q": 1.0}})
                    print("worked")
            except BaseException as e:
                print(repr(e))
            sys.stdout.flush()
            os._exit(0)
        print(os.waitpid(child, 0)[1])
        if {use_before}:
            client.insert([2], {{"q": 1.0}})
            server.stop()
        """
    )
    assert lines == ["True"] * 6 + ["0"] if use_before else lines == ["worked", "0"]


def _insert(client):
    return client.insert([7], {"q": 1.0})


def test_a_client_goes_to_a_spawned_process():
    with reverb.Server([reverb.Table.queue("q", 5)]) as server:
        client = server.localhost_client()
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            (key,) = pool.apply_async(_insert, (client,)).get(support.PATIENCE)
        ((step,),) = client.sample("q")
        assert (step.info.key, int(step.data[0])) == (key, 7)


@pytest.mark.parametrize("where", ["local", "grpc"])
def test_exit_with_blocked_threads(where):
    assert output(
        f"""
        import sys, threading
        import numpy as np
        import reverb_tf as reverb
        from tests.python_api import support
        if {where == "local"}:
            server = reverb.Server([reverb.Table.queue("q", 1)])
            address = f"localhost:{{server.port}}"
        else:
            server = support.RemoteServer('[reverb.Table.queue("q", 1)]')
            address = server.address
        client = reverb.Client(address)
        client.insert([1], {{"q": 1.0}})
        next(client.sample("q"))
        def sample():
            next(reverb.Client(address).sample("q"))
        def flush():
            writer = client.trajectory_writer(1)
            for i in range(5):
                writer.append(i)
                writer.create_item("q", 1.0, writer.history[-1:])
            writer.flush()
        def insert():
            while True:
                reverb.Client(address).insert([1], {{"q": 1.0}})
        threads = [threading.Thread(target=f, daemon=True) for f in (insert, insert, flush, sample)]
        for thread in threads:
            thread.start()
        threads[3].join()
        if {where == "grpc"}:
            server._process.stdin.close()
            server._process.stdin = None
        print("end")
        """
    ) == ["end"]


def test_exit_with_live_objects():
    result = support.run_script(
        """
        import reverb_tf as reverb
        server = reverb.Server([reverb.Table.queue("q", 10)])
        client = server.localhost_client()
        client.insert([1], {"q": 1.0})
        writer = client.trajectory_writer(2)
        writer.append({"x": 1})
        column = writer.history["x"][:]
        reference = list(column)[0]
        samples = client.sample("q", 5)
        next(samples)
        print("end")
        """
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", "")


def _restart(tables: str, port: int) -> support.RemoteServer:
    deadline = time.monotonic() + support.PATIENCE
    while True:
        try:
            return support.RemoteServer(tables, port)
        except RuntimeError:
            assert time.monotonic() < deadline


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_restarted_server_is_picked_up(how):
    tables = '[reverb.Table.queue("q", 100)]'
    server = support.RemoteServer(tables)
    client = reverb.Client(server.address)
    writer = client.trajectory_writer(1)
    writer.append(0)
    writer.create_item("q", 1.0, writer.history[-1:])
    writer.flush(timeout=support.PATIENCE)
    next(client.sample("q", timeout=support.PATIENCE))
    sampling = support.Call(lambda: next(client.sample("q", timeout=support.PATIENCE)))
    getattr(server, how)()
    writer.append(1)
    writer.create_item("q", 1.0, writer.history[-1:])
    server = _restart(tables, server.port)
    try:
        writer.flush(timeout=support.PATIENCE)
        assert int(sampling.result()[0].data[0]) == 1
        client.insert([2], {"q": 1.0}, timeout=support.PATIENCE)
        assert client.server_info(support.PATIENCE)["q"].current_size == 1
    finally:
        server.stop()


def test_a_dead_server_is_named():
    server = support.RemoteServer('[reverb.Table.queue("q", 100)]')
    client = reverb.Client(server.address)
    client.insert([2], {"q": 1.0})
    server.kill()
    with pytest.raises(errors.ReverbError, match=str(server.port)):
        client.insert([2], {"q": 1.0}, timeout=1)
    with pytest.raises(errors.ReverbError, match=str(server.port)):
        next(client.sample("q", timeout=1))
