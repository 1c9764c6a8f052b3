"""`import reverb` means this package: install_as_reverb() and python -m reverb_tf.as_reverb."""

import subprocess
import sys
import zipfile

import pytest

from tests.python_api import support

# Of dm-reverb, where this package has what is in them and TensorFlow is not needed.
_MODULES = """
    reverb reverb.client reverb.errors reverb.item_selectors reverb.rate_limiters reverb.reverb_types
    reverb.replay_sample reverb.server reverb.trajectory_writer reverb.structured_writer reverb.pybind reverb.platform
    reverb.platform.checkpointers_lib reverb.platform.default reverb.platform.default.checkpointers
    reverb.platform.default.ensure_tf_install reverb.platform.default.load_op_library
    reverb.platform.default.server_main_command_line_args reverb.server_executable
    reverb.server_executable.server_from_proto reverb.server_executable.server_main
    reverb.server_executable.reverb_config_pb2 reverb.cc reverb.cc.schema_pb2 reverb.cc.patterns_pb2
    reverb.cc.checkpointing.checkpoint_pb2
""".split()


def output(code: str) -> str:
    result = support.run_script(code)
    assert result.returncode == 0, result.stderr[-4000:]
    return result.stdout


@pytest.mark.parametrize("order", ["before", "after"])
def test_every_module_is_one_object_under_both_names(order):
    imports = "".join(f"import {name.replace('reverb', 'reverb_tf', 1)}\n" for name in _MODULES)
    code = f"""
import importlib, sys
import reverb_tf
{imports if order == "before" else ""}
reverb_tf.install_as_reverb()
for name in {_MODULES}:
    alias = importlib.import_module(name)
    ours = importlib.import_module(name.replace("reverb", "reverb_tf", 1))
    assert alias is ours is sys.modules[name], name
    assert alias.__spec__.name.startswith("reverb_tf"), alias.__spec__
    parent, _, child = name.rpartition(".")
    assert not parent or getattr(sys.modules[parent], child) is ours, name
assert sys.modules["reverb"] is reverb_tf
assert "tensorflow" not in sys.modules
"""
    assert output(code) == ""


def test_top_level_names():
    assert (
        output(
            """
            import reverb_tf
            reverb_tf.install_as_reverb()
            import reverb
            from reverb import Client, DeadlineExceededError, ReverbError, ReplaySample, SampleInfo, Server, Table
            from reverb import TrajectoryColumn, TrajectoryWriter, Writer, checkpointers, rate_limiters, selectors
            assert Writer is reverb.client.Writer
            assert selectors is reverb.item_selectors is reverb_tf.selectors
            assert reverb.structured is reverb.structured_writer
            from reverb import structured, structured_writer
            assert structured is structured_writer and structured.StructuredWriter
            assert checkpointers is reverb.platform.default.checkpointers
            assert checkpointers.DefaultCheckpointer is reverb.platform.checkpointers_lib.DefaultCheckpointer
            assert reverb.pybind.HeapSelector is reverb.reverb_types.Heap
            assert reverb.cc.schema_pb2.TableInfo().max_size == 0
            assert reverb.cc.checkpointing.checkpoint_pb2.PriorityTableCheckpoint().max_size == 0
            assert reverb.server_executable.__name__ == "reverb_tf.server_executable"
            from reverb.cc import schema_pb2
            from reverb_tf.proto import schema_pb2 as ours
            assert schema_pb2 is ours
            from reverb.server_executable import reverb_config_pb2
            assert reverb_config_pb2.ReverbServerConfig().port == 0
            """
        )
        == ""
    )


def test_every_exported_name_is_there():
    import reverb_tf

    lazy = {*reverb_tf._LAZY_NAMES, *reverb_tf._LAZY_MODULES}
    for name in {*reverb_tf.__all__, *dir(reverb_tf)}:
        try:
            getattr(reverb_tf, name)
        except ImportError as e:  # without TensorFlow, or with another version than the ops are for
            assert name in lazy and "pip install" in str(e)


def test_platform_helpers():
    from reverb_tf.platform.default import ensure_tf_install, load_op_library

    try:
        ensure_tf_install.ensure_tf_version()
    except ImportError as e:
        assert "pip install" in str(e)
    with pytest.raises(ImportError, match="pip install"):
        load_op_library.reraise_wrapped_error(RuntimeError("x.so: undefined symbol: _ZN1f"))
    with pytest.raises(RuntimeError, match="no such file"):
        load_op_library.reraise_wrapped_error(RuntimeError("no such file"))


