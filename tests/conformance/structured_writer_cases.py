"""StructuredWriter: conditions, patterns, priorities, texts of errors, signatures of configs."""

import numpy as np
import tensorflow as tf
import tree
from absl.testing import parameterized
from reverb import client as reverb_client
from reverb import errors, structured_writer
from reverb import server as reverb_server

from tests.conformance import support

Condition = structured_writer.Condition
TensorSpec = tf.TensorSpec

TABLES = tuple(f"queue_{i}" for i in range(5))

STEP_SPEC = {
    "a": np.zeros([], np.float32),
    "b": {"c": np.zeros([2, 2], np.int32), "d": [np.zeros([3], np.int8), np.zeros([], np.float64)]},
}
REFERENCE_STEP = structured_writer.create_reference_step(STEP_SPEC)
# A step that is a single tensor.
LEAF = structured_writer.create_reference_step(None)


class StructuredWriterTest(parameterized.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tables = [
            *(reverb_server.Table.queue(table, 100) for table in TABLES),
            reverb_server.Table.queue("small", 1),
        ]
        cls.server = reverb_server.Server(tables)
        cls.client = reverb_client.Client(f"localhost:{cls.server.port}")

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        for table in (*TABLES, "small"):
            self.client.reset(table)

    def _items(self, table=TABLES[0]):
        """What is in a table, as lists."""
        size = self.client.server_info(support.PATIENCE)[table].current_size
        if not size:
            return []
        samples = self.client.sample(table, size, emit_timesteps=False)
        return [[column.tolist() for column in sample.data] for sample in samples]

    def _written(self, steps, *configs, ends=()):
        """The items of the first table after these steps; episodes end after the steps numbered so."""
        writer = self.client.structured_writer(configs)
        for i, step in enumerate(steps):
            writer.append(step)
            if i in ends:
                writer.end_episode()
        writer.flush()
        return self._items()

    # The condition, and those of the steps 0 to 5 at which it holds.
    @parameterized.parameters(
        (Condition.step_index() <= 2, [0, 1, 2]),
        (Condition.step_index() < 2, [0, 1]),
        (Condition.step_index() >= 4, [4, 5]),
        (Condition.step_index() > 4, [5]),
        (Condition.step_index() == 3, [3]),
        (Condition.step_index() != 3, [0, 1, 2, 4, 5]),
        (Condition.step_index() % 3 == 0, [0, 3]),
        (Condition.step_index() % 3 != 0, [1, 2, 4, 5]),
        (Condition.steps_since_applied() >= 4, [3]),
        (Condition.steps_since_applied() >= 3, [2, 5]),
        (Condition.is_end_episode(), [5]),
    )
    def test_single_condition(self, condition, applied):
        pattern = structured_writer.pattern_from_transform(
            step_structure=None, transform=lambda x: x[-1]
        )
        config = structured_writer.create_config(pattern, TABLES[0], [condition])
        self.assertEqual(self._written(range(6), config, ends=[5]), [[i] for i in applied])

    # The pattern, its columns of the steps 0 to 3.
    @parameterized.parameters(
        (lambda x: {"old": x[-2], "last_two": x[-2:]}, [[[0, 1], 0], [[1, 2], 1], [[2, 3], 2]]),
        (lambda x: {"older": x[-3:-1], "last_a": x[-1], "last_b": x[-1]},
         [[2, 2, [0, 1]], [3, 3, [1, 2]]]),
        (lambda x: {"every_second_step": x[-3::2]}, [[[0, 2]], [[1, 3]]]),
        (lambda x: (x[-1:], [x[-4]]), [[[3], 0]]),
        (lambda x: x[-5], []),
    )  # fmt: skip
    def test_trajectory_patterns(self, transform, expected):
        config = structured_writer.create_config(
            structured_writer.pattern_from_transform(None, transform), TABLES[0]
        )
        self.assertEqual(self._written(range(4), config), expected)

    def test_round_robin_into_tables(self):
        configs = [
            structured_writer.create_config(LEAF[-1], table, [Condition.step_index() % 5 == i])
            for i, table in enumerate(TABLES)
        ]
        writer = self.client.structured_writer(configs)
        for i in range(20):
            writer.append(i)
        writer.flush()
        for i, table in enumerate(TABLES):
            self.assertEqual(self._items(table), [[j] for j in range(i, 20, 5)])

    # Of the value of the column `flag`, and the steps at which it holds.
    @parameterized.parameters(
        (lambda x: x["flag"] >= 2, [2, 3, 4]),
        (lambda x: x["flag"] == 1, [1]),
        (lambda x: x["flag"] % 2 == 0, [0, 2, 4]),
        (lambda x: x["bool"] == 1, [0, 3]),
        (lambda x: x["bool"] != 1, [1, 2, 4]),
    )
    def test_data_condition(self, make, applied):
        step = {"flag": np.int64(0), "bool": True, "x": np.float32(0)}
        pattern = structured_writer.create_reference_step(step)["x"][-1]
        config = structured_writer.create_config(pattern, TABLES[0], [make(Condition.data(step))])
        steps = [{"flag": np.int64(i), "bool": i % 3 == 0, "x": np.float32(i)} for i in range(5)]
        self.assertEqual(self._written(steps, config), [[i] for i in applied])

    def test_step_is_open(self):
        config = structured_writer.create_config(REFERENCE_STEP["a"][-1], TABLES[0])
        writer = self.client.structured_writer([config])
        self.assertFalse(writer.step_is_open)
        empty = tree.map_structure(lambda _: None, STEP_SPEC)
        writer.append(empty, partial_step=True)
        self.assertTrue(writer.step_is_open)
        writer.append(STEP_SPEC)
        self.assertFalse(writer.step_is_open)
        writer.append(empty, partial_step=True)
        self.assertTrue(writer.step_is_open)
        writer.end_episode()
        self.assertFalse(writer.step_is_open)

    # Changes of the second step, and what is said of them.
    @parameterized.parameters(
        ({"b": {"c": np.zeros([2, 2], np.int64), "d": STEP_SPEC["b"]["d"]}},
         "Tensor of wrong dtype provided for column 1 (path=('b', 'c')). Got int64 but expected int32."),
        ({"a": np.float64(1)},
         "Tensor of wrong dtype provided for column 0 (path=('a',)). Got double but expected float."),
        ({"b": {"c": STEP_SPEC["b"]["c"], "d": [STEP_SPEC["b"]["d"][0], np.zeros([2, 2])]}},
         "Tensor of incompatible shape provided for column 3 (path=('b', 'd', 1)). "
         "Got [2,2] which is incompatible with []."),
        ({"b": {"c": STEP_SPEC["b"]["c"], "d": STEP_SPEC["b"]["d"][:1]}},
         "Flattened data has an unexpected length, got 3 but wanted 4."),
    )  # fmt: skip
    def test_other_steps_are_refused(self, change, text):
        pattern = tree.map_structure(lambda x: x[-1], REFERENCE_STEP)
        writer = self.client.structured_writer(
            [structured_writer.create_config(pattern, TABLES[0])]
        )
        writer.append(STEP_SPEC)
        with self.assertRaises(ValueError) as caught:
            writer.append({**STEP_SPEC, **change})
        self.assertIn(text, str(caught.exception))
        writer.flush()
        self.assertLen(self._items(), 1)

    @parameterized.parameters(0.0, 0.9, 1.0)
    def test_td_error(self, weight):
        step_spec = {"td": np.zeros([], np.float64), "x": np.zeros([], np.int64)}
        reference = structured_writer.create_reference_step(step_spec)
        config = structured_writer.create_config(
            {"td": reference["td"][-3:], "x": reference["x"][-1]},
            TABLES[0],
            priority=structured_writer.td_error(weight, step_spec, lambda step: step["td"]),
        )
        writer = self.client.structured_writer([config])
        for td in (0.0, 1.0, 1.0, 1.0, -3.0, 2.0, 5.0):
            writer.append({"td": td, "x": 0})
        writer.flush()
        priorities = [
            s.info.priority for s in self.client.sample(TABLES[0], 5, emit_timesteps=False)
        ]
        means = [2 / 3, 1.0, 5 / 3, 2.0, 10 / 3]
        largest = [1.0, 1.0, 3.0, 3.0, 5.0]
        wanted = [weight * m + (1 - weight) * mean for m, mean in zip(largest, means, strict=True)]
        np.testing.assert_allclose(priorities, wanted)

    @parameterized.parameters((None, 1.0), (2.5, 2.5), (0.0, 0.0))
    def test_constant_priority(self, value, expected):
        priority = None if value is None else structured_writer.constant_priority_fn(value)
        config = structured_writer.create_config(LEAF[-1], TABLES[0], priority=priority)
        writer = self.client.structured_writer([config])
        writer.append(1)
        writer.flush()
        (sample,) = self.client.sample(TABLES[0], emit_timesteps=False)
        self.assertEqual(sample.info.priority, expected)

    @parameterized.parameters("flush", "end_episode")
    def test_timeout(self, way):
        config = structured_writer.create_config(LEAF[-1], "small")
        writer = self.client.structured_writer([config])
        for i in range(3):
            writer.append(i)
        with self.assertRaises(errors.DeadlineExceededError):
            getattr(writer, way)(timeout_ms=1)
        taken = [s.data[0] for s in self.client.sample("small", 3, emit_timesteps=False)]
        self.assertEqual(taken, [0, 1, 2])
        writer.flush()

    @parameterized.parameters((True, [[[0, 1]], [[2, 3]]]), (False, [[[0, 1]], [[1, 2]], [[2, 3]]]))
    def test_end_episode(self, clear_buffers, expected):
        config = structured_writer.create_config(LEAF[-2:], TABLES[0])
        writer = self.client.structured_writer([config])
        for i in range(4):
            writer.append(i)
            if i == 1:
                writer.end_episode(clear_buffers)
        writer.flush()
        self.assertEqual(self._items(), expected)

    def test_arguments(self):
        with self.assertRaises(ValueError):
            self.client.structured_writer([])
        config = structured_writer.create_config(LEAF[-1], TABLES[0])
        writer = self.client.structured_writer([config])
        with self.assertRaises(ValueError):
            writer.flush(-1)
        bad = structured_writer.create_config(LEAF[1], TABLES[0])
        with self.assertRaisesRegex(ValueError, "position 1"):
            self.client.structured_writer([config, bad])


def _config(pattern, table="table"):
    return structured_writer.create_config(pattern, table)


SPECS = {"a": TensorSpec([], tf.float32), "b": {"c": TensorSpec([None, 3], tf.int32)}}
STEP = structured_writer.create_reference_step(SPECS)
C = STEP["b"]["c"]
DIFFERENT = {"x": TensorSpec([2], tf.int32), "y": TensorSpec([3], tf.int32), "z": TensorSpec([], tf.int32),
             "f": TensorSpec([], tf.float32)}  # fmt: skip
OTHER = structured_writer.create_reference_step(DIFFERENT)


class InferSignatureTest(parameterized.TestCase):
    # The patterns of configs, and the signature of all.
    @parameterized.parameters(
        ([STEP["a"][-1:]], TensorSpec([1], tf.float32, "")),
        ([{"x": STEP["a"][-3:], "y": [C[-1]]}],
         {"x": TensorSpec([3], tf.float32, "x"), "y": [TensorSpec([None, 3], tf.int32, "y/0")]}),
        ([{"x": C[-4:-1]}], {"x": TensorSpec([3, None, 3], tf.int32, "x")}),
        ([{"x": STEP["a"][-2:]}, {"x": STEP["a"][-3:]}], {"x": TensorSpec([None], tf.float32, "x")}),
        ([{"x": STEP["a"][-2:]}, {"x": STEP["a"][-3:-1]}], {"x": TensorSpec([2], tf.float32, "x")}),
        ([{"x": STEP["a"][-6::2]}, {"x": STEP["a"][-3:]}], {"x": TensorSpec([3], tf.float32, "x")}),
    )  # fmt: skip
    def test_valid_configs(self, patterns, expected):
        signature = structured_writer.infer_signature([_config(p) for p in patterns], SPECS)
        self.assertEqual(signature, expected)

    def test_strides_that_do_not_divide(self):
        if support.is_dm_reverb():
            self.skipTest("0.14.0 rounds the number of rows down; the one after it does not")
        configs = [_config({"x": STEP["a"][-5::2], "y": STEP["a"][-4:-1:2]})]
        signature = structured_writer.infer_signature(configs, SPECS)
        self.assertEqual([spec.shape for spec in tree.flatten(signature)], [[3], [2]])

    @parameterized.parameters(
        ([], SPECS, "^At least one config must be provided\\.$"),
        ([_config({"x": STEP["a"][-1]}), _config({"y": STEP["a"][-1]})], SPECS,
         "^All configs must have exactly the same pattern_structure\\.$"),
        ([_config(STEP["a"][-1], "b"), _config(STEP["a"][-1], "c"), _config(STEP["a"][-1], "a"),
          _config(STEP["a"][-1], "b")], SPECS,
         "^All configs must target the same table but provided configs included a, b, c\\.$"),
        ([_config({"x": OTHER["z"][-1]}), _config({"x": OTHER["f"][-1]})], DIFFERENT,
         r"Configs produce trajectories with multiple dtypes at \('x',\)\. Got .*"),
        ([_config({"x": OTHER["z"][-1]}), _config({"x": OTHER["z"][-1:]})], DIFFERENT,
         r"Configs produce trajectories with incompatible shapes at \('x',\)\. Got .*"),
        ([_config({"x": OTHER["x"][-2:]}), _config({"x": OTHER["y"][-2:]})], DIFFERENT,
         r"Configs produce trajectories with incompatible shapes at \('x',\)\. Got .*"),
    )  # fmt: skip
    def test_invalid_configs(self, configs, specs, text):
        with self.assertRaisesRegex(ValueError, text):
            structured_writer.infer_signature(configs, specs)


class PatternTest(parameterized.TestCase):
    def test_unpack_pattern(self):
        pattern = {"x": (STEP["a"][-1], [C[-3:-1]]), "y": C[-4::2]}
        unpacked = structured_writer.unpack_pattern(_config(pattern))
        tree.assert_same_structure(unpacked, {"x": (0, [0]), "y": 0})
        self.assertEqual(tree.flatten(unpacked), tree.flatten(pattern))

    def test_nodes(self):
        node = C[-4:-1:2]
        self.assertEqual((node.flat_source_index, node.start, node.stop, node.step), (1, -4, -1, 2))
        node = STEP["a"][-2]
        self.assertEqual(
            (node.flat_source_index, node.stop, node.HasField("start")), (0, -2, False)
        )
        for index in ("text", None, (1, 2), 1.5, np.int64(-1)):
            with self.assertRaises(ValueError):
                _ = STEP["a"][index]


if __name__ == "__main__":
    tf.test.main()
