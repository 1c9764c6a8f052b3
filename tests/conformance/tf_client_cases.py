"""TFClient in graph mode: samples, updates of priorities, inserts."""

import threading

import numpy as np
import tensorflow as tf
from absl.testing import parameterized
from reverb import client as reverb_client
from reverb import item_selectors, rate_limiters, replay_sample, tf_client
from reverb import server as reverb_server

from tests import calls
from tests.conformance import support

v1 = tf.compat.v1


class TFClientCase(tf.test.TestCase, parameterized.TestCase):
    """A client of a server with the tables `dist` and `dist2`, prioritized, and `queue`."""

    def setUp(self):
        super().setUp()
        tables = [
            reverb_server.Table(
                name,
                sampler=item_selectors.Prioritized(priority_exponent=1),
                remover=item_selectors.Fifo(),
                max_size=1_000_000,
                rate_limiter=rate_limiters.MinSize(1),
            )
            for name in ("dist", "dist2")
        ]
        self._server = reverb_server.Server([*tables, reverb_server.Table.queue("queue", 10)])
        self.addCleanup(self._server.stop)
        self._client = reverb_client.Client(f"localhost:{self._server.port}")
        self._tf_client = tf_client.TFClient(self._client.server_address)


class NamesTest(TFClientCase):
    @parameterized.parameters(
        ({}, None, ("reverb_sample", "reverb_update_priorities", "reverb_insert")),
        ({"name": "mine"}, None, ("mine_sample", "mine_update_priorities", "mine_insert")),
        ({"shared_name": "shared"}, "op", ("op", "op_1", "op_2")),
    )
    def test_names_of_ops(self, options, name, expected):
        names = {} if name is None else {"name": name}
        with tf.Graph().as_default() as graph:
            client = tf_client.TFClient(self._client.server_address, **options)
            floats = tf.constant([1.0], tf.float64)
            client.sample("dist", [tf.int64], **names)
            client.update_priorities("dist", tf.constant([1], tf.uint64), floats, **names)
            client.insert([floats], tf.constant(["dist"]), floats, **names)
        kinds = ("ReverbClientSample", "ReverbClientUpdatePriorities", "ReverbClientInsert")
        self.assertEqual([graph.get_operation_by_name(op).type for op in expected], list(kinds))
        handle = graph.get_operation_by_name(options.get("name", "reverb"))
        self.assertEqual(handle.type, "ReverbClient")
        self.assertEqual(handle.get_attr("server_address"), self._client.server_address.encode())


