"""Server and Table, rate limiters, checkpointers, servers of protos."""

import sys

import numpy as np
import reverb
import tensorflow as tf
import tree
from absl.testing import parameterized
from reverb import item_selectors, pybind, rate_limiters, replay_sample
from reverb import server as reverb_server
from reverb.cc import schema_pb2
from reverb.cc.checkpointing import checkpoint_pb2
from reverb.platform import checkpointers_lib
from reverb.server_executable import server_from_proto
from tensorflow.python.framework import tensor_spec

_SELECTORS = {
    "uniform": item_selectors.Uniform,
    "prioritized": lambda: item_selectors.Prioritized(0.5),
    "fifo": item_selectors.Fifo,
    "lifo": item_selectors.Lifo,
    "min_heap": item_selectors.MinHeap,
    "max_heap": item_selectors.MaxHeap,
}
_LARGEST = sys.float_info.max
# Each with samples per insert, minimum size, smallest and largest difference.
_LIMITERS = {
    "min_size": (lambda: rate_limiters.MinSize(2), (1.0, 2, -_LARGEST, _LARGEST)),
    "ratio": (lambda: rate_limiters.SampleToInsertRatio(2.0, 3, 4.0), (2.0, 3, 2.0, 10.0)),
    "queue": (lambda: rate_limiters.Queue(10), (1.0, 1, 0.0, 10.0)),
    "stack": (lambda: rate_limiters.Stack(10), (1.0, 1, 0.0, 10.0)),
}


def _limits(info):
    return (info.samples_per_insert, info.min_size_to_sample, info.min_diff, info.max_diff)


class ServerTest(parameterized.TestCase):
    def test_in_process_client(self):
        server = reverb_server.Server([reverb_server.Table.queue("queue", 10)])
        self.addCleanup(server.stop)
        client = server.localhost_client()
        self.assertEqual(client.server_address, f"localhost:{server.port}")
        client.insert(1, {"queue": 1.0})
        self.assertEqual(next(client.sample("queue", 1))[0].data, [1])

    def test_tables_have_different_names(self):
        tables = [reverb_server.Table.queue(name, 10) for name in ("twice", "once", "twice")]
        with self.assertRaisesRegex(ValueError, "twice"):
            reverb_server.Server(tables)

    @parameterized.parameters(([],), (None,))
    def test_has_tables(self, tables):
        with self.assertRaises(ValueError):
            reverb_server.Server(tables)

    def test_can_sample_and_insert(self):
        table = reverb_server.Table(
            "table",
            sampler=item_selectors.Uniform(),
            remover=item_selectors.Fifo(),
            max_size=100,
            max_times_sampled=1,
            rate_limiter=rate_limiters.RateLimiter(
                samples_per_insert=1.0, min_size_to_sample=2, min_diff=-1, max_diff=5
            ),
        )
        server = reverb_server.Server([table])
        self.addCleanup(server.stop)
        client = server.localhost_client()
        self.assertFalse(table.can_sample(1))
        self.assertTrue(table.can_insert(5))
        for i in range(2):
            client.insert(i, {"table": 1.0})
        self.assertEqual([table.can_sample(n) for n in (1, 3, 4)], [True, True, False])
        self.assertEqual([table.can_insert(n) for n in (1, 3, 4)], [True, True, False])