def test_modules_that_need_tensorflow_come_when_asked_for():
    pytest.importorskip("tensorflow")
    pytest.importorskip("reverb_tf.trajectory_dataset", exc_type=ImportError)
    assert (
        output(
            """
            import sys
            import reverb_tf
            reverb_tf.install_as_reverb()
            import reverb
            assert "tensorflow" not in sys.modules
            import reverb.tf_client
            from reverb import PatternDataset, TimestepDataset, TrajectoryDataset
            assert reverb.tf_client is reverb_tf.tf_client
            assert PatternDataset is reverb.pattern_dataset.PatternDataset
            assert TimestepDataset is reverb.timestep_dataset.TimestepDataset
            assert TrajectoryDataset is reverb.trajectory_dataset.TrajectoryDataset
            import reverb.timestep_dataset
            assert reverb.timestep_dataset is reverb_tf.timestep_dataset
            """
        )
        == ""
    )


_OP_WRAPPERS = {
    "reverb_client_sample_batch": "ReverbClientSampleBatch",
    "reverb_client_insert_batch": "ReverbClientInsertBatch",
    "reverb_client_delete": "ReverbClientDelete",
    "reverb_client": "ReverbClient",
    "reverb_client_insert": "ReverbClientInsert",
    "reverb_client_sample": "ReverbClientSample",
    "reverb_client_update_priorities": "ReverbClientUpdatePriorities",
    "reverb_dataset": "ReverbDataset",
    "reverb_pattern_dataset": "ReverbPatternDataset",
    "reverb_timestep_dataset": "ReverbTimestepDataset",
    "reverb_trajectory_dataset": "ReverbTrajectoryDataset",
    "reverb_trajectory_writer": "ReverbTrajectoryWriter",
    "reverb_trajectory_writer_append": "ReverbTrajectoryWriterAppend",
    "reverb_trajectory_writer_close": "ReverbTrajectoryWriterClose",
    "reverb_trajectory_writer_create_item": "ReverbTrajectoryWriterCreateItem",
    "reverb_trajectory_writer_end_episode": "ReverbTrajectoryWriterEndEpisode",
    "reverb_trajectory_writer_flush": "ReverbTrajectoryWriterFlush",
    "reverb_variable_pull": "ReverbVariablePull",
    "reverb_variable_pull_if_newer": "ReverbVariablePullIfNewer",
    "reverb_variable_push": "ReverbVariablePush",
}


@pytest.mark.parametrize("how", ["import {0}", "from reverb.cc.ops import gen_reverb_ops", "pass"])
def test_op_wrappers(how):
    pytest.importorskip("tensorflow")
    pytest.importorskip("reverb_tf.trajectory_dataset", exc_type=ImportError)
    assert (
        output(
            f"""
            import sys
            import reverb_tf
            reverb_tf.install_as_reverb()
            import reverb
            reverb.cc.ops
            assert "tensorflow" not in sys.modules
            {how.format("reverb.cc.ops.gen_reverb_ops")}
            ops = reverb.cc.ops.gen_reverb_ops
            assert ops is reverb_tf.cc.ops.gen_reverb_ops is sys.modules["reverb_tf.cc.ops.gen_reverb_ops"]
            import tensorflow as tf
            with tf.Graph().as_default() as graph:
                handle = ops.reverb_client(server_address="localhost:1", container="", shared_name="", name="a")
                common = dict(handle=handle, table="t")
                ops.reverb_client_sample(**common, Toutput_list=[tf.int32], name="b")
                priorities = tf.constant([1.0], tf.float64)
                ops.reverb_client_update_priorities(**common, keys=[1], priorities=priorities, name="c")
                ops.reverb_client_insert(handle=handle, data=[1], tables=["t"], priorities=priorities, name="d")
                ops.reverb_client_sample_batch(**common, num_samples=2, Toutput_list=[tf.int32], name="f")
                ops.reverb_client_insert_batch(**common, data=[[1]], priorities=priorities, name="g")
                ops.reverb_client_delete(**common, keys=[1], name="h")
                for make in (ops.reverb_timestep_dataset, ops.reverb_trajectory_dataset):
                    make(
                        server_address="localhost:1", table="t", max_in_flight_samples_per_worker=1,
                        num_workers_per_iterator=1, max_samples_per_stream=1, rate_limiter_timeout_ms=1,
                        max_samples=1, dtypes=[tf.int32], shapes=[[]], name="e",
                    )
                variables = dict(handle=handle, table="t", name="g")
                ops.reverb_variable_push(**variables, values=[1], shapes=[[]])
                pulled = dict(**variables, Toutput_list=[tf.int32], output_shapes=[[]])
                ops.reverb_variable_pull(**pulled, min_version=0, timeout_ms=-1)
                ops.reverb_variable_pull_if_newer(**pulled, version=0, defaults=[])
                ops.reverb_dataset(
                    server_address=["localhost:1"], table="t", beta=0.5, batch_size=2, dtypes=[tf.int32], shapes=[[]]
                )
                steps = tf.data.Dataset.range(3)
                ops.reverb_pattern_dataset(
                    dataset=steps._variant_tensor, other_arguments=[], clear_after_episode=True, configs=["c"],
                    is_end_of_episode=tf.function(lambda x: x > 1).get_concrete_function(tf.TensorSpec([], tf.int64)),
                    dtypes=[tf.int64], shapes=[[]], name="f",
                )
                writer = ops.reverb_trajectory_writer(
                    server_address="localhost:1", dtypes=[tf.int32], shapes=[[]], paths=["x"], num_keep_alive_refs=1,
                )
                common = dict(handle=writer, order=[handle])
                ops.reverb_trajectory_writer_append(**common, mask=True, data=[1], columns=[0])
                ops.reverb_trajectory_writer_create_item(
                    **common, mask=True, table="t", priority=priorities[0], starts=[0], stops=[1], columns=[0],
                    squeeze=[False],
                )
                ops.reverb_trajectory_writer_end_episode(**common, mask=True)
                for make in (ops.reverb_trajectory_writer_flush, ops.reverb_trajectory_writer_close):
                    make(**common)
                found = sorted(o.type for o in graph.get_operations() if o.type.startswith("Reverb"))
                assert found == {sorted(_OP_WRAPPERS.values())}, found
            assert {set(_OP_WRAPPERS)} == {{name for name in vars(ops) if name.startswith("reverb_")}}
            """
        )
        == ""
    )