class SampleOpTest(TFClientCase):
    def test_sets_meta_data_fields(self):
        data = [np.array([[1, 2]], np.int64), np.float32(0.5)]
        self._client.insert(data, {"dist": 2.0})
        self._client.insert(data, {"dist": 6.0})
        with self.session() as session:
            op = self._tf_client.sample("dist", [tf.int64, tf.float32])
            for sample in support.run_all(session, op, 20):
                self.assertIsInstance(sample, replay_sample.ReplaySample)
                self.assertIsInstance(sample.info, replay_sample.SampleInfo)
                self.assertIsInstance(sample.info.key, np.uint64)
                self.assertIsInstance(sample.info.probability, np.float64)
                self.assertIsInstance(sample.info.priority, np.float64)
                self.assertIn(sample.info.priority, (2.0, 6.0))
                self.assertAlmostEqual(sample.info.probability, sample.info.priority / 8)
                self.assertEqual(sample.info.table_size, 2)
                self.assertGreaterEqual(sample.info.times_sampled, 1)
                np.testing.assert_array_equal(sample.data[0], data[0], strict=True)
                self.assertEqual(sample.data[1], 0.5)

    def test_counts_samples(self):
        self._client.insert([np.int64(1)], {"dist": 1.0})
        with self.session() as session:
            op = self._tf_client.sample("dist", [tf.int64])
            samples = support.run_all(session, op, 5)
        self.assertEqual([sample.info.times_sampled for sample in samples], [1, 2, 3, 4, 5])
        self.assertLen({sample.info.key for sample in samples}, 1)

    def test_sets_table_size(self):
        with self.session() as session:
            op = self._tf_client.sample("dist", [tf.float32])
            for size in range(1, 6):
                self._client.insert([np.zeros([3, 3], np.float32)], {"dist": 1.0})
                self.assertEqual(session.run(op).info.table_size, size)

    def test_nested_dtypes(self):
        data = {"b": (np.int32(1), [np.float64(2)]), "a": np.array([b"x"], object)}
        self._client.insert(data, {"dist": 1.0})
        dtypes = {"b": (tf.int32, [tf.float64]), "a": tf.string}
        op = self._tf_client.sample("dist", dtypes)
        self.assertEqual(op.info.key.dtype, tf.uint64)
        self.assertIs(op.data["b"][1][0].dtype, tf.float64)
        with self.session() as session:
            sample = session.run(op)
        self.assertEqual(sample.data, {"b": (1, [2.0]), "a": np.array([b"x"], object)})

    def test_first_step_of_an_item(self):
        with self._client.writer(max_sequence_length=3) as writer:
            for i in range(3):
                writer.append([np.int64(i)])
            writer.create_item("queue", num_timesteps=2, priority=1.0)
            writer.create_item("queue", num_timesteps=3, priority=1.0)
        with self.session() as session:
            samples = support.run_all(session, self._tf_client.sample("queue", [tf.int64]), 2)
        self.assertEqual([sample.data[0] for sample in samples], [1, 0])

    def test_dtype_mismatch_result_in_error_raised(self):
        self._client.insert([np.float64(1)], {"dist": 1.0})
        with self.session() as session, self.assertRaises(tf.errors.InternalError):
            session.run(self._tf_client.sample("dist", [tf.float32]))

    def test_wrong_number_of_tensors(self):
        self._client.insert([np.float32(1)], {"dist": 1.0})
        with self.session() as session, self.assertRaises(tf.errors.InvalidArgumentError):
            session.run(self._tf_client.sample("dist", [tf.float32, tf.float32]))

    def test_forwards_fatal_server_error(self):
        with self.session() as session:
            with self.assertRaisesRegex(tf.errors.NotFoundError, "invalid"):
                session.run(self._tf_client.sample("invalid", [tf.float64]))

    def test_waits_for_an_item(self):
        running = threading.Event()
        told = tf.numpy_function(lambda: running.set() or np.int64(0), [], tf.int64)
        with tf.control_dependencies([told]):
            op = self._tf_client.sample("dist", [tf.float64])
        with self.session() as session:
            call = calls.Call(lambda: session.run(op))
            self.assertTrue(running.wait(support.PATIENCE))
            self.assertTrue(call.is_blocked())
            self._client.insert([np.float64(5)], {"dist": 1.0})
            self.assertEqual(call.result().data, [5.0])


class UpdatePrioritiesOpTest(TFClientCase):
    def test_shape_result_in_error_raised(self):
        with self.session() as session:
            update = self._tf_client.update_priorities(
                "dist", tf.constant([1, 2], tf.uint64), tf.constant([1], tf.float64)
            )
            with self.assertRaises(tf.errors.InvalidArgumentError):
                session.run(update)

    @parameterized.product(shape=([], [1, 1]), static=(True, False))
    def test_keys_of_another_rank(self, shape, static):
        keys = v1.placeholder(tf.uint64, shape if static else None)
        priorities = v1.placeholder(tf.float64, shape if static else None)
        update = self._tf_client.update_priorities("dist", keys, priorities)
        feed = {keys: np.ones(shape, np.uint64), priorities: np.ones(shape)}
        with self.session() as session, self.assertRaises(tf.errors.InvalidArgumentError):
            session.run(update, feed)

    def test_table_as_a_vector_of_one(self):
        self._client.insert([np.int64(1)], {"dist": 1.0})
        table = tf.constant(["dist"])
        sample = self._tf_client.sample(table, [tf.int64])
        with self.session() as session:
            key = session.run(sample).info.key
            update = self._tf_client.update_priorities(
                table, tf.constant([key], tf.uint64), tf.constant([3.0], tf.float64)
            )
            self.assertIsNone(session.run(update))
            self.assertEqual(session.run(sample).info.priority, 3.0)

    @parameterized.parameters(
        (np.array([1], np.int64), np.array([1.0])),
        (np.array([1], np.uint64), np.array([1.0], np.float32)),
    )
    def test_dtypes(self, keys, priorities):
        with self.assertRaises((TypeError, ValueError)):
            self._tf_client.update_priorities("dist", tf.constant(keys), tf.constant(priorities))

    def test_priority_update_is_applied(self):
        for number, priority in ((1, 1.0), (2, 3.0)):
            self._client.insert([np.int64(number)], {"dist": priority})
        sample_op = self._tf_client.sample("dist", [tf.int64])
        keys = v1.placeholder(tf.uint64, [None])
        priorities = v1.placeholder(tf.float64, [None])
        update = self._tf_client.update_priorities("dist", keys, priorities)
        with self.session() as session:
            found = {}

            def sample_both():
                sample = session.run(sample_op)
                found[int(sample.data[0])] = sample.info
                return len(found) == 2

            support.wait_until(sample_both)
            self.assertEqual((found[1].probability, found[1].priority), (0.25, 1.0))
            self.assertEqual((found[2].probability, found[2].priority), (0.75, 3.0))
            # Keys that are not there do not matter.
            unknown = found[1].key ^ found[2].key
            feed = {keys: [found[1].key, unknown], priorities: [3.0, 5.0]}
            self.assertIsNone(session.run(update, feed))
            probabilities = {session.run(sample_op).info.probability for _ in range(20)}
        self.assertEqual(probabilities, {0.5})

    def test_missing_table(self):
        with self.session() as session:
            update = self._tf_client.update_priorities(
                "missing", tf.constant([1], tf.uint64), tf.constant([1.0], tf.float64)
            )
            with self.assertRaisesRegex(tf.errors.NotFoundError, "missing"):
                session.run(update)


