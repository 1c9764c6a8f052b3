"""TrajectoryWriter, its histories and columns over a writer that only records its calls."""

import collections
from unittest import mock

import numpy as np
import pytest

from reverb_tf import chunker_options, errors, trajectory_writer


class FakeRef:
    """What a native writer hands out for a value."""

    def __init__(self, value):
        self._value = np.asarray(value)
        self.expired = False

    shape = property(lambda self: self._value.shape)
    dtype = property(lambda self: self._value.dtype)

    def numpy(self):
        return self._value


@pytest.fixture
def native():
    def append(values):
        return [None if value is None else FakeRef(value) for value in values]

    writer = mock.Mock()
    writer.Append.side_effect = append
    writer.AppendPartial.side_effect = append
    writer.max_num_keep_alive_refs = 10
    return writer


@pytest.fixture
def writer(native):
    return trajectory_writer.TrajectoryWriter(native)


def values(refs):
    return [None if ref is None else ref.numpy().tolist() for ref in refs]


def test_history_before_the_first_append(writer):
    with pytest.raises(RuntimeError):
        _ = writer.history


def test_history_has_the_structure_of_the_data(writer):
    for i in range(3):
        writer.append({"x": i, "nest": {"y": (10 * i, [100 * i])}})
    history = writer.history
    assert values(history["x"]) == [0, 1, 2]
    assert values(history["nest"]["y"][0]) == [0, 10, 20]
    assert values(history["nest"]["y"][1][0]) == [0, 100, 200]
    assert history["nest"]["y"][0].path() == ("nest", "y", 0)
    assert isinstance(history["x"], trajectory_writer._ColumnHistory)
    assert writer.history is history


def test_first_append_passes_the_flat_list(writer, native):
    writer.append({"z": 1, "a": {"c": 2, "b": [3, 4]}})
    native.Append.assert_called_once_with([3, 4, 2, 1])


def test_new_fields_get_new_columns_and_a_padded_history(writer, native):
    writer.append({"b": 1})
    writer.append({"a": 2, "b": 3})
    writer.append({"c": [4]})
    assert [call.args[0] for call in native.Append.call_args_list] == [[1], [3, 2], [None, None, 4]]
    history = writer.history
    assert values(history["b"]) == [1, 3, None]
    assert values(history["a"]) == [None, 2, None]
    assert values(history["c"][0]) == [None, None, 4]


def test_fields_may_be_none(writer, native):
    writer.append({"a": 1, "b": None})
    writer.append({"a": None, "b": 2})
    assert [call.args[0] for call in native.Append.call_args_list] == [[1, None], [None, 2]]
    assert values(writer.history["b"]) == [None, 2]


def test_lists_tuples_and_dicts_grow(writer):
    writer.append({"l": [1], "t": (1,), "d": {"x": 1}, "e": ()})
    writer.append({"l": [1, 2], "t": (1, 2), "d": {"y": 2}, "e": (3,)})
    writer.append({"l": [5], "t": (), "d": {}, "e": ()})
    history = writer.history
    assert isinstance(history["l"], list) and isinstance(history["t"], tuple)
    assert values(history["l"][0]) == [1, 1, 5]
    assert values(history["l"][1]) == [None, 2, None]
    assert values(history["t"][1]) == [None, 2, None]
    assert sorted(history["d"]) == ["x", "y"]
    assert values(history["e"][0]) == [None, 3, None]


def test_named_tuples_and_other_mappings(writer, native):
    Step = collections.namedtuple("Step", "reward action")
    writer.append(Step(1.0, collections.OrderedDict(b=2, a=3)))
    native.Append.assert_called_once_with([1.0, 3, 2])
    assert isinstance(writer.history, Step)
    assert isinstance(writer.history.action, collections.OrderedDict)
    assert writer.history.reward.path() == ("reward",)
    with pytest.raises(ValueError):
        writer.append(collections.namedtuple("Step", "reward")(1.0))


@pytest.mark.parametrize(
    "first, second, error",
    [
        ({"a": 1}, {"a": {"b": 1}}, KeyError),
        ({"a": {"b": 1}}, {"a": 1}, KeyError),
        ({"a": [1]}, {"a": (1,)}, TypeError),
        ({"a": {"b": 1}}, {"a": [1]}, TypeError),
        ([1], {"a": 1}, TypeError),
    ],
)
def test_structures_only_grow(writer, native, first, second, error):
    writer.append(first)
    with pytest.raises(error):
        writer.append(second)
    assert native.Append.call_count == 1
    writer.append(first)