def test_what_does_not_exist_is_not_found():
    lines = output(
        """
        import importlib.util
        import reverb_tf
        reverb_tf.install_as_reverb()
        for name in ("reverb.nothing", "reverb.platform.nothing", "reverb.client.nothing"):
            try:
                __import__(name)
            except ModuleNotFoundError as e:
                print(e.name)
        print(importlib.util.find_spec("reverb.nothing"))
        print(importlib.util.find_spec("reverbatim"))
        """
    ).split()
    assert lines == [
        "reverb.nothing",
        "reverb.platform.nothing",
        "reverb.client.nothing",
        "None",
        "None",
    ]


@pytest.mark.parametrize("imported", ["reverb", "reverb.client"])
def test_another_reverb_is_not_replaced(imported, tmp_path):
    package = tmp_path / "reverb"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "client.py").touch()
    lines = output(
        f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import {imported}
        import reverb_tf
        try:
            reverb_tf.install_as_reverb()
        except RuntimeError as e:
            print(e)
        print(sys.modules["reverb"] is not reverb_tf)
        """
    ).splitlines()
    assert len(lines) == 2 and lines[1] == "True"
    assert "before anything imports dm-reverb" in lines[0] and str(tmp_path) in lines[0]


def test_twice():
    assert (
        output(
            """
            import sys
            import reverb_tf
            before = len(sys.meta_path)
            reverb_tf.install_as_reverb()
            reverb_tf.install_as_reverb()
            import reverb.client
            reverb.install_as_reverb()
            print(len(sys.meta_path) - before)
            """
        )
        == "1\n"
    )


def test_mock_and_pickle_and_isinstance():
    assert (
        output(
            """
            import pickle
            from unittest import mock
            import reverb_tf
            reverb_tf.install_as_reverb()
            import reverb
            from reverb import client as client_lib
            with reverb.Server([reverb.Table.queue("q", 2)]) as server:
                with mock.patch("reverb.client.Client") as fake:
                    assert server.localhost_client() is fake.return_value
                    assert client_lib.Client is reverb_tf.client.Client is fake
            client = pickle.loads(pickle.dumps(reverb.Client("localhost:1")))
            assert isinstance(client, reverb_tf.Client) and client.server_address == "localhost:1"
            # What dm-reverb has pickled names its own modules.
            assert pickle.loads(b"creverb.client\\nClient\\n(S'localhost:2'\\ntR.").server_address == "localhost:2"
            info = pickle.loads(b"creverb.replay_sample\\nSampleInfo\\n(I1\\nF0.5\\nI2\\nF3.0\\nI4\\ntR.")
            assert info == reverb.SampleInfo(1, 0.5, 2, 3.0, 4)
            try:
                reverb.Server([])
            except ValueError:
                pass
            try:
                reverb.Client("localhost:1").server_info(timeout=0.01)
            except reverb.errors.DeadlineExceededError:
                pass
            """
        )
        == ""
    )


def run(*arguments, cwd, alias=True, **settings):
    """Runs the interpreter, or what it runs under the alias."""
    command = [sys.executable, *(["-m", "reverb_tf.as_reverb"] if alias else []), *arguments]
    return subprocess.run(
        command,
        cwd=cwd,
        env=support.environment(),
        capture_output=True,
        text=True,
        timeout=support.PATIENCE,
        **settings,
    )


_LOOK = """
import re, sys
main = sys.modules["__main__"]
assert main.__dict__ is globals()
print(re.sub("0x[0-9a-f]+", "address", str(sorted(globals().items()))))
print(sys.argv, sys.path[0], [p for p in sys.path[1:] if "_child_path" not in p], __name__)
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "look.py").write_text(_LOOK)
    package = tmp_path / "package" / "inner"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    (package / "__main__.py").write_text(_LOOK)
    (package / "__init__.py").touch()
    (tmp_path / "link.py").symlink_to(package / "__main__.py")
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("__main__.py", _LOOK)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("look.py", "a", "-b"),
        ("./package/inner/__main__.py",),
        ("package/inner", "x"),
        ("archive.zip",),
        ("link.py",),
        ("-c", _LOOK, "a", "-m"),
        ("-m", "look", "-c"),
        ("-m", "package.inner", "y"),
    ],
    ids=lambda arguments: " ".join(arguments).replace(_LOOK, "..."),
)
def test_a_program_finds_what_python_would_give_it(program, arguments):
    run("-m", "look", cwd=program, alias=False)  # so that there is a .pyc for both
    expected = run(*arguments, cwd=program, alias=False)
    got = run(*arguments, cwd=program)
    assert expected.returncode == 0, expected.stderr
    assert (got.returncode, got.stdout, got.stderr) == (0, expected.stdout, "")


