"""PatternDataset in eager mode."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized
from reverb import pattern_dataset, replay_sample, structured_writer

Condition = structured_writer.Condition


def _steps(ends, extra=None):
    """Steps {"i": 0, ...}, {"i": 1, ...} and whether each of them ends an episode."""
    step = {"i": np.arange(len(ends)), "end": np.array(ends, bool), **(extra or {})}
    return tf.data.Dataset.from_tensor_slices(step)


def _never(_):
    return False


def _plain(dataset):
    return [tf.nest.map_structure(np.ndarray.tolist, e) for e in _arrays(dataset)]


def _arrays(dataset):
    return [tf.nest.map_structure(np.asarray, e) for e in dataset.as_numpy_iterator()]


class PatternDatasetTest(tf.test.TestCase, parameterized.TestCase):
    def _make(self, steps, patterns, respect=True, is_end=_never, make=None):
        """A dataset of pairs of a pattern's function and the conditions of the pattern."""
        reference = structured_writer.create_reference_step(steps.element_spec)
        configs = [
            structured_writer.create_config(pattern(reference), "table", conditions)
            for pattern, conditions in patterns
        ]
        make = make or pattern_dataset.PatternDataset
        return make(steps, configs, respect_episode_boundaries=respect, is_end_of_episode=is_end)

    def test_apply_pattern_and_condition(self):
        steps = tf.data.Dataset.from_tensor_slices({"a": np.arange(10), "b": np.arange(10, 20)})
        reference = structured_writer.create_reference_step(steps.element_spec)
        # One whose structure is given, as it may be of a transformation.
        pattern = structured_writer.pattern_from_transform(
            step_structure=reference, transform=lambda x: {"last": x["a"][-1], "two": x["b"][-2:]}
        )
        config = structured_writer.create_config(pattern, "t", [Condition.step_index() % 3 == 0])
        dataset = pattern_dataset.PatternDataset(
            steps, [config], respect_episode_boundaries=True, is_end_of_episode=_never
        )
        spec = {"last": tf.TensorSpec([], tf.int64), "two": tf.TensorSpec([2], tf.int64)}
        self.assertEqual(dataset.element_spec, spec)
        expected = [{"last": i, "two": [i + 9, i + 10]} for i in (3, 6, 9)]
        self.assertEqual(_plain(dataset), expected)

    @parameterized.parameters(
        ([], [0, 1, 2, 3, 4, 5]),
        ([Condition.step_index() >= 4], [4, 5]),
        ([Condition.step_index() < 2], [0, 1]),
        ([Condition.steps_since_applied() >= 2], [1, 3, 5]),
        ([Condition.step_index() % 2 == 1, Condition.step_index() != 3], [1, 5]),
    )
    def test_conditions(self, conditions, expected):
        dataset = self._make(_steps([False] * 6), [(lambda x: x["i"][-1], conditions)])
        self.assertEqual(_plain(dataset), expected)

    def test_several_patterns(self):
        patterns = [(lambda x: x["i"][-1:], []), (lambda x: x["i"][-2:], [])]
        dataset = self._make(_steps([False] * 3), patterns)
        self.assertEqual(dataset.element_spec, tf.TensorSpec([None], tf.int64))
        self.assertEqual(_plain(dataset), [[0], [1], [0, 1], [2], [1, 2]])

    def test_keeps_tensor_shape(self):
        frames = np.arange(60, dtype=np.float32).reshape(5, 4, 3)
        dataset = self._make(
            _steps([False] * 5, {"frame": frames}), [(lambda x: {"f": x["frame"][-1]}, [])]
        )
        self.assertEqual(dataset.element_spec, {"f": tf.TensorSpec([4, 3], tf.float32)})
        elements = _arrays(dataset)
        self.assertLen(elements, 5)
        for i, element in enumerate(elements):
            np.testing.assert_array_equal(element["f"], frames[i], strict=True)

    @parameterized.parameters(1, 3)
    def test_keeps_batch_dimension(self, length):
        frames = np.arange(60, dtype=np.float32).reshape(5, 4, 3)
        dataset = self._make(
            _steps([False] * 5, {"frame": frames}), [(lambda x: {"f": x["frame"][-length:]}, [])]
        )
        self.assertEqual(dataset.element_spec, {"f": tf.TensorSpec([length, 4, 3], tf.float32)})
        elements = _arrays(dataset)
        self.assertLen(elements, 6 - length)
        for i, element in enumerate(elements):
            np.testing.assert_array_equal(element["f"], frames[i : i + length], strict=True)

    def test_nested_output(self):
        def pattern(x):
            return {"x": (x["i"][-2], {"y": x["text"][-2:]}), "z": {"end": x["end"][-1]}}

        texts = np.array([b"a", b"b", b"c"], object)
        dataset = self._make(_steps([False, True, False], {"text": texts}), [(pattern, [])])
        spec = {
            "x": (tf.TensorSpec([], tf.int64), {"y": tf.TensorSpec([2], tf.string)}),
            "z": {"end": tf.TensorSpec([], tf.bool)},
        }
        self.assertEqual(dataset.element_spec, spec)
        expected = [
            {"x": (0, {"y": [b"a", b"b"]}), "z": {"end": True}},
            {"x": (1, {"y": [b"b", b"c"]}), "z": {"end": False}},
        ]
        self.assertEqual(_plain(dataset), expected)

    @parameterized.parameters(
        (True, [[0, 1], [1, 2], [3, 4], [5, 6]]),
        (False, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6]]),
    )
    def test_episode_boundaries(self, respect, expected):
        ends = [False, False, True, False, True, False, False]
        patterns = [(lambda x: x["i"][-2:], [])]
        dataset = self._make(_steps(ends), patterns, respect, lambda step: step["end"])
        self.assertEqual(_plain(dataset), expected)

    @parameterized.parameters(True, False)
    def test_end_of_episode_as_condition(self, respect):
        patterns = [(lambda x: x["i"][-2:], [Condition.is_end_episode()])]
        ends = [False, False, True, False, True, False]
        dataset = self._make(_steps(ends), patterns, respect, lambda step: step["end"])
        self.assertEqual(_plain(dataset), [[1, 2], [3, 4]])

    def test_end_of_episode_is_a_scalar_bool(self):
        for is_end in (lambda step: step["i"], lambda step: step["end"][None]):
            with self.assertRaises(ValueError):
                self._make(_steps([False]), [(lambda x: x["i"][-1], [])], is_end=is_end)

    def test_configs_can_be_used_again(self):
        steps = _steps([False] * 5)
        reference = structured_writer.create_reference_step(steps.element_spec)
        config = structured_writer.create_config(reference["i"][-3:], "table")
        for _ in range(2):
            dataset = pattern_dataset.PatternDataset(steps, [config], True, _never)
            for _ in range(2):
                self.assertEqual(_plain(dataset), [[0, 1, 2], [1, 2, 3], [2, 3, 4]])

    def test_cardinality(self):
        patterns = [(lambda x: x["i"][-1], [])]
        steps = _steps([False] * 3)
        self.assertEqual(self._make(steps, patterns).cardinality(), tf.data.UNKNOWN_CARDINALITY)
        endless = self._make(steps.repeat(), patterns)
        self.assertEqual(endless.cardinality(), tf.data.INFINITE_CARDINALITY)
        self.assertEqual(_plain(endless.take(5)), [0, 1, 2, 0, 1])

    def test_external_state_is_that_of_the_input(self):
        patterns = [(lambda x: x["i"][-1], [])]
        steps = _steps([False] * 3)
        random = steps.map(lambda s: {**s, "i": s["i"] + tf.random.uniform([], 0, 2, tf.int64)})
        policy = tf.data.experimental.ExternalStatePolicy.FAIL
        graph = self._make(steps, patterns)._as_serialized_graph(external_state_policy=policy)
        self.assertIn(b"ReverbPatternDataset", graph.numpy())
        with self.assertRaises(tf.errors.FailedPreconditionError):
            self._make(random, patterns)._as_serialized_graph(external_state_policy=policy)

    def test_iterators_are_not_saved(self):
        iterator = iter(self._make(_steps([False] * 3), [(lambda x: x["i"][-1], [])]))
        self.assertEqual(next(iterator), 0)
        checkpoint = tf.train.Checkpoint(iterator=iterator)
        with self.assertRaises(tf.errors.UnimplementedError):
            checkpoint.save(self.create_tempdir().full_path + "/iterator")

    def test_invalid_configs(self):
        steps = _steps([False])
        for configs in ([], [(lambda x: x["i"][-1], []), (lambda x: {"i": x["i"][-1]}, [])]):
            with self.assertRaises(ValueError):
                self._make(steps, configs)

    def test_end_of_episode_may_capture_tensors(self):
        limit = tf.constant(3, tf.int64)
        patterns = [(lambda x: x["i"][-2:], [])]
        dataset = self._make(
            _steps([False] * 6), patterns, is_end=lambda step: tf.equal(step["i"] % limit, 2)
        )
        self.assertEqual(_plain(dataset), [[0, 1], [1, 2], [3, 4], [4, 5]])

    def test_pattern_dataset_with_info(self):
        dataset = self._make(
            _steps([False] * 4),
            [(lambda x: {"i": x["i"][-3:]}, [])],
            make=pattern_dataset.pattern_dataset_with_info,
        )
        samples = list(dataset.as_numpy_iterator())
        self.assertEqual([sample.data["i"].tolist() for sample in samples], [[0, 1, 2], [1, 2, 3]])
        for sample in samples:
            self.assertIsInstance(sample, replay_sample.ReplaySample)
            self.assertIsInstance(sample.info, replay_sample.SampleInfo)
            self.assertEqual(sample.info, replay_sample.SampleInfo.zeros())


if __name__ == "__main__":
    tf.test.main()