def test_a_bare_value_is_a_structure(writer):
    writer.append(3)
    assert values(writer.history) == [3]
    assert writer.history.path() == ()


def test_partial_steps_fill_one_step(writer, native):
    writer.append({"x": 1}, partial_step=True)
    writer.append({"y": 2}, partial_step=True)
    writer.append({"z": 3})
    writer.append({"x": 4, "y": 5, "z": 6})
    assert native.AppendPartial.call_count == 2
    history = writer.history
    assert [values(history[name]) for name in "xyz"] == [[1, 4], [2, 5], [3, 6]]


def test_a_field_cannot_be_set_twice_in_a_step(writer, native):
    writer.append({"x": 1}, partial_step=True)
    writer.append({"y": [2]}, partial_step=True)
    with pytest.raises(ValueError) as e:
        writer.append({"x": 3})
    assert str(e.value) == (
        "Field ('x',) has already been set in the active step by previous (partial) append call and thus must be "
        "omitted or set to None but got: 3"
    )
    with pytest.raises(ValueError, match=r"Field \('y', 0\)"):
        writer.append({"x": None, "y": [4]})
    writer.append({"z": 1})
    writer.append({"x": 3})
    assert values(writer.history["x"]) == [1, 3]


@pytest.mark.parametrize("clear", [True, False])
def test_end_episode_closes_an_open_step(writer, clear):
    writer.append({"x": 1, "y": 1}, partial_step=True)
    writer.end_episode(clear_buffers=clear)
    writer.append({"x": 2, "y": 2})
    assert values(writer.history["x"]) == ([2] if clear else [1, 2])


def test_native_errors_leave_the_histories_alone(writer, native):
    writer.append({"x": 1})
    native.Append.side_effect = RuntimeError("broken")
    with pytest.raises(RuntimeError, match="broken"):
        writer.append({"x": 2, "new": 3})
    assert values(writer.history["x"]) == [1]
    assert "new" in writer.history  # Known, but empty.


@pytest.mark.parametrize(
    "text, expected",
    [
        (
            "Tensor of wrong dtype provided for column 1. Got int64 but expected double.",
            "Tensor of wrong dtype provided for column ('nest', 'sub'). Got int64 but expected double.",
        ),
        ("A for column 0. B for column 1.", "A for column 0. B for column 1."),
        ("Bad for column 7.", "Bad for column 7."),
        ("Bad for column x.", "Bad for column x."),
    ],
)
def test_column_numbers_become_paths(writer, native, text, expected):
    writer.append({"a": 1, "nest": {"sub": 2}})
    native.Append.side_effect = ValueError(text)
    with pytest.raises(ValueError) as e:
        writer.append({"a": 1, "nest": {"sub": 2}})
    assert str(e.value) == expected


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


def test_chunker_options_compare_by_value():
    constant, tuned = (
        chunker_options.ConstantChunkerOptions,
        chunker_options.AutoTunedChunkerOptions,
    )
    assert constant(1, 2) == constant(max_chunk_length=1, num_keep_alive_refs=2) != constant(2, 2)
    assert tuned(3, 1.0) == tuned(3, 2.0) != tuned(4, 1.0)
    assert tuned(3) != constant(1, 3)


@pytest.fixture
def history():
    history = trajectory_writer._ColumnHistory(("x",), buffer_size=5)
    for i in range(8):
        history.append(FakeRef(i))
    return history


def test_history_counts_what_it_dropped(history):
    assert len(history) == 8
    assert values(history) == [None, None, None, 3, 4, 5, 6, 7]
    assert history._path == history.path() == ("x",)


@pytest.mark.parametrize("index", [3, 7, -1, -5])
def test_history_int(history, index):
    column = history[index]
    assert column.is_squeezed and len(column) == 1
    assert column.numpy() == list(range(8))[index]


@pytest.mark.parametrize(
    "index",
    [
        slice(3, None),
        slice(3, 5),
        slice(-2, None),
        slice(3, 8),
        slice(None, None, -1),
        slice(-1, -6, -2),
        slice(4, None, 2),
        slice(5, 100),
        slice(8, None),
        slice(2, 2),
        [3, 4],
        [7, 3, -1, 3],
        [],
    ],
    ids=str,
)
def test_history_slices_and_lists_are_those_of_a_list(history, index):
    if index == slice(None, None, -1):
        history = trajectory_writer._ColumnHistory(("x",), 8)
        for i in range(8):
            history.append(FakeRef(i))
    expected = list(range(8))
    expected = [expected[i] for i in index] if isinstance(index, list) else expected[index]
    column = history[index]
    assert not column.is_squeezed
    assert values(column) == expected


