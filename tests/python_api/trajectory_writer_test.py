"""What a TrajectoryWriter passes on, and how it ends, over a writer that only records its calls."""

from unittest import mock

import numpy as np
import pytest

from reverb_tf import chunker_options, errors
from tests.python_api.fake_writer import values


def test_create_item_passes_references(writer, native):
    for i in range(3):
        writer.append({"a": i, "b": 10 * i})
    history = writer.history
    writer.create_item("table", 1.5, {"x": history["b"][-1], "n": [history["a"][:2]]})
    table, priority, columns, squeezed = native.CreateItem.call_args.args
    assert (table, priority, squeezed) == ("table", 1.5, [False, True])
    assert [values(column) for column in columns] == [[0, 1], [20]]
    assert columns[0][0] is list(history["a"])[0]


@pytest.mark.parametrize("leaf", [1, None, np.zeros(2), "x"])
def test_create_item_checks_the_leaves(writer, native, leaf):
    writer.append({"a": 1})
    with pytest.raises(TypeError, match="TrajectoryColumn"):
        writer.create_item("table", 1.0, {"a": writer.history["a"][:], "b": leaf})
    with pytest.raises(TypeError):
        writer.create_item("table", 1.0, {"a": writer.history["a"]})
    native.CreateItem.assert_not_called()


def test_flush(writer, native):
    writer.flush()
    writer.flush(3, 100)
    writer.flush(block_until_num_items=1, timeout=0.5)
    assert [call.args for call in native.Flush.call_args_list] == [(0, -1), (3, 100), (1, 500)]
    for bad in (
        {"block_until_num_items": -1},
        {"timeout_ms": -1},
        {"timeout": -1},
        {"timeout": 1, "timeout_ms": 1},
    ):
        with pytest.raises(ValueError):
            writer.flush(**bad)


def test_timeouts_of_any_native_writer_become_deadline_errors(writer, native):
    native.Flush.side_effect = RuntimeError("Timeout exceeded while waiting")
    native.EndEpisode.side_effect = RuntimeError("Timeout exceeded while waiting")
    with pytest.raises(errors.DeadlineExceededError, match="0:00:01.500000"):
        writer.flush(timeout_ms=1500)
    with pytest.raises(errors.DeadlineExceededError):
        writer.end_episode(timeout_ms=10)
    native.Flush.side_effect = RuntimeError("something else")
    with pytest.raises(RuntimeError, match="something else") as e:
        writer.flush()
    assert not isinstance(e.value, errors.ReverbError)


def test_end_episode(writer, native):
    writer.append({"a": 1})
    writer.end_episode(clear_buffers=False)
    assert values(writer.history["a"]) == [1]
    native.EndEpisode.side_effect = RuntimeError("broken")
    with pytest.raises(RuntimeError):
        writer.end_episode()
    assert values(writer.history["a"]) == [1]
    native.EndEpisode.side_effect = None
    writer.end_episode(timeout_ms=5)
    assert len(writer.history["a"]) == 0
    assert [call.args for call in native.EndEpisode.call_args_list] == [
        (False, None),
        (True, None),
        (True, 5),
    ]


@pytest.mark.parametrize(
    "error", [None, ValueError, KeyboardInterrupt, errors.InvalidArgumentError]
)
def test_leaving_a_with_block_flushes(writer, error):
    with mock.patch.object(writer, "flush") as flush:
        try:
            with writer as entered:
                assert entered is writer
                if error is not None:
                    raise error("x")
        except BaseException as e:
            assert type(e) is error
    flush.assert_called_once()
    if error is not None:  # What the user raised must not be held up.
        assert flush.call_args.kwargs["timeout_ms"] > 0


@pytest.mark.parametrize("error", [errors.ReverbError, errors.DeadlineExceededError])
def test_leaving_a_with_block_with_our_error_does_not_flush(writer, error):
    with mock.patch.object(writer, "flush") as flush, pytest.raises(error):
        with writer:
            raise error("x")
    flush.assert_not_called()


def test_the_exception_of_a_with_block_survives_a_failing_flush(writer, native, caplog):
    native.Flush.side_effect = RuntimeError("Timeout exceeded")
    with pytest.raises(ZeroDivisionError):
        with writer:
            raise ZeroDivisionError
    assert "ZeroDivisionError" in caplog.text


def test_close(writer, native):
    writer.close()
    del writer
    assert native.Close.called
    native.Flush.assert_not_called()


def test_configure_a_known_column(writer, native):
    writer.append({"a": 1, "b": {"c": 2}})
    writer.configure(("b", "c"), num_keep_alive_refs=20, max_chunk_length=None)
    native.ConfigureChunker.assert_called_once_with(
        1, chunker_options.AutoTunedChunkerOptions(num_keep_alive_refs=20, throughput_weight=1.0)
    )
    for i in range(30):
        writer.append({"a": i, "b": {"c": i}})
    assert len([ref for ref in writer.history["b"]["c"] if ref is not None]) == 20
    assert len([ref for ref in writer.history["a"] if ref is not None]) == 10


def test_configure_a_column_before_it_appears(writer, native):
    writer.configure(("b", 0), num_keep_alive_refs=3, max_chunk_length=2)
    writer.append({"a": 1})
    native.ConfigureChunker.assert_not_called()
    writer.append({"b": [2]})
    native.ConfigureChunker.assert_called_once_with(
        1, chunker_options.ConstantChunkerOptions(num_keep_alive_refs=3, max_chunk_length=2)
    )
    for i in range(5):
        writer.append({"b": [i]})
    assert values(writer.history["b"][0][-3:]) == [2, 3, 4]
    with pytest.raises(ValueError):
        writer.history["b"][0][-4:]


@pytest.mark.parametrize("keep, length", [(0, None), (-1, None), (2, 3), (2, 0), (2, -1)])
def test_configure_refuses(writer, keep, length):
    with pytest.raises(ValueError):
        writer.configure(("a",), num_keep_alive_refs=keep, max_chunk_length=length)


@pytest.mark.parametrize(
    "path, keep, length", [("a", 1, None), (("a",), 1.0, None), (("a",), "1", None), (3, 1, None)]
)
def test_configure_refuses_other_types(writer, native, path, keep, length):
    with pytest.raises(TypeError):
        writer.configure(path, num_keep_alive_refs=keep, max_chunk_length=length)
    native.ConfigureChunker.assert_not_called()


def test_chunker_options_compare_by_value():
    constant, tuned = (
        chunker_options.ConstantChunkerOptions,
        chunker_options.AutoTunedChunkerOptions,
    )
    assert constant(1, 2) == constant(max_chunk_length=1, num_keep_alive_refs=2) != constant(2, 2)
    assert tuned(3, 1.0) == tuned(3, 2.0) != tuned(4, 1.0)
    assert tuned(3) != constant(1, 3)