class TableTest(parameterized.TestCase):
    @parameterized.product(
        sampler=tuple(_SELECTORS), remover=tuple(_SELECTORS), limiter=tuple(_LIMITERS)
    )
    def test_info(self, sampler, remover, limiter):
        make_limiter, limits = _LIMITERS[limiter]
        selectors = {"sampler": _SELECTORS[sampler](), "remover": _SELECTORS[remover]()}
        table = reverb_server.Table(
            "table", **selectors, max_size=1000, rate_limiter=make_limiter(), max_times_sampled=3
        )
        info = table.info
        self.assertEqual(info.name, table.name)
        self.assertEqual((info.max_size, info.max_times_sampled, info.current_size), (1000, 3, 0))
        self.assertEqual((info.num_episodes, info.num_deleted_episodes), (0, 0))
        self.assertIsNone(info.signature)
        self.assertEqual(_limits(info.rate_limiter_info), limits)
        for kind, options in ((sampler, info.sampler_options), (remover, info.remover_options)):
            field = "heap" if "heap" in kind else kind
            for other in ("fifo", "lifo", "uniform", "prioritized", "heap"):
                self.assertEqual(options.HasField(other), other == field)
            if field == "prioritized":
                self.assertEqual(options.prioritized.priority_exponent, 0.5)
            elif field == "heap":
                self.assertEqual(options.heap.min_heap, kind == "min_heap")
            else:
                self.assertTrue(getattr(options, field))
            self.assertEqual(options.is_deterministic, kind not in ("uniform", "prioritized"))

    @parameterized.parameters(
        (None,),
        (tf.TensorSpec([1, None], tf.float32),),
        ({"a": tf.TensorSpec([], tf.string), "b": (tf.TensorSpec(None, tf.int8, "n"), [tf.TensorSpec([2], tf.bool)])},),
        ({"bounded": tensor_spec.BoundedTensorSpec([2], tf.float32, (0.0, 1.0), (2.0, 3.0), "b")},),
    )  # fmt: skip
    def test_signature(self, signature):
        info = reverb_server.Table.queue("queue", 10, signature=signature).info
        if signature is None:
            self.assertIsNone(info.signature)
            return
        tree.assert_same_structure(info.signature, signature)
        self.assertEqual(tree.flatten(info.signature), tree.flatten(signature))

    @parameterized.parameters(
        ({"name": ""},),
        ({"max_size": 0},),
        ({"max_size": -1},),
        ({"signature": {"a": tf.float32}},),
    )
    def test_arguments(self, change):
        arguments = {"name": "queue", "max_size": 10, **change}
        with self.assertRaises(ValueError):
            reverb_server.Table.queue(**arguments)

    def test_replace(self):
        table = reverb_server.Table(
            "old",
            sampler=item_selectors.Prioritized(0.25),
            remover=item_selectors.MaxHeap(),
            max_size=100,
            max_times_sampled=7,
            rate_limiter=rate_limiters.SampleToInsertRatio(2.0, 3, 4.0),
            signature=tf.TensorSpec([3], tf.int64),
        )
        copy = table.replace().info
        for field in ("name", "sampler_options", "remover_options", "max_size", "max_times_sampled",
                      "rate_limiter_info", "signature", "current_size"):  # fmt: skip
            self.assertEqual(getattr(copy, field), getattr(table.info, field), field)
        changes = {
            "name": "new",
            "sampler": item_selectors.Lifo(),
            "remover": item_selectors.MinHeap(),
            "max_size": 5,
            "max_times_sampled": 0,
            "rate_limiter": rate_limiters.MinSize(9),
            "signature": tf.TensorSpec([], tf.string),
        }
        info = table.replace(**changes).info
        self.assertEqual((info.name, info.max_size, info.max_times_sampled), ("new", 5, 0))
        self.assertTrue(info.sampler_options.lifo)
        self.assertTrue(info.remover_options.heap.min_heap)
        self.assertEqual(info.rate_limiter_info.min_size_to_sample, 9)
        self.assertEqual(info.signature, tf.TensorSpec([], tf.string))


class RateLimiterTest(parameterized.TestCase):
    # Samples per insert, minimum size, buffer, and whether that goes.
    @parameterized.parameters(
        (1.0, 1, 1.0, True), (1.0, 10, 7, True), (0.1, 10, 1.0, True), (3.0, 5, (10.0, 20.0), True),
        (1.0, 1, np.float64(2), True), (2.0, 4, (8.0, 12.0), True), (1.0, 10, (0.0, 11.0), True),
        (0.0, 1, 10.0, False), (-1.0, 1, 10.0, False), (1.0, 0, 10.0, False), (1.0, -1, 10.0, False),
        (1.0, 10, 0.9, False), (5.0, 10, 4.9, False), (1.0, 10, (9.5, 11.0), False),
        (3.0, 5, (12.0, 17.9), False), (1.0, 5, (6.0, 20.0), False), (1.0, 5, (10.0, 0.0), False),
    )  # fmt: skip
    def test_sample_to_insert_ratio(self, samples_per_insert, min_size, buffer, valid):
        arguments = (samples_per_insert, min_size, buffer)
        if not valid:
            with self.assertRaises(ValueError):
                rate_limiters.SampleToInsertRatio(*arguments)
            return
        limiter = rate_limiters.SampleToInsertRatio(*arguments)
        middle = samples_per_insert * min_size
        limits = buffer if isinstance(buffer, tuple) else (middle - buffer, middle + buffer)
        self.assertEqual((limiter._min_diff, limiter._max_diff), limits)

    @parameterized.parameters((1, True), (100, True), (0, False), (-1, False))
    def test_min_size(self, size, valid):
        if valid:
            self.assertEqual(rate_limiters.MinSize(size)._min_size_to_sample, size)
        else:
            with self.assertRaises(ValueError):
                rate_limiters.MinSize(size)


