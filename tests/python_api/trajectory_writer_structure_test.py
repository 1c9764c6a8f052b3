"""Structures, histories and partial steps of a TrajectoryWriter, over a writer that only records its calls."""

import collections

import pytest

from reverb_tf import trajectory_writer
from tests.python_api.fake_writer import values


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
