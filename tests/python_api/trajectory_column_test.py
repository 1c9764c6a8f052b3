"""Histories and columns of a TrajectoryWriter: what an index picks."""

from unittest import mock

import numpy as np
import pytest

from reverb_tf import trajectory_writer
from tests.python_api.fake_writer import FakeRef, values


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
    "index",
    [(1, 2), 1.0, "a", None, [1.0], np.int64(3), [np.int64(3)], True, [True, False]],
    ids=repr,
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