class FromProtoTest(parameterized.TestCase):
    @parameterized.parameters(
        ({"fifo": True}, item_selectors.Fifo), ({"lifo": True}, item_selectors.Lifo),
        ({"uniform": True}, item_selectors.Uniform),
        ({"prioritized": {"priority_exponent": 0.5}}, item_selectors.Prioritized),
        ({"heap": {"min_heap": True}}, pybind.HeapSelector), ({"heap": {}}, pybind.HeapSelector),
    )  # fmt: skip
    def test_selector(self, fields, kind):
        options = schema_pb2.KeyDistributionOptions(**fields)
        self.assertIsInstance(server_from_proto.selector_from_proto(options), kind)

    def test_other_selectors(self):
        options = schema_pb2.KeyDistributionOptions
        with self.assertRaises(ValueError):
            server_from_proto.selector_from_proto(options(fifo=False))
        with self.assertRaises(NotImplementedError):
            server_from_proto.selector_from_proto(options())

    def test_tables(self):
        limiter = checkpoint_pb2.RateLimiterCheckpoint(
            samples_per_insert=2.0, min_size_to_sample=3, min_diff=-4.0, max_diff=50.0
        )
        made = server_from_proto.rate_limiter_from_proto(limiter)
        self.assertIsInstance(made, rate_limiters.RateLimiter)
        protos = [
            checkpoint_pb2.PriorityTableCheckpoint(
                table_name=name,
                sampler=schema_pb2.KeyDistributionOptions(lifo=True),
                remover=schema_pb2.KeyDistributionOptions(fifo=True),
                max_size=101,
                max_times_sampled=200,
                rate_limiter=limiter,
            )
            for name in ("a", "b")
        ]
        tables = server_from_proto.tables_from_proto(protos)
        self.assertEqual([table.name for table in tables], ["a", "b"])
        for table in tables:
            self.assertIsInstance(table, reverb_server.Table)
            self.assertTrue(table.info.sampler_options.lifo)
            self.assertTrue(table.info.remover_options.fifo)
            self.assertEqual((table.info.max_size, table.info.max_times_sampled), (101, 200))
            self.assertEqual(_limits(table.info.rate_limiter_info), (2.0, 3, -4.0, 50.0))


_DTYPES = (
    *("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8"),
    *("uint16", "uint32", "uint64", "bool", "complex64", "complex128"),
)
_VALUES = (
    *(np.arange(6).reshape(2, 3).astype(dtype) for dtype in _DTYPES),
    np.array([b"a", b"", b"\xff\xfe"], object),
    np.array(["text", "grüße"], object),
    np.array(b"scalar", object),
    np.array(1.5, np.float16),
    np.zeros([0, 2], np.int8),
)


class NativeTest(parameterized.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = reverb.Server([reverb.Table.queue("queue", 100)])
        cls.client = cls.server.localhost_client()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        super().tearDownClass()

    @parameterized.parameters(*((value,) for value in _VALUES))
    def test_values_come_back(self, value):
        with self.client.writer(1) as writer:
            writer.append([value])
            writer.create_item("queue", 1, 1.0)
        got = next(self.client.sample("queue"))[0].data[0]
        if value.dtype == object:
            value = np.vectorize(lambda v: v.encode() if isinstance(v, str) else v, [object])(value)
        self.assertEqual((got.dtype, got.shape), (value.dtype, value.shape))
        self.assertEqual(got.tolist(), value.tolist())

    def test_growing_strings(self):
        with self.client.writer(1) as writer:
            for i in range(100):
                writer.append(["string" * i])
                writer.create_item("queue", 1, 1.0)
        for i, (step,) in enumerate(self.client.sample("queue", 100)):
            self.assertEqual(step.data[0].tolist(), b"string" * i)

    def test_info_tensors(self):
        self.assertLen(replay_sample.SampleInfo._fields, pybind.Sampler.NUM_INFO_TENSORS)

    def test_checkpointer(self):
        checkpointer = checkpointers_lib.TempDirCheckpointer()
        self.assertIsInstance(checkpointer, checkpointers_lib.CheckpointerBase)
        self.assertIsInstance(checkpointer.internal_checkpointer(), pybind.Checkpointer)


if __name__ == "__main__":
    tf.test.main()