@pytest.mark.parametrize("index", [8, 100, -9, 2**70, [8], [3, -9]], ids=str)
def test_history_out_of_range(history, index):
    with pytest.raises(IndexError):
        history[index]


@pytest.mark.parametrize(
    "index", [0, 2, -8, slice(None), slice(2, 4), slice(None, 1), [5, 1]], ids=str
)
def test_history_refuses_dropped_steps(history, index):
    with pytest.raises(ValueError, match="cannot contain any None") as e:
        history[index]
    assert "('x',)" in str(e.value)


@pytest.mark.parametrize(
    "index", [(1, 2), 1.0, "a", None, [1.0], np.int64(3), [np.int64(3)]], ids=repr
)
def test_history_refuses_other_indices(history, index):
    with pytest.raises(TypeError):
        history[index]


def test_history_set_last():
    history = trajectory_writer._ColumnHistory(("x",), buffer_size=3, history_padding=2)
    assert len(history) == 2 and history.can_set_last
    history.set_last(FakeRef(1))
    assert values(history) == [None, 1] and not history.can_set_last
    with pytest.raises(RuntimeError):
        history.set_last(FakeRef(2))
    history.append(None)
    assert history.can_set_last
    history.reset()
    assert len(history) == 0 and not history.can_set_last
    with pytest.raises(RuntimeError):
        history.set_last(FakeRef(2))


def test_history_padding_beyond_the_buffer():
    history = trajectory_writer._ColumnHistory(("x",), buffer_size=3, history_padding=10)
    history.append(FakeRef(1))
    assert len(history) == 11
    assert history[10].numpy() == history[-1].numpy() == 1


def test_a_long_history_keeps_only_its_buffer():
    history = trajectory_writer._ColumnHistory(("x",), buffer_size=3)
    for i in range(1000):
        history.append(FakeRef(i))
    assert len(history) == 1000
    assert values(history[-3:]) == [997, 998, 999]


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_, np.complex64, object])
@pytest.mark.parametrize("shape", [(), (2,), (0, 3)])
def test_column_shape_dtype_and_numpy(shape, dtype):
    array = np.zeros(shape, dtype)
    column = trajectory_writer.TrajectoryColumn([FakeRef(array)] * 3)
    assert (len(column), column.shape, column.dtype) == (3, (3, *shape), np.dtype(dtype))
    np.testing.assert_array_equal(column.numpy(), np.stack([array] * 3))
    squeezed = trajectory_writer.TrajectoryColumn([FakeRef(array)], squeeze=True)
    assert (len(squeezed), squeezed.shape, squeezed.dtype) == (1, shape, np.dtype(dtype))
    np.testing.assert_array_equal(squeezed.numpy(), array)


def test_column_unknown_dimensions():
    ref = mock.Mock(shape=(None, 3), dtype=np.int32, expired=False)
    assert trajectory_writer.TrajectoryColumn([ref, ref]).shape == (2, None, 3)


@pytest.mark.parametrize("count", [0, 2, 3])
def test_squeeze_needs_exactly_one(count):
    with pytest.raises(ValueError):
        trajectory_writer.TrajectoryColumn([FakeRef(1)] * count, squeeze=True)


def test_column_refuses_none():
    for refs in ([None], [FakeRef(1), None]):
        with pytest.raises(ValueError, match="cannot contain any None"):
            trajectory_writer.TrajectoryColumn(refs)


def test_column_indexing():
    column = trajectory_writer.TrajectoryColumn([FakeRef(i) for i in range(4)], path=("x",))
    assert values(column) == [0, 1, 2, 3]
    assert column[1].is_squeezed and column[-1].numpy() == 3
    assert values(column[1:3]) == [1, 2]
    assert values(column[::-2]) == [3, 1]
    assert values(column[[2, 0, -1]]) == [2, 0, 3]
    with pytest.raises(TypeError):
        column[(0,)]
    with pytest.raises(IndexError):
        column[4]


def test_column_with_an_expired_reference():
    refs = [FakeRef(1), FakeRef(2)]
    column = trajectory_writer.TrajectoryColumn(refs)
    refs[1].expired = True
    with pytest.raises(RuntimeError, match="expired"):
        column.numpy()


def test_an_empty_column():
    column = trajectory_writer.TrajectoryColumn([])
    assert len(column) == 0 and list(column) == []
    with pytest.raises(ValueError):
        column.numpy()
