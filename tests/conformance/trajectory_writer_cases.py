"""TrajectoryWriter with a native writer that is made up: histories, indices, what is passed on."""

from unittest import mock

import numpy as np
import tensorflow as tf
import tree
from absl.testing import parameterized
from reverb import errors, pybind, trajectory_writer


class FakeReference:
    """A reference to a value of a step."""

    def __init__(self, value):
        self.value = np.asarray(value)

    @property
    def shape(self):
        return list(self.value.shape)

    @property
    def dtype(self):
        return self.value.dtype

    @property
    def expired(self):
        return False

    def numpy(self):
        return self.value


def _references(values):
    return [None if value is None else FakeReference(value) for value in values]


def _values(history):
    return [None if ref is None else ref.numpy().tolist() for ref in history]


class TrajectoryWriterTest(parameterized.TestCase):
    def setUp(self):
        super().setUp()
        self.native = mock.Mock()
        self.native.Append.side_effect = _references
        self.native.AppendPartial.side_effect = _references
        self.native.max_num_keep_alive_refs = 10
        self.writer = trajectory_writer.TrajectoryWriter(self.native)

    def _histories(self):
        return tree.map_structure(_values, self.writer.history)

    def test_history_requires_append(self):
        with self.assertRaises(RuntimeError):
            _ = self.writer.history

    def test_history_has_the_structure_of_the_data(self):
        data = {"x": 1, "y": {"a": (2, [3]), "b": np.ones([2])}}
        self.writer.append(data)
        self.writer.append(data)
        tree.assert_same_structure(self.writer.history, data)
        expected = {"x": [1, 1], "y": {"a": ([2, 2], [[3, 3]]), "b": [[1, 1], [1, 1]]}}
        self.assertEqual(self._histories(), expected)
        for history in tree.flatten(self.writer.history):
            self.assertIsInstance(history, trajectory_writer._ColumnHistory)
            self.assertLen(history, 2)

    def test_history_knows_its_path(self):
        self.writer.append({"x": 1, "y": {"z": 2}})
        self.assertEqual(self.writer.history["x"]._path, ("x",))
        self.assertEqual(self.writer.history["x"]._path[0], "x")
        self.assertEqual(self.writer.history["y"]["z"]._path, ("y", "z"))

    # What is appended, and the histories that there are then.
    @parameterized.named_parameters(
        ("dict", [{"x": 1, "z": 2}, {"z": 3, "y": 4}, {"w": 5}],
         {"x": [1, None, None], "z": [2, 3, None], "y": [None, 4, None], "w": [None, None, 5]}),
        ("nested", [{"a": {"x": 1}}, {"a": {"x": 2, "y": 3}}], {"a": {"x": [1, 2], "y": [None, 3]}}),
        ("tuple", [(0,), (1, 2), (3, 4, 5)], ([0, 1, 3], [None, 2, 4], [None, None, 5])),
        ("list", [[0], [1, 2], [3, 4, 5]], [[0, 1, 3], [None, 2, 4], [None, None, 5]]),
        ("shorter", [(0, 1), (2,)], ([0, 2], [1, None])),
        ("lists_in_a_tuple", [([0], 1), ([2, 3], 4)], ([[0, 2], [None, 3]], [1, 4])),
        ("none", [{"x": 1, "y": None}, {"x": None, "y": 2}], {"x": [1, None], "y": [None, 2]}),
    )  # fmt: skip
    def test_structure_may_grow(self, steps, expected):
        for step in steps:
            self.writer.append(step)
        self.assertEqual(self._histories(), expected)

    def test_columns_are_numbered_as_they_appear(self):
        self.writer.append({"y": 1, "x": (2, 3)})
        self.native.Append.assert_called_with([2, 3, 1])
        self.writer.append({"a": 4, "y": 5})
        self.native.Append.assert_called_with([None, None, 5, 4])
        self.writer.append({"x": (6, 7, 8)})
        self.native.Append.assert_called_with([6, 7, None, None, 8])

    def test_first_append_passes_what_is_flattened(self):
        data = {"x": [1, (2, {"z": 3})], "b": 4, "a": np.int8(5)}
        self.writer.append(data)
        self.native.Append.assert_called_once_with(tree.flatten(data))
        self.native.AppendPartial.assert_not_called()

    def test_partial_steps(self):
        self.writer.append({"x": 1}, partial_step=True)
        self.native.AppendPartial.assert_called_once_with([1])
        self.writer.append({"y": 2}, partial_step=True)
        self.native.AppendPartial.assert_called_with([None, 2])
        self.writer.append({"z": 3})
        self.native.Append.assert_called_once_with([None, None, 3])
        self.assertEqual(self._histories(), {"x": [1], "y": [2], "z": [3]})
        self.writer.append({"y": 4}, partial_step=True)
        self.assertEqual(self._histories(), {"x": [1, None], "y": [2, 4], "z": [3, None]})
        self.writer.append({"x": 5, "y": None, "z": None})
        self.assertEqual(self._histories(), {"x": [1, 5], "y": [2, 4], "z": [3, None]})

    @parameterized.parameters(True, False)
    def test_column_is_set_once_in_a_step(self, partial):
        self.writer.append({"x": 1, "y": 2}, partial_step=True)
        text = (
            "Field ('x',) has already been set in the active step by previous (partial) append call and "
            "thus must be omitted or set to None but got: 4"
        )
        with self.assertRaisesWithLiteralMatch(ValueError, text):
            self.writer.append({"x": 4}, partial_step=partial)
        self.writer.append({"x": None, "y": None})
        self.writer.append({"x": 5})
        self.assertEqual(self._histories(), {"x": [1, 5], "y": [2, None]})

    def test_leaves_of_trajectories_are_columns(self):
        self.writer.append({"a": 1, "b": 2})
        self.writer.create_item("table", 1.0, {"a": self.writer.history["a"][:]})
        for leaf in (self.writer.history["a"], np.ones([1]), 1):
            with self.assertRaises(TypeError):
                self.writer.create_item("table", 1.0, {"a": self.writer.history["b"][:], "b": leaf})
        self.native.CreateItem.assert_called_once()

    def test_create_item_passes_references(self):
        for i in range(3):
            self.writer.append({"a": i, "b": i + 10})
        history = self.writer.history
        self.writer.create_item("table", 1.5, {"y": history["a"][-1], "x": history["b"][1:]})
        (table, priority, references, squeezed), kwargs = self.native.CreateItem.call_args
        self.assertEqual((table, priority, squeezed, kwargs), ("table", 1.5, [False, True], {}))
        self.assertEqual([_values(column) for column in references], [[11, 12], [2]])

    @parameterized.parameters(-1, -10)
    def test_flush_refuses_negative_numbers(self, number):
        with self.assertRaises(ValueError):
            self.writer.flush(number)
        self.native.Flush.assert_not_called()

    # Of the steps 0 to 4.
    @parameterized.parameters(
        (0, 0), (4, 4), (-1, 4), (-5, 0),
        (slice(None), [0, 1, 2, 3, 4]), (slice(2), [0, 1]), (slice(-2, None), [3, 4]),
        (slice(1, 4), [1, 2, 3]), (slice(-4, -2), [1, 2]), (slice(None, None, 2), [0, 2, 4]),
        ([0], [0]), ([0, 3], [0, 3]), ([-1, 0, 2], [4, 0, 2]), ([1, -1, 1], [1, 4, 1]),
    )  # fmt: skip
    def test_indices(self, index, expected):
        for i in range(5):
            self.writer.append({"x": i})
        column = self.writer.history["x"][index]
        self.assertIsInstance(column, trajectory_writer.TrajectoryColumn)
        self.assertEqual(column.is_squeezed, isinstance(index, int))
        self.assertEqual(column.numpy().tolist(), expected)
        self.assertLen(column, np.size(expected))

    @parameterized.parameters(("text",), ((0, 1),), (1.5,), (None,))
    def test_other_indices(self, index):
        self.writer.append({"x": 1})
        with self.assertRaises(TypeError):
            _ = self.writer.history["x"][index]

    def test_missing_values_cannot_be_used(self):
        self.writer.append({"x": 1, "y": 1})
        self.writer.append({"x": 2})
        for index in (-1, slice(None), [0, 1]):
            with self.assertRaisesRegex(ValueError, r"cannot contain any None.*"):
                _ = self.writer.history["y"][index]
        self.assertEqual(self.writer.history["y"][:1].numpy().tolist(), [1])

    def test_old_values_are_forgotten(self):
        for i in range(13):
            self.writer.append({"x": i})
        history = self.writer.history["x"]
        self.assertLen(history, 13)
        self.assertEqual(_values(history), [None] * 3 + list(range(3, 13)))
        self.assertEqual(history[3].numpy(), 3)
        with self.assertRaisesRegex(ValueError, "cannot contain any None"):
            _ = history[2]

    def test_configure_a_column_that_is_known(self):
        self.writer.append({"x": 3, "y": 2})
        self.writer.configure(("y",), num_keep_alive_refs=2, max_chunk_length=1)
        self.native.ConfigureChunker.assert_called_once_with(
            1, pybind.ConstantChunkerOptions(num_keep_alive_refs=2, max_chunk_length=1)
        )

    def test_configure_a_column_that_tunes_itself(self):
        self.writer.append({"x": 3, "y": 2})
        self.writer.configure(("x",), num_keep_alive_refs=2, max_chunk_length=None)
        self.native.ConfigureChunker.assert_called_once_with(
            0, pybind.AutoTunedChunkerOptions(num_keep_alive_refs=2, throughput_weight=1.0)
        )

    def test_configure_a_column_before_it_appears(self):
        self.writer.append({"x": 3, "y": 2})
        self.writer.configure(("z",), num_keep_alive_refs=2, max_chunk_length=1)
        self.native.ConfigureChunker.assert_not_called()
        self.writer.append({"x": 3, "y": 2})
        self.native.ConfigureChunker.assert_not_called()
        self.writer.append({"a": 4, "z": 5})
        self.native.ConfigureChunker.assert_called_once_with(
            3, pybind.ConstantChunkerOptions(num_keep_alive_refs=2, max_chunk_length=1)
        )

    @parameterized.parameters((1, None, True), (0, None, False), (-1, None, False), (1, 1, True),
                              (1, 0, False), (1, -1, False), (5, 5, True), (5, 6, False))  # fmt: skip
    def test_configure_checks_its_arguments(self, refs, length, valid):
        self.writer.append({"a": 1})

        def configure():
            self.writer.configure(("a",), num_keep_alive_refs=refs, max_chunk_length=length)

        if valid:
            configure()
        else:
            self.assertRaises(ValueError, configure)
        self.assertEqual(self.native.ConfigureChunker.call_count, int(valid))

    # What is raised inside of the scope, and whether items are waited for then.
    @parameterized.parameters(
        (None, True), (ValueError, True), (KeyboardInterrupt, True),
        (errors.ReverbError, False), (errors.DeadlineExceededError, False),
    )  # fmt: skip
    def test_end_of_scope(self, kind, flushes):
        try:
            with self.writer as entered:
                self.assertIs(entered, self.writer)
                self.native.Flush.assert_not_called()
                if kind:
                    raise kind("text")
        except (ValueError, KeyboardInterrupt, errors.ReverbError) as error:
            self.assertIs(type(error), kind)
        self.assertEqual(self.native.Flush.call_count, int(flushes))
        self.native.Close.assert_not_called()

    def test_episodes(self):
        self.writer.append({"x": 1})
        self.writer.end_episode(clear_buffers=False)
        self.assertEqual(self._histories(), {"x": [1]})
        self.writer.end_episode()
        self.assertEqual(self._histories(), {"x": []})
        self.writer.append({"x": 2})
        self.assertEqual(self._histories(), {"x": [2]})
        self.assertEqual([c.args[0] for c in self.native.EndEpisode.call_args_list], [False, True])


