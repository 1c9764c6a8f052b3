"""TimestepDataset in graph mode: what it gives, how it ends, what it refuses."""

import threading
import time

import numpy as np
import tensorflow as tf
from absl.testing import parameterized
from reverb import client as reverb_client
from reverb import replay_sample, timestep_dataset
from reverb import server as reverb_server

from tests import calls
from tests.conformance import dataset_checks, support

v1 = tf.compat.v1

_ONES = (np.ones([3, 3], np.float32),)


class TimestepDatasetTest(
    dataset_checks.ArgumentChecks, dataset_checks.SignatureChecks, tf.test.TestCase
):
    dataset_class = timestep_dataset.TimestepDataset

    def setUp(self):
        super().setUp()
        self._server = reverb_server.Server(tables=dataset_checks.tables())
        self.addCleanup(self._server.stop)
        self._client = reverb_client.Client(f"localhost:{self._server.port}")

    def _insert(self, step, count, length=1, table="dist", priority=1.0):
        """Inserts `count` items of `length` equal steps."""
        with self._client.trajectory_writer(num_keep_alive_refs=length) as writer:
            for _ in range(count):
                for _ in range(length):
                    writer.append(step)
                columns = [history[-length:] for history in tf.nest.flatten(tuple(writer.history))]
                writer.create_item(table, priority, columns)

    def _make(self, dtypes=(tf.float32,), shapes=([3, 3],), table="dist", **options):
        return self.dataset(self._client.server_address, table, dtypes, shapes, **options)

    def _started(self, dataset, session):
        """The next element of an iterator that runs."""
        iterator = v1.data.make_initializable_iterator(dataset)
        element = iterator.get_next()
        session.run(iterator.initializer)
        return element

    def _take(self, dataset, count):
        with self.session() as session:
            return support.run_all(session, self._started(dataset, session), count)

    def test_iterate(self):
        self._insert(_ONES, count=10, length=4, priority=3.0)
        for sample in self._take(self._make(), 100):
            self.assertIsInstance(sample, replay_sample.ReplaySample)
            self.assertIsInstance(sample.info, replay_sample.SampleInfo)
            self.assertIsInstance(sample.info.key, np.uint64)
            self.assertIsInstance(sample.info.probability, np.float64)
            self.assertIsInstance(sample.info.priority, np.float64)
            self.assertAlmostEqual(sample.info.probability, 0.1)
            self.assertEqual(sample.info.priority, 3.0)
            self.assertEqual(sample.info.table_size, 10)
            self.assertGreaterEqual(sample.info.times_sampled, 1)
            self.assertIsInstance(sample.data, tuple)
            np.testing.assert_array_equal(sample.data[0], _ONES[0], strict=True)

    def test_steps_of_an_item_follow_one_another(self):
        with self._client.writer(max_sequence_length=4) as writer:
            for i in range(12):
                writer.append([np.float32(i)])
                if i % 4 == 3:
                    writer.create_item("queue", num_timesteps=4, priority=1.0)
        dataset = self._make((tf.float32,), ([],), "queue", max_samples=3)
        samples = self._take(dataset, 12)
        self.assertEqual([sample.data[0] for sample in samples], list(range(12)))
        keys = [sample.info.key for sample in samples]
        self.assertEqual([keys.index(key) for key in keys], [i // 4 * 4 for i in range(12)])

    def test_one_shot_iterator(self):
        support.insert_numbers(self._client, "queue", 5)
        dataset = self._make((tf.int64,), ([1],), "queue", max_samples=3)
        element = v1.data.make_one_shot_iterator(dataset).get_next()
        with self.session() as session:
            samples = support.run_to_end(session, element)
        self.assertEqual([sample.data[0].tolist() for sample in samples], [[0], [1], [2]])

    def test_batched(self):
        self._insert(_ONES, count=10, length=4)
        for sample in self._take(self._make().batch(2, drop_remainder=True), 50):
            for field in sample.info:
                self.assertEqual(field.shape, (2,))
            np.testing.assert_array_equal(sample.data[0], np.ones([2, 3, 3]))

    def test_nested(self):
        step = (
            np.zeros([3, 3], np.float32),
            {"a": np.arange(4), "b": [np.ones([], bool), np.array([b"x", b"yz"], object)]},
        )
        self._insert(step, count=3, length=2)
        dtypes = (tf.float32, {"a": tf.int64, "b": (tf.bool, tf.string)})
        shapes = ([3, 3], {"a": [4], "b": ([], [2])})
        for sample in self._take(self._make(dtypes, shapes), 20):
            tf.nest.assert_same_structure(dtypes, sample.data)
            self.assertEqual(sample.data[0].tolist(), np.zeros([3, 3]).tolist())
            self.assertEqual(sample.data[1]["a"].tolist(), [0, 1, 2, 3])
            self.assertEqual(sample.data[1]["b"][0], True)
            self.assertEqual(sample.data[1]["b"][1].tolist(), [b"x", b"yz"])

    def test_blobs(self):
        rng = np.random.default_rng(0)
        number = rng.integers(0, 255, size=[30, 200, 200], dtype=np.uint8)
        text = np.array([rng.bytes(100_000), b"", b"\0\xff"], object)
        self._insert((number, text), count=3, length=3)
        dataset = self._make((tf.uint8, tf.string), (number.shape, [3]))
        for sample in self._take(dataset, 12):
            np.testing.assert_array_equal(sample.data[0], number, strict=True)
            self.assertEqual(sample.data[1].tolist(), text.tolist())

    def test_several_iterators(self):
        self._insert(_ONES, count=10, length=3)
        iterators = [v1.data.make_initializable_iterator(self._make()) for _ in range(6)]
        elements = [iterator.get_next() for iterator in iterators]
        with self.session() as session:
            session.run([iterator.initializer for iterator in iterators])
            for samples in support.run_all(session, elements, 20):
                self.assertLen(samples, 6)
                for sample in samples:
                    np.testing.assert_array_equal(sample.data[0], _ONES[0])
        self.assertGreaterEqual(support.samples_taken(self._client, "dist"), 6 * 7)

    @parameterized.parameters(
        tf.distribute.MirroredStrategy, tf.distribute.MultiWorkerMirroredStrategy
    )
    def test_distribution_strategy(self, kind):
        self._insert(_ONES, count=10, length=4)
        replicas = [f"/cpu:{i}" for i in range(4)]
        mirrored = kind is tf.distribute.MirroredStrategy
        strategy = kind(replicas) if mirrored else kind()
        count = strategy.num_replicas_in_sync
        self.assertEqual(count, 4 if mirrored else 1)

        def make(_):
            return tf.data.Dataset.range(4).flat_map(lambda _: self._make()).take(2 * count)

        @tf.function
        def totals(distributed):
            steps, total = tf.constant(0), tf.constant(0.0)
            for samples in distributed:
                sums = strategy.run(lambda s: tf.reduce_sum(s.data[0]), args=(samples,))
                local = strategy.experimental_local_results(sums)
                steps += 1
                total += tf.add_n(local) if len(local) == count else float("nan")
            return steps, total

        distributed = strategy.distribute_datasets_from_function(make)
        with self.session() as session:
            self.assertEqual(session.run(totals(distributed)), (2, 2 * count * 9))

    @parameterized.parameters(0, 1, 2)
    def test_timeout(self, seconds):
        dataset = self._make((tf.int64,), ([1],), "queue", rate_limiter_timeout_ms=seconds * 1000)
        iterator = v1.data.make_initializable_iterator(dataset)
        element = iterator.get_next()
        with self.session() as session:
            session.run(iterator.initializer)
            start = time.monotonic()
            self.assertEqual(support.run_to_end(session, element), [])
            elapsed = time.monotonic() - start
            self.assertGreaterEqual(elapsed, 0.99 * seconds)
            self.assertLess(elapsed, 10)
            # What is there comes before the end.
            support.insert_numbers(self._client, "queue", 3)
            session.run(iterator.initializer)
            samples = support.run_to_end(session, element)
        self.assertEqual([sample.data[0].tolist() for sample in samples], [[0], [1], [2]])

    @parameterized.parameters(
        (
            (tf.float32,),
            ([],),
            "Specification has (dtype, shape): (float, []).  "
            "Tensor has (dtype, shape): (float, [3,3]).",
        ),
        (
            (tf.int32,),
            ([3, 3],),
            "Specification has (dtype, shape): (int32, [3,3]).  "
            "Tensor has (dtype, shape): (float, [3,3]).",
        ),
        (
            (tf.float32, tf.float32),
            ([3, 3], []),
            "Inconsistent number of tensors received from table 'dist'.",
        ),
    )
    def test_incompatible_data_without_signature(self, dtypes, shapes, text):
        self._insert(_ONES, count=3, length=2)
        with self.assertRaises(tf.errors.InvalidArgumentError) as caught:
            self._take(self._make(dtypes, shapes), 1)
        self.assertIn(text, str(caught.exception))

    def test_missing_table(self):
        with self.session() as session:
            element = self._started(self._make(table="missing"), session)
            with self.assertRaisesRegex(tf.errors.NotFoundError, "missing"):
                session.run(element)

    @parameterized.parameters(1, 3, 7)
    def test_takes_as_many_samples_as_may_be_in_flight(self, in_flight):
        self._insert(_ONES, count=10)
        dataset = self._make(max_in_flight_samples_per_worker=in_flight)
        with self.session() as session:
            element = self._started(dataset, session)
            for consumed in range(1, 31):
                session.run(element)
                taken = support.samples_taken(self._client, "dist")
                self.assertEqual(taken % in_flight, 0)
                self.assertGreaterEqual(taken, consumed)

    def test_lists_become_tuples(self):
        self._insert((np.float32(1), {"a": np.int64(2)}), count=2)
        dtypes = [tf.float32, {"a": [tf.int64]}]
        dataset = self._make(dtypes, [[], {"a": [[]]}])
        specs = (tf.TensorSpec([], tf.float32), {"a": (tf.TensorSpec([], tf.int64),)})
        self.assertEqual(dataset.element_spec.data, specs)
        (sample,) = self._take(dataset, 1)
        self.assertEqual(sample.data, (1.0, {"a": (2,)}))
        self.assertIsInstance(sample.data, tuple)

    def test_session_is_closed_while_op_pending(self):
        running = threading.Event()
        iterator = v1.data.make_initializable_iterator(self._make())
        told = tf.numpy_function(lambda: running.set() or np.int64(0), [], tf.int64)
        with tf.control_dependencies([told]):
            element = iterator.get_next()
        session = v1.Session()
        session.run(iterator.initializer)
        call = calls.Call(lambda: session.run(element))
        self.assertTrue(running.wait(support.PATIENCE))
        self.assertTrue(call.is_blocked())
        session.close()
        with self.assertRaises(tf.errors.CancelledError):
            call.result()

    @parameterized.product(workers=(1, 3), in_flight=(1, 5))
    def test_max_samples(self, workers, in_flight):
        support.insert_numbers(self._client, "queue", 10)
        dataset = self._make(
            (tf.int64,),
            ([1],),
            "queue",
            num_workers_per_iterator=workers,
            max_in_flight_samples_per_worker=in_flight,
            max_samples=5,
        )
        with self.session() as session:
            element = self._started(dataset, session)
            samples = support.run_to_end(session, element)
            # It stays ended.
            self.assertEqual(support.run_to_end(session, element), [])
        self.assertCountEqual([int(sample.data[0][0]) for sample in samples], range(5))
        self.assertEqual(support.samples_taken(self._client, "queue"), 5)
        (left,) = next(self._client.sample("queue", 1))
        self.assertEqual(left.data[0].tolist(), [5])


class FromTableSignatureTest(dataset_checks.FromTableSignatureChecks, tf.test.TestCase):
    dataset_class = timestep_dataset.TimestepDataset


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)
    v1.disable_eager_execution()
    tf.test.main()
