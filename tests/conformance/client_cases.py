"""Client: inserts, samples, changes of tables, what servers say of themselves, writers on many threads."""

import collections
import pickle
import threading

import numpy as np
import tensorflow as tf
import tree
from absl.testing import parameterized
from reverb import client as reverb_client
from reverb import errors, item_selectors, rate_limiters, replay_sample
from reverb import server as reverb_server

from tests.conformance import support

_NESTED_SIGNATURE = {
    "a": (tf.TensorSpec([2], tf.float64), [tf.TensorSpec([], tf.int64)]),
    "b": {"c": tf.TensorSpec([None], tf.string)},
}


class ClientTest(tf.test.TestCase, parameterized.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.table = reverb_server.Table(
            "dist",
            sampler=item_selectors.Prioritized(1),
            remover=item_selectors.Fifo(),
            max_size=1000,
            rate_limiter=rate_limiters.MinSize(1),
            signature=tf.TensorSpec([], tf.int64),
        )
        nested = tree.map_structure(
            lambda s: tf.TensorSpec([None, *s.shape], s.dtype), _NESTED_SIGNATURE
        )
        tables = [
            cls.table,
            reverb_server.Table.queue("queue", 10),
            reverb_server.Table.queue("nested", 10, signature=nested),
            support.table("unsigned", item_selectors.Prioritized(1)),
        ]
        cls.server = reverb_server.Server(tables=tables)
        cls.client = cls.server.localhost_client()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        super().tearDownClass()

    def tearDown(self):
        for name in ("dist", "queue", "nested", "unsigned"):
            self.client.reset(name)
        super().tearDown()

    def _frequencies(self, count=1000):
        """How often each number was sampled, of 1."""
        samples = self.client.sample("unsigned", count)
        counts = collections.Counter(int(step.data[0]) for (step,) in samples)
        return {number: n / count for number, n in counts.items()}

    def _keys(self, *priorities):
        """Inserts the numbers 0, 1, ... with these priorities; returns their keys."""
        keys = {}
        for i, priority in enumerate(priorities):
            self.client.insert([np.int64(i)], {"unsigned": priority})

        def found():
            ((step,),) = self.client.sample("unsigned", 1)
            keys[int(step.data[0])] = step.info.key
            return len(keys) == len(priorities)

        support.wait_until(found)
        return [keys[i] for i in range(len(priorities))]

    def test_insert(self):
        self.client.insert(np.int64(7), {"dist": 1.0})
        self.client.insert([np.int64(8)], {"dist": 1.0, "unsigned": 2.0})
        self.assertEqual(self.table.info.current_size, 2)
        ((step,),) = self.client.sample("unsigned")
        self.assertEqual((step.data[0], step.info.priority), (8, 2.0))
        values = {int(step.data[0]) for (step,) in self.client.sample("dist", 100)}
        self.assertEqual(values, {7, 8})

    def test_insert_requires_priorities(self):
        with self.assertRaises(ValueError):
            self.client.insert([np.int64(1)], {})

    def test_sample_follows_priorities(self):
        for number, priority in enumerate((1.0, 0.1, 0.0)):
            self.client.insert([np.int64(number)], {"unsigned": priority})
        frequencies = self._frequencies(2000)
        self.assertAlmostEqual(frequencies[0], 1 / 1.1, delta=0.05)
        self.assertAlmostEqual(frequencies[1], 0.1 / 1.1, delta=0.05)
        self.assertNotIn(2, frequencies)

    def test_sample_says_table_size_probability_and_priority(self):
        for i in range(1, 11):
            self.client.insert([np.int64(i)], {"unsigned": float(i)})
            ((step,),) = self.client.sample("unsigned")
            self.assertEqual(step.info.table_size, i)
            self.assertEqual(step.info.priority, float(step.data[0]))
            self.assertAlmostEqual(step.info.probability, step.data[0] / (i * (i + 1) / 2))

    def test_info_is_of_python_scalars(self):
        self.client.insert([np.int64(1)], {"queue": 1.0, "unsigned": 1.0})
        for (step,) in (next(self.client.sample(name)) for name in ("queue", "unsigned")):
            self.assertIsInstance(step, replay_sample.ReplaySample)
            self.assertIsInstance(step.info, replay_sample.SampleInfo)
            self.assertEqual([type(v) for v in step.info], [int, float, int, float, int])
            self.assertEqual(step.info[1:], (1.0, 1, 1.0, 1))

    def test_mutate_priorities_update(self):
        keys = self._keys(1.0, 1.0, 1.0)
        self.client.mutate_priorities("unsigned", updates={keys[0]: 0.1, keys[1]: 0.0})
        frequencies = self._frequencies(2000)
        self.assertAlmostEqual(frequencies[2], 1 / 1.1, delta=0.05)
        self.assertNotIn(1, frequencies)

    def test_mutate_priorities_delete(self):
        keys = self._keys(1.0, 1.0, 1.0)
        self.client.mutate_priorities("unsigned", deletes=[keys[1], keys[1]])
        self.client.mutate_priorities("unsigned", updates={keys[1]: 100.0})
        self.assertSameElements(self._frequencies(100), [0, 2])
        self.assertEqual(self.client.server_info(60)["unsigned"].current_size, 2)

    def test_missing_table(self):
        calls = (
            lambda: next(self.client.sample("missing")),
            lambda: self.client.mutate_priorities("missing", updates={1: 1.0}),
            lambda: self.client.reset("missing"),
        )
        for call in calls:
            with self.assertRaisesRegex(RuntimeError, "missing"):
                call()
        with self.assertRaisesRegex(ValueError, "missing"):
            self.client.insert([np.int64(1)], {"missing": 1.0})

    def test_reset(self):
        for i in range(3):
            self.client.insert([np.int64(i)], {"dist": 1.0, "unsigned": 1.0})
        self.client.reset("unsigned")
        infos = self.client.server_info()
        self.assertEqual(infos["unsigned"].current_size, 0)
        self.assertEqual(infos["unsigned"].rate_limiter_info.insert_stats.completed, 0)
        self.assertEqual(infos["dist"].current_size, 3)
        self.client.insert([np.int64(7)], {"unsigned": 1.0})
        self.assertEqual(self._frequencies(10), {7: 1.0})

    def test_server_info(self):
        self.client.insert([np.int64(1)], {"dist": 1.0})
        infos = self.client.server_info()
        self.assertEqual(set(infos), {"dist", "queue", "nested", "unsigned"})
        info = infos["dist"]
        self.assertEqual(info.name, "dist")
        self.assertEqual(info.current_size, 1)
        self.assertEqual(info.num_episodes, 1)
        self.assertEqual(info.num_deleted_episodes, 0)
        self.assertEqual(info.max_size, 1000)
        self.assertEqual(info.max_times_sampled, 0)
        self.assertEqual(info.sampler_options.prioritized.priority_exponent, 1)
        self.assertTrue(info.remover_options.fifo)
        self.assertEqual(info.signature, tf.TensorSpec([], tf.int64))
        self.assertEqual(info.rate_limiter_info.min_size_to_sample, 1)
        self.assertEqual(info.rate_limiter_info.samples_per_insert, 1.0)
        queue = infos["queue"]
        self.assertIsNone(queue.signature)
        self.assertEqual((queue.max_size, queue.max_times_sampled), (10, 1))
        self.assertTrue(queue.sampler_options.fifo)
        self.assertEqual(queue.rate_limiter_info.max_diff, 10)
        self.assertEqual(infos["nested"].signature["b"]["c"].shape.as_list(), [None, None])

    def test_server_info_timeout(self):
        client = reverb_client.Client(f"localhost:{support.unused_port()}")
        with self.assertRaises(errors.DeadlineExceededError):
            client.server_info(timeout=1)

    def test_pickle(self):
        client = pickle.loads(pickle.dumps(self.client))
        self.assertIsInstance(client, reverb_client.Client)
        self.assertEqual(client._server_address, self.client._server_address)
        self.assertEqual(client.server_address, f"localhost:{self.server.port}")
        client.insert([np.int64(5)], {"queue": 1.0})
        self.assertEqual(next(self.client.sample("queue"))[0].data, [5])

    @parameterized.parameters(
        {"max_sequence_length": 0},
        {"max_sequence_length": -1},
        {"max_sequence_length": 5, "chunk_length": 0},
        {"max_sequence_length": 5, "chunk_length": 6},
        {"max_sequence_length": 5, "max_in_flight_items": 0},
        {"max_sequence_length": 5, "max_in_flight_items": -1},
    )
    def test_writer_refuses(self, **arguments):
        with self.assertRaises(ValueError):
            self.client.writer(**arguments)

    @parameterized.parameters(
        {"chunk_length": 5}, {"max_in_flight_items": None}, {"delta_encoded": True}
    )
    def test_writer_accepts(self, **arguments):
        with self.client.writer(max_sequence_length=5, **arguments) as writer:
            for i in range(5):
                writer.append([np.int64(i)])
            writer.create_item("queue", num_timesteps=5, priority=1.0)
        steps = next(self.client.sample("queue"))
        self.assertEqual([step.data[0] for step in steps], list(range(5)))

    @parameterized.parameters(0, -1)
    def test_trajectory_writer_refuses(self, refs):
        with self.assertRaises(ValueError):
            self.client.trajectory_writer(refs)

    def test_append_sequence(self):
        sequence = {"a": np.arange(6).reshape(3, 2), "b": np.array([b"x", b"y", b"z"], object)}
        with self.client.writer(max_sequence_length=4) as writer:
            writer.append({"a": np.array([7, 7]), "b": b"w"})
            writer.append_sequence(sequence)
            for bad in ({}, {"a": np.int64(1)}, {"a": np.arange(2), "b": np.arange(3)}):
                with self.assertRaises(ValueError):
                    writer.append_sequence(bad)
            writer.create_item("queue", num_timesteps=4, priority=1.0)
        steps = next(self.client.sample("queue"))
        self.assertEqual([s.data[0].tolist() for s in steps], [[7, 7], [0, 1], [2, 3], [4, 5]])
        self.assertEqual([s.data[1].tolist() for s in steps], [b"w", b"x", b"y", b"z"])

    def test_dtypes_through_one_queue(self):
        for dtype in (np.int32, np.float32, np.uint8):
            self.client.insert([np.arange(3).astype(dtype)], {"queue": 1.0})
        for dtype in (np.int32, np.float32, np.uint8):
            ((step,),) = self.client.sample("queue")
            np.testing.assert_array_equal(step.data[0], np.arange(3).astype(dtype), strict=True)

    def _write_trajectory(self, table):
        data = {"a": (np.array([1.0, 2.0]), [np.int64(3)]), "b": {"c": np.array([b"x"], object)}}
        with self.client.trajectory_writer(num_keep_alive_refs=3) as writer:
            for _ in range(3):
                writer.append(data)
            history = writer.history
            trajectory = {
                "a": (history["a"][0][:], [history["a"][1][0][:]]),
                "b": {"c": history["b"]["c"][:]},
            }
            writer.create_item(table, 1.0, trajectory)

    def _sample_trajectory(self, table, **options):
        self._write_trajectory(table)
        (sample,) = self.client.sample(table, **options)
        return sample

    _FLAT = ([[1.0, 2.0]] * 3, [3] * 3, [[b"x"]] * 3)

    @parameterized.parameters(
        ("nested", {}), ("queue", {}), ("queue", {"unpack_as_table_signature": True})
    )
    def test_trajectories_that_are_flat(self, table, options):
        sample = self._sample_trajectory(table, emit_timesteps=False, **options)
        self.assertIsInstance(sample.data, list)
        self.assertEqual([column.tolist() for column in sample.data], list(self._FLAT))
        self.assertEqual([c.dtype for c in sample.data], [np.float64, np.int64, object])

    def test_trajectories_like_the_signature(self):
        sample = self._sample_trajectory(
            "nested", emit_timesteps=False, unpack_as_table_signature=True
        )
        tree.assert_same_structure(sample.data, _NESTED_SIGNATURE)
        self.assertEqual([c.tolist() for c in tree.flatten(sample.data)], list(self._FLAT))

    @parameterized.parameters(True, False)
    def test_timesteps(self, unpack):
        steps = self._sample_trajectory("nested", unpack_as_table_signature=unpack)
        self.assertLen(steps, 3)
        self.assertLen({step.info.key for step in steps}, 1)
        for step in steps:
            if unpack:
                tree.assert_same_structure(step.data, _NESTED_SIGNATURE)
            flat = [column.tolist() for column in tree.flatten(step.data)]
            self.assertEqual(flat, [column[0] for column in self._FLAT])

    def test_columns_of_different_lengths_have_no_steps(self):
        with self.client.trajectory_writer(num_keep_alive_refs=2) as writer:
            for i in range(2):
                writer.append([np.int64(i), np.int64(i)])
            writer.create_item("queue", 1.0, [writer.history[0][:], writer.history[1][-1:]])
        with self.assertRaises(ValueError):
            next(self.client.sample("queue"))

    @parameterized.parameters(0, -2)
    def test_number_of_samples(self, count):
        with self.assertRaises(ValueError):
            next(self.client.sample("queue", count))

    def _on_threads(self, count, write):
        failures = []

        def run():
            try:
                write()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=run, daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(support.PATIENCE)
        self.assertFalse(any(thread.is_alive() for thread in threads))
        self.assertEmpty(failures)

    def test_writers_on_threads_with_flush(self):
        def write():
            writer = self.client.writer(2)
            for i in range(10):
                writer.append([np.int64(i)])
                writer.create_item("dist", 1, 1.0)
                writer.flush()
            writer.close()

        self._on_threads(64, write)
        self.assertEqual(self.table.info.current_size, 640)

    def test_writers_on_threads_with_scope(self):
        def write():
            with self.client.writer(2) as writer:
                for i in range(256):
                    writer.append([np.int64(i)])
                    writer.create_item("dist", 1, 1.0)

        self._on_threads(5, write)
        info = self.client.server_info(support.PATIENCE)["dist"]
        self.assertEqual(info.rate_limiter_info.insert_stats.completed, 5 * 256)
        self.assertEqual(info.current_size, 1000)


if __name__ == "__main__":
    tf.test.main()