class TrajectoryColumnTest(parameterized.TestCase):
    def test_numpy(self):
        values = np.arange(12, dtype=np.float32).reshape(3, 2, 2)
        column = trajectory_writer.TrajectoryColumn(_references(values))
        np.testing.assert_array_equal(column.numpy(), values, strict=True)
        self.assertFalse(column.is_squeezed)
        squeezed = trajectory_writer.TrajectoryColumn(_references(values[1:2]), squeeze=True)
        np.testing.assert_array_equal(squeezed.numpy(), values[1], strict=True)
        self.assertTrue(squeezed.is_squeezed)

    @parameterized.parameters((0, False), (1, True), (2, False), (3, False))
    def test_squeezes_one_reference(self, count, valid):
        references = _references(range(count))
        if valid:
            self.assertLen(trajectory_writer.TrajectoryColumn(references, squeeze=True), 1)
        else:
            with self.assertRaises(ValueError):
                trajectory_writer.TrajectoryColumn(references, squeeze=True)

    @parameterized.parameters(1, 2, 5)
    def test_len(self, count):
        self.assertLen(trajectory_writer.TrajectoryColumn(_references(range(count))), count)

    @parameterized.parameters(([None],), ([1, None],), ([None, 1, 2],))
    def test_none(self, values):
        with self.assertRaisesRegex(ValueError, "cannot contain any None"):
            trajectory_writer.TrajectoryColumn(_references(values))

    @parameterized.product(
        dtype=(np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64,
               np.uint8, np.uint16, np.uint32, np.uint64, np.bool_, np.complex64, np.complex128),
        shape=((), (3,), (2, 0, 4)),
    )  # fmt: skip
    def test_dtype_and_shape(self, dtype, shape):
        references = _references([np.ones(shape, dtype)] * 2)
        column = trajectory_writer.TrajectoryColumn(references)
        self.assertEqual(column.dtype, dtype)
        self.assertSequenceEqual(list(column.shape), [2, *shape])
        squeezed = trajectory_writer.TrajectoryColumn(references[:1], squeeze=True)
        self.assertEqual(squeezed.dtype, dtype)
        self.assertSequenceEqual(list(squeezed.shape), list(shape))

    def test_indices(self):
        column = trajectory_writer.TrajectoryColumn(_references(range(5)))
        self.assertEqual([ref.numpy() for ref in column], list(range(5)))
        self.assertEqual((column[-1].numpy(), column[-1].is_squeezed), (4, True))
        self.assertEqual(column[1:3].numpy().tolist(), [1, 2])
        self.assertEqual(column[[3, 0]].numpy().tolist(), [3, 0])
        with self.assertRaises(TypeError):
            _ = column["text"]


if __name__ == "__main__":
    tf.test.main()