@pytest.mark.parametrize(
    "code",
    [
        "def f():\n    1 / 0\nf()\n",
        "def f(:\n",
        "import sys\nsys.exit(7)\n",
        "import sys\nsys.exit('a text')\n",
        "raise KeyboardInterrupt\n",
        "raise ValueError('a') from KeyError('b')\n",
        "import atexit, sys\natexit.register(print, 'end')\nsys.excepthook = lambda *a: print('hook', a[0])\n1 / 0\n",
        "import os\nos._exit(3)\n",
    ],
)
@pytest.mark.parametrize("how", ["script", "module", "code"])
def test_a_program_ends_as_it_would(tmp_path, code, how):
    (tmp_path / "program.py").write_text(code)
    arguments = {"script": ["program.py"], "module": ["-m", "program"], "code": ["-c", code]}[how]
    run("-m", "program", cwd=tmp_path, alias=False)
    expected = run(*arguments, cwd=tmp_path, alias=False)
    got = run(*arguments, cwd=tmp_path)
    assert (got.returncode, got.stdout) == (expected.returncode, expected.stdout)
    if how == "code":  # from Python 3.13 on, it shows the lines of -c
        assert got.stderr.splitlines()[-1:] == expected.stderr.splitlines()[-1:]
        assert "as_reverb" not in got.stderr
    else:
        assert got.stderr == expected.stderr


@pytest.mark.parametrize("arguments, code", [((), 2), (("-c",), 2), (("-m",), 2), (("--help",), 0)])
def test_usage(tmp_path, arguments, code):
    result = run(*arguments, cwd=tmp_path)
    assert result.returncode == code
    assert "python -m reverb_tf.as_reverb script.py" in result.stdout + result.stderr


@pytest.mark.parametrize("arguments", [("nothing.py",), ("-m", "nothing")])
def test_a_program_that_does_not_exist(tmp_path, arguments):
    expected = run(*arguments, cwd=tmp_path, alias=False)
    got = run(*arguments, cwd=tmp_path)
    assert got.returncode == expected.returncode
    assert got.stderr.count("\n") == 1 and "nothing" in got.stderr


_USE = """
import multiprocessing, subprocess, sys
import reverb

def child(address):
    from reverb import client
    client.Client(address).insert([7], {"q": 1.0})

if __name__ == "__main__":
    server = reverb.Server([reverb.Table.queue("q", 5)])
    address = f"localhost:{server.port}"
    process = multiprocessing.get_context("spawn").Process(target=child, args=(address,))
    process.start()
    process.join()
    code = "import sys, reverb.client, reverb_tf; assert reverb is reverb_tf; "
    code += "reverb.client.Client(sys.argv[1]).insert([8], {'q': 1.0})"
    subprocess.run([sys.executable, "-c", code, address], check=True)
    client = server.localhost_client()
    print([int(step.data[0]) for (step,) in client.sample("q", 2)], reverb.__name__)
    server.stop()
"""


def test_a_program_and_the_processes_it_starts(tmp_path):
    (tmp_path / "program.py").write_text(_USE)
    result = run("program.py", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "[7, 8] reverb_tf\n"), result.stderr


def test_a_module_of_the_alias_can_be_run(tmp_path):
    result = run("-m", "reverb.server_executable.server_main", "--help", cwd=tmp_path)
    assert "--config" in result.stdout + result.stderr
