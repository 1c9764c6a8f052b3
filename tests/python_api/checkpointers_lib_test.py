"""Checkpointers as descriptions."""

import pathlib

import pytest

import reverb_tf as reverb
from reverb_tf import errors, pybind
from reverb_tf.platform import checkpointers_lib
from tests.python_api import support


def test_temporary_folder():
    checkpointer = checkpointers_lib.TempDirCheckpointer()
    assert isinstance(checkpointer.internal_checkpointer(), pybind.Checkpointer)
    assert checkpointer.internal_checkpointer().path == checkpointer.path
    assert not pathlib.Path(checkpointer.path).exists()
    assert checkpointer.path != checkpointers_lib.TempDirCheckpointer().path


def test_default_checkpointer_keeps_its_settings(tmp_path):
    checkpointer = checkpointers_lib.DefaultCheckpointer("a", fallback_checkpoint_path=tmp_path)
    assert (checkpointer.path, checkpointer.group) == ("a", "")
    assert checkpointer.fallback_checkpoint_path == tmp_path
    native = checkpointer.internal_checkpointer()
    assert (native.path, native.fallback_checkpoint_path) == ("a", str(tmp_path))
    assert (native.format, native.keep, native.every) == ("incremental", 1, None)
    assert "'a'" in repr(checkpointer) and "'a'" in repr(native)
    with pytest.raises(AttributeError):
        native.path = "b"


@pytest.mark.parametrize("group", [None, "some"])
def test_what_is_used_by_default(group):
    checkpointer = reverb.checkpointers.default_checkpointer(group)
    assert type(checkpointer) is checkpointers_lib.TempDirCheckpointer
    assert isinstance(checkpointer, reverb.checkpointers.CheckpointerBase)


@pytest.mark.parametrize(
    "arguments, settings, error",
    [
        (("a", "some group"), {}, ValueError),
        (("a", None), {}, TypeError),
        (("",), {}, ValueError),
        ((3,), {}, TypeError),
        (("a", "", ""), {}, ValueError),
        (("a",), {"format": "zip"}, ValueError),
        (("a",), {"keep": 0}, ValueError),
        (("a",), {"keep": 1.5}, TypeError),
        (("a",), {"every": 0}, ValueError),
        (("a",), {"every": float("nan")}, ValueError),
        (("a",), {"every": "often"}, TypeError),
    ],
)
def test_settings_that_cannot_work(arguments, settings, error):
    with pytest.raises(error):
        checkpointers_lib.DefaultCheckpointer(*arguments, **settings).internal_checkpointer()


def test_the_base_class_is_abstract():
    with pytest.raises(TypeError):
        checkpointers_lib.CheckpointerBase()


def test_a_server_takes_nothing_but_checkpointers():
    with pytest.raises(TypeError, match="checkpointer"):
        reverb.Server([reverb.Table.queue("q", 1)], checkpointer="somewhere")


def test_a_checkpoint_of_a_server_without_checkpointer():
    native = pybind.Server([reverb.Table.queue("q", 1).internal_table], 0)
    with pytest.raises(ValueError, match="no checkpointer"):
        reverb.Client(f"localhost:{native.port}").checkpoint()
    native.Stop()


def test_a_checkpoint_of_a_server_that_is_not_there():
    client = reverb.Client(f"127.0.0.1:{support.dead_port()}")
    with pytest.raises(errors.DeadlineExceededError):
        client.checkpoint(timeout=0.1)
