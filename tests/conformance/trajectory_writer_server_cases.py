"""TrajectoryWriter of a server: texts of errors, steps of episodes, timeouts, values that are read back."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized
from reverb import client as reverb_client
from reverb import errors
from reverb import server as reverb_server

_WAYS = ("flush", "end_episode")


class TrajectoryWriterTest(parameterized.TestCase):
    def setUp(self):
        super().setUp()
        tables = [reverb_server.Table.queue("queue", 1), reverb_server.Table.queue("large", 100)]
        self.server = reverb_server.Server(tables=tables)
        self.addCleanup(self.server.stop)
        self.client = reverb_client.Client(f"localhost:{self.server.port}")

    def test_episode_steps(self):
        with self.client.trajectory_writer(num_keep_alive_refs=1) as writer:
            for clear_buffers in (True, False, True):
                for step in range(1, 12):
                    self.assertEqual(writer.episode_steps, step - 1)
                    writer.append([1])
                    self.assertEqual(writer.episode_steps, step)
                writer.end_episode(clear_buffers)
                self.assertEqual(writer.episode_steps, 0)

    @parameterized.parameters(True, False)
    def test_episode_steps_of_partial_steps(self, clear_buffers):
        with self.client.trajectory_writer(num_keep_alive_refs=1) as writer:
            for step in range(5):
                writer.append({"x": 3}, partial_step=True)
                self.assertEqual(writer.episode_steps, step)
                writer.append({"y": 2}, partial_step=True)
                self.assertEqual(writer.episode_steps, step)
                writer.append({"z": 1})
                self.assertEqual(writer.episode_steps, step + 1)
            writer.end_episode(clear_buffers)
            self.assertEqual(writer.episode_steps, 0)

    @parameterized.parameters(*_WAYS)
    def test_timeout(self, way):
        """Only what is in the table is confirmed, and there is room for one item."""
        writer = self.client.trajectory_writer(num_keep_alive_refs=10)
        self.addCleanup(writer.close)
        for i in range(4):
            writer.append({"x": np.int64(i)})
            writer.create_item("queue", 1.0, {"x": writer.history["x"][-1]})
        with self.assertRaises(errors.DeadlineExceededError):
            getattr(writer, way)(timeout_ms=1)
        # The rest follows as soon as there is room.
        taken = [
            int(sample.data[0]) for sample in self.client.sample("queue", 4, emit_timesteps=False)
        ]
        self.assertEqual(taken, [0, 1, 2, 3])
        getattr(writer, way)()

    # A step, one that follows, and what is said of it.
    @parameterized.parameters(
        ({"x": 1.0}, {"x": 1}, "Tensor of wrong dtype provided for column ('x',). Got int64 but expected double."),
        ({"nest": {"sub": 1.0}}, {"nest": {"sub": 1}},
         "Tensor of wrong dtype provided for column ('nest', 'sub'). Got int64 but expected double."),
        ({"a": 1, "l": (1, np.float32(1))}, {"a": 1, "l": (1, np.ones([], bool))},
         "Tensor of wrong dtype provided for column ('l', 1). Got bool but expected float."),
        ({"scalar": 1.0}, {"scalar": np.ones([2])},
         "Tensor of incompatible shape provided for column ('scalar',). Got [2] which is incompatible with []."),
        ({"a": 1, "nest": {"sub": np.ones([2])}}, {"a": 1, "nest": {"sub": np.ones([1, 2])}},
         "Tensor of incompatible shape provided for column ('nest', 'sub'). Got [1,2] which is incompatible with [2]."),
    )  # fmt: skip
    def test_column_keeps_its_dtype_and_shape(self, first, second, text):
        with self.client.trajectory_writer(num_keep_alive_refs=10) as writer:
            writer.append(first)
            with self.assertRaises(ValueError) as caught:
                writer.append(second)
        self.assertIn(text, str(caught.exception))

    @parameterized.parameters(1, 3, None)
    def test_values_are_read_back(self, max_chunk_length):
        frames = np.arange(24, dtype=np.int16).reshape(4, 3, 2)
        texts = np.array([b"a", b"", b"ccc", b"\xff"], object)
        with self.client.trajectory_writer(num_keep_alive_refs=4) as writer:
            writer.configure(("f",), num_keep_alive_refs=4, max_chunk_length=max_chunk_length)
            for i in range(4):
                writer.append({"f": frames[i], "t": texts[i]})
            history = writer.history
            np.testing.assert_array_equal(history["f"][:].numpy(), frames, strict=True)
            np.testing.assert_array_equal(history["f"][-2].numpy(), frames[-2], strict=True)
            self.assertEqual(history["t"][:].numpy().tolist(), texts.tolist())
            self.assertEqual(history["f"][1:].dtype, np.int16)
            self.assertSequenceEqual(list(history["f"][1:].shape), [3, 3, 2])
            writer.create_item("large", 1.0, {"f": history["f"][1:], "t": history["t"][-1]})
        (sample,) = self.client.sample("large", emit_timesteps=False)
        np.testing.assert_array_equal(sample.data[0], frames[1:], strict=True)
        self.assertEqual(sample.data[1].tolist(), b"\xff")

    def test_references_expire(self):
        with self.client.trajectory_writer(num_keep_alive_refs=1) as writer:
            writer.append({"x": 1})
            column = writer.history["x"][:]
            self.assertEqual(column.numpy().tolist(), [1])
            writer.append({"x": 2})
            with self.assertRaises(RuntimeError):
                column.numpy()
            with self.assertRaises(ValueError):
                writer.create_item("large", 1.0, {"x": column})

    def test_missing_table(self):
        with self.client.trajectory_writer(num_keep_alive_refs=1) as writer:
            writer.append({"x": 1})
            with self.assertRaisesRegex(ValueError, "missing"):
                writer.create_item("missing", 1.0, {"x": writer.history["x"][:]})

    def test_closed_writer(self):
        writer = self.client.trajectory_writer(num_keep_alive_refs=1)
        writer.append({"x": 1})
        writer.close()
        writer.close()
        for call in (lambda: writer.append({"x": 1}), writer.flush, writer.end_episode):
            with self.assertRaises(RuntimeError):
                call()


if __name__ == "__main__":
    tf.test.main()
