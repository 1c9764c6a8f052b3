"""Checkpointers: what can be said about them while checkpoints are not written."""

import pathlib

import pytest

import reverb_tf as reverb
from reverb_tf import errors, pybind
from reverb_tf.platform import checkpointers_lib
from tests.python_api import support


def test_temporary_folder():
    checkpointer = checkpointers_lib.TempDirCheckpointer()
    assert isinstance(checkpointer.internal_checkpointer(), pybind.Checkpointer)
    folder = pathlib.Path(checkpointer.path)
    assert folder.is_dir() and checkpointer.internal_checkpointer().path == str(folder)
    folder.rmdir()


def test_default_checkpointer_keeps_its_settings(tmp_path):
    checkpointer = checkpointers_lib.DefaultCheckpointer("a", fallback_checkpoint_path=tmp_path)
    assert (checkpointer.path, checkpointer.group) == ("a", "")
    assert checkpointer.fallback_checkpoint_path == tmp_path
    native = checkpointer.internal_checkpointer()
    assert (native.path, native.fallback_checkpoint_path) == ("a", str(tmp_path))
    assert "'a'" in repr(checkpointer) and "'a'" in repr(native)
    with pytest.raises(AttributeError):
        native.path = "b"


@pytest.mark.parametrize("group", [None, "some"])
def test_what_is_used_by_default(group):
    checkpointer = reverb.checkpointers.default_checkpointer(group)
    assert type(checkpointer) is checkpointers_lib.TempDirCheckpointer
    assert isinstance(checkpointer, reverb.checkpointers.CheckpointerBase)
    pathlib.Path(checkpointer.path).rmdir()


@pytest.mark.parametrize(
    "arguments, error",
    [
        (("a", "some group"), ValueError),
        (("a", None), TypeError),
        (("",), ValueError),
        ((3,), TypeError),
        (("a", "", ""), ValueError),
    ],
)
def test_settings_that_cannot_work(arguments, error):
    with pytest.raises(error):
        checkpointers_lib.DefaultCheckpointer(*arguments).internal_checkpointer()


def test_the_base_class_is_abstract():
    with pytest.raises(TypeError):
        checkpointers_lib.CheckpointerBase()


def test_a_server_does_not_take_what_it_would_not_keep(tmp_path):
    table = reverb.Table.queue("q", 1)
    checkpointer = checkpointers_lib.DefaultCheckpointer(tmp_path)
    with pytest.raises(NotImplementedError, match="checkpoint"):
        reverb.Server([table], checkpointer=checkpointer)
    with pytest.raises(NotImplementedError, match="checkpoint"):
        pybind.Server([table.internal_table], 0, checkpointer.internal_checkpointer())


def test_a_checkpoint_of_a_server_without_checkpointer(serve):
    client = reverb.Client(serve('[reverb.Table.queue("q", 1)]').address)
    with pytest.raises(ValueError, match="no checkpointer"):
        client.checkpoint()


def test_a_checkpoint_of_a_server_that_is_not_there():
    client = reverb.Client(f"localhost:{support.unused_port()}")
    with pytest.raises(errors.DeadlineExceededError):
        client.checkpoint(timeout=0.1)
