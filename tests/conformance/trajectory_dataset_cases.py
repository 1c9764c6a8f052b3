"""TrajectoryDataset in graph mode: what it gives, how it ends, what it refuses."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized
from reverb import client as reverb_client
from reverb import replay_sample, trajectory_dataset
from reverb import server as reverb_server

from tests.conformance import dataset_checks, support

v1 = tf.compat.v1


class TrajectoryDatasetTest(
    dataset_checks.ArgumentChecks, dataset_checks.SignatureChecks, tf.test.TestCase
):
    dataset_class = trajectory_dataset.TrajectoryDataset

    def setUp(self):
        super().setUp()
        self._server = reverb_server.Server(tables=dataset_checks.tables())
        self.addCleanup(self._server.stop)
        self._client = reverb_client.Client(f"localhost:{self._server.port}")

    def _make(self, dtypes, shapes, table="dist", **options):
        return self.dataset(self._client.server_address, table, dtypes, shapes, **options)

    def _all(self, dataset, count=None):
        """The first elements of a dataset, or all."""
        iterator = v1.data.make_initializable_iterator(dataset)
        element = iterator.get_next()
        with self.session() as session:
            session.run(iterator.initializer)
            if count is None:
                return support.run_to_end(session, element)
            return support.run_all(session, element, count)

    def test_sample_fixed_length_trajectory(self):
        with self._client.trajectory_writer(num_keep_alive_refs=10) as writer:
            for i in range(10):
                writer.append([np.int64(i), np.ones([3, 3], np.int32) * i])
                columns = (writer.history[0][-1], writer.history[1][-1])
                trajectory = {"one": columns[0], "frames": columns[1]}
                if i >= 2:
                    trajectory["window"] = writer.history[0][-3:]
                    trajectory["past"] = (writer.history[1][-2],)
                    writer.create_item("dist", priority=2.0, trajectory=trajectory)
        dtypes = {"one": tf.int64, "frames": tf.int32, "window": tf.int64, "past": (tf.int32,)}
        shapes = {"one": [], "frames": [3, 3], "window": [3], "past": ([3, 3],)}
        for sample in self._all(self._make(dtypes, shapes), 50):
            self.assertIsInstance(sample, replay_sample.ReplaySample)
            self.assertIsInstance(sample.info, replay_sample.SampleInfo)
            self.assertIsInstance(sample.info.key, np.uint64)
            self.assertIsInstance(sample.info.probability, np.float64)
            self.assertAlmostEqual(sample.info.probability, 1 / 8)
            self.assertEqual(sample.info.priority, 2.0)
            self.assertEqual(sample.info.table_size, 8)
            self.assertGreaterEqual(sample.info.times_sampled, 1)
            i = int(sample.data["one"])
            self.assertIn(i, range(2, 10))
            np.testing.assert_array_equal(sample.data["frames"], np.full([3, 3], i, np.int32))
            self.assertEqual(sample.data["window"].tolist(), [i - 2, i - 1, i])
            np.testing.assert_array_equal(sample.data["past"][0], np.full([3, 3], i - 1))

    def test_sample_variable_length_trajectory(self):
        with self._client.trajectory_writer(num_keep_alive_refs=10) as writer:
            for i in range(10):
                writer.append({"a": np.int32(i), "b": np.ones([2], np.float32) * i})
                trajectory = {"last": writer.history["a"][-1], "b": writer.history["b"][:]}
                writer.create_item("queue", priority=1.0, trajectory=trajectory)
        dtypes = {"last": tf.int32, "b": tf.float32}
        dataset = self._make(dtypes, {"last": [], "b": [None, 2]}, "queue", max_samples=10)
        self.assertEqual(dataset.element_spec.data["b"], tf.TensorSpec([None, 2], tf.float32))
        samples = self._all(dataset)
        self.assertLen(samples, 10)
        for i, sample in enumerate(samples):
            self.assertEqual(sample.data["last"], i)
            self.assertEqual(sample.data["b"].tolist(), [[j, j] for j in range(i + 1)])
            self.assertIs(sample.data["b"].dtype, np.dtype(np.float32))

    def test_columns_of_different_lengths(self):
        with self._client.trajectory_writer(num_keep_alive_refs=3) as writer:
            for i in range(3):
                writer.append({"a": np.int64(i), "b": np.array([b"text", b"%d" % i], object)})
            trajectory = [writer.history["a"][:], writer.history["b"][1:2]]
            writer.create_item("queue", priority=1.0, trajectory=trajectory)
        dataset = self._make((tf.int64, tf.string), ([None], [1, 2]), "queue", max_samples=1)
        (sample,) = self._all(dataset)
        self.assertEqual(sample.data[0].tolist(), [0, 1, 2])
        self.assertEqual(sample.data[1].tolist(), [[b"text", b"1"]])

    @parameterized.parameters(0, 1)
    def test_timeout(self, seconds):
        support.insert_numbers(self._client, "queue", 3)
        timeout = {"rate_limiter_timeout_ms": seconds * 1000}
        dataset = self._make((tf.int64,), ([None, 1],), "queue", **timeout)
        samples = self._all(dataset)
        self.assertEqual([sample.data[0].tolist() for sample in samples], [[[0]], [[1]], [[2]]])

    def test_incompatible_data_without_signature(self):
        support.insert_numbers(self._client, "queue", 1)
        with self.assertRaises(tf.errors.InvalidArgumentError) as caught:
            self._all(self._make((tf.float32,), ([None],), "queue"))
        text = "Specification has (dtype, shape): (float, [?]).  Tensor has (dtype, shape): (int64, [1,1])."
        self.assertIn(text, str(caught.exception))

    def test_missing_table(self):
        with self.assertRaisesRegex(tf.errors.NotFoundError, "missing"):
            self._all(self._make((tf.int64,), ([None, 1],), "missing"))


class FromTableSignatureTest(dataset_checks.FromTableSignatureChecks, tf.test.TestCase):
    dataset_class = trajectory_dataset.TrajectoryDataset


if __name__ == "__main__":
    v1.disable_eager_execution()
    tf.test.main()