class InsertOpTest(TFClientCase):
    # Dtypes and shapes of tables and priorities that are refused.
    @parameterized.parameters(
        (tf.string, [], tf.float64, [1]),
        (tf.string, [1, 1], tf.float64, [1]),
        (tf.int64, [1], tf.float64, [1]),
        (tf.string, [1], tf.float64, []),
        (tf.string, [1], tf.float64, [1, 1]),
        (tf.string, [1], tf.float32, [1]),
        (tf.string, [1], tf.int64, [1]),
        (tf.string, [2], tf.float64, [1]),
        (tf.string, [1], tf.float64, [2]),
    )
    def test_checks_arguments(self, table_dtype, table_shape, priority_dtype, priority_shape):
        def ones(dtype, shape):
            return tf.fill(shape, "dist") if dtype == tf.string else tf.ones(shape, dtype)

        with self.assertRaises(ValueError):
            self._tf_client.insert(
                [tf.constant([1.0])],
                ones(table_dtype, table_shape),
                ones(priority_dtype, priority_shape),
            )

    def test_shapes_that_are_known_when_it_runs(self):
        tables = v1.placeholder(tf.string, [None])
        op = self._tf_client.insert(
            [tf.constant(1)], tables, tf.constant([1.0, 2.0], dtype=tf.float64)
        )
        with self.session() as session, self.assertRaises(tf.errors.InvalidArgumentError):
            session.run(op, {tables: ["dist"]})

    def test_missing_table(self):
        op = self._tf_client.insert(
            [tf.constant(1)], tf.constant(["missing"]), tf.constant([1.0], tf.float64)
        )
        with self.session() as session:
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "missing"):
                session.run(op)

    @parameterized.parameters((("dist",), (1.5,)), (("dist", "dist2"), (1.5, 2.5)))
    def test_inserts(self, tables, priorities):
        data = [
            tf.constant([1, 2, 3], tf.int8),
            tf.constant([[0.5]], tf.float32),
            tf.constant(["a", "b"]),
        ]
        op = self._tf_client.insert(
            data, tf.constant(list(tables)), tf.constant(priorities, tf.float64)
        )
        with self.session() as session:
            self.assertIsNone(session.run(op))
        infos = self._client.server_info(support.PATIENCE)
        sizes = {name: infos[name].current_size for name in ("dist", "dist2")}
        self.assertEqual(sizes, {"dist": 1, "dist2": len(tables) - 1})
        for table, priority in zip(tables, priorities, strict=True):
            (step,) = next(self._client.sample(table))
            self.assertEqual(step.info.priority, priority)
            self.assertEqual(step.info.probability, 1.0)
            self.assertEqual([c.dtype for c in step.data], [np.int8, np.float32, object])
            self.assertEqual([c.tolist() for c in step.data], [[1, 2, 3], [[0.5]], [b"a", b"b"]])
        (sample,) = self._client.sample("dist", emit_timesteps=False)
        self.assertEqual([column.shape for column in sample.data], [(1, 3), (1, 1, 1), (1, 2)])


if __name__ == "__main__":
    v1.disable_eager_execution()
    tf.test.main()
