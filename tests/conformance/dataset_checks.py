"""What TimestepDataset and TrajectoryDataset have in common; the scripts of each say which class it is."""

from typing import Any

import numpy as np
import reverb
import tensorflow as tf
import tree
from absl.testing import parameterized
from reverb import errors, replay_sample
from tensorflow.python.framework import tensor_spec

from tests.conformance import support

v1 = tf.compat.v1

INFO_SPECS = replay_sample.SampleInfo(
    *(tf.TensorSpec([], dtype) for dtype in (tf.uint64, tf.float64, tf.int64, tf.float64, tf.int32))
)

# Of the option, and of whether a dataset can be made with it.
_OPTIONS = (
    ("max_in_flight_samples_per_worker", (1, 7, 100), (0, -1, -2)),
    ("num_workers_per_iterator", (-1, 1, 3), (0, -2)),
    ("max_samples_per_stream", (-1, 1, 100), (0, -2)),
    ("rate_limiter_timeout_ms", (-1, 0, 1, 100), (-2, -100)),
    ("max_samples", (-1, 1, 100), (0, -2)),
)


def tables() -> list[reverb.Table]:
    """A prioritized table and a queue."""
    return [
        reverb.Table(
            "dist",
            sampler=reverb.selectors.Prioritized(priority_exponent=1),
            remover=reverb.selectors.Fifo(),
            max_size=1_000_000,
            rate_limiter=reverb.rate_limiters.MinSize(1),
        ),
        reverb.Table.queue("queue", 100),
    ]


def signed_tables() -> list[reverb.Table]:
    """A queue of each kind of signature, of any matrix of floats."""
    specs = {
        "signed": tf.TensorSpec([None, None], tf.float32),
        "bounded": tensor_spec.BoundedTensorSpec([None, None], tf.float32, (0.0,), (10.0,)),
    }
    return [reverb.Table.queue(name, 100, signature=spec) for name, spec in specs.items()]


class DatasetCase(parameterized.TestCase):
    """A case of either class of datasets."""

    dataset_class: Any = None

    def dataset(self, address: str, table: str, dtypes: Any, shapes: Any, **options: Any) -> Any:
        """A dataset of a table, with one sample in flight unless told otherwise."""
        options.setdefault("max_in_flight_samples_per_worker", 1)
        shapes = tree.map_structure_up_to(dtypes, tf.TensorShape, shapes)
        return self.dataset_class(
            server_address=address, table=table, dtypes=dtypes, shapes=shapes, **options
        )


class ArgumentChecks(DatasetCase):
    """What the constructor accepts. It connects to nothing."""

    def _unconnected(self, **options: Any) -> Any:
        return self.dataset("localhost:1234", "table", (tf.float32,), ([3, 3],), **options)

    @parameterized.parameters(*((name, v) for name, good, _ in _OPTIONS for v in good))
    def test_accepts(self, name: str, value: int):
        dataset = self._unconnected(**{name: value})
        self.assertIsInstance(dataset, v1.data.Dataset)
        self.assertEqual(dataset.element_spec.info, INFO_SPECS)
        self.assertEqual(dataset.element_spec.data, (tf.TensorSpec([3, 3], tf.float32),))

    @parameterized.parameters(*((name, v) for name, _, bad in _OPTIONS for v in bad))
    def test_refuses(self, name: str, value: int):
        text = "must be an integer >= -1" if name == "rate_limiter_timeout_ms" else name
        with self.assertRaisesRegex(ValueError, text):
            self._unconnected(**{name: value})

    @parameterized.parameters(
        ({"a": tf.float32}, {"a": tf.TensorShape([]), "b": tf.TensorShape([])}, ValueError),
        ((tf.float32,), (tf.TensorShape([]),) * 2, ValueError),
        ((tf.float32,), tf.TensorShape([]), (ValueError, TypeError)),
    )
    def test_refuses_other_structures(self, dtypes: Any, shapes: Any, kind: Any):
        with self.assertRaises(kind):
            self.dataset_class("localhost:1234", "table", dtypes, shapes, 1)

    def test_requires_samples_in_flight(self):
        with self.assertRaises(TypeError):
            self.dataset_class("localhost:1234", "table", (tf.float32,), (tf.TensorShape([]),))


class SignatureChecks(DatasetCase):
    """What iterators say of requests that the signature of their table excludes; in graphs."""

    @parameterized.product(
        table=("signed", "bounded"),
        case=(
            (
                (tf.int64, tf.float32),
                ([3, 3], []),
                "Inconsistent number of tensors requested from table '{table}'.  Requested 2 tensors, "
                "but table signature shows 1 tensors.",
            ),
            (
                (tf.int64,),
                ([3, 3],),
                "Requested incompatible tensor at flattened index 0 from table '{table}'.  Requested "
                "(dtype, shape): (int64, [3,3]).  Signature (dtype, shape): (float, [?,?])",
            ),
            (
                (tf.float32,),
                ([3],),
                "Requested incompatible tensor at flattened index 0 from table '{table}'.  Requested "
                "(dtype, shape): (float, [3]).  Signature (dtype, shape): (float, [?,?])",
            ),
        ),
    )
    def test_incompatible_with_signature(self, table: str, case: Any):
        dtypes, shapes, text = case
        server = reverb.Server(signed_tables())
        self.addCleanup(server.stop)
        client = server.localhost_client()
        client.insert([np.ones([3, 3], np.float32)], {table: 1.0})
        dataset = self.dataset(client.server_address, table, dtypes, shapes)
        iterator = v1.data.make_initializable_iterator(dataset)
        element = iterator.get_next()
        with v1.Session() as session:
            with self.assertRaises(tf.errors.InvalidArgumentError) as caught:
                session.run(iterator.initializer)
                session.run(element)
        self.assertIn(text.format(table=table), str(caught.exception))
        self.assertEqual(support.samples_taken(client, table), 0)


class FromTableSignatureChecks(DatasetCase):
    """Datasets made of what a server says of its table."""

    def _server(self, *tables: reverb.Table) -> str:
        server = reverb.Server(tables)
        self.addCleanup(server.stop)
        return f"localhost:{server.port}"

    def test_table_not_found(self):
        address = self._server(*(reverb.Table.queue(name, 10) for name in "cab"))
        text = f"Server at {address} does not contain any table named missing. Found: a, b, c."
        with self.assertRaisesWithLiteralMatch(ValueError, text):
            self.dataset_class.from_table_signature(address, "missing", 100)

    def test_server_not_found(self):
        with self.assertRaises(errors.DeadlineExceededError):
            self.dataset_class.from_table_signature(
                "localhost:1234", "missing", 100, get_signature_timeout_secs=1
            )

    def test_table_has_no_signature(self):
        address = self._server(reverb.Table.queue("queue", 10))
        text = f"Table queue at {address} does not have a signature."
        with self.assertRaisesWithLiteralMatch(ValueError, text):
            self.dataset_class.from_table_signature(address, "queue", 100)

    def test_plain_signature(self):
        signature = {
            "a": {
                "b": tf.TensorSpec([3, 3], tf.float32, name="named"),
                "c": tf.TensorSpec([], tf.int64),
            },
            "x": (tf.TensorSpec([None], tf.uint64), [tf.TensorSpec([None, 2], tf.string)]),
        }
        address = self._server(reverb.Table.queue("queue", 10, signature=signature))
        spec = self.dataset_class.from_table_signature(address, "queue", 100).element_spec
        self.assertEqual(spec.info, INFO_SPECS)
        # Lists are tuples in elements of datasets.
        signature["x"] = (signature["x"][0], tuple(signature["x"][1]))
        unnamed = tree.map_structure(lambda s: tf.TensorSpec(s.shape, s.dtype), signature)
        self.assertEqual(spec.data, unnamed)
        self.assertIsInstance(spec, replay_sample.ReplaySample)

    def test_bounded_signature(self):
        bounded = tensor_spec.BoundedTensorSpec([3, None], tf.float32, (0.0,), (10.0,), name="b")
        address = self._server(reverb.Table.queue("queue", 10, signature={"x": (bounded,)}))
        spec = self.dataset_class.from_table_signature(
            address, "queue", 100, get_signature_timeout_secs=support.PATIENCE
        ).element_spec
        self.assertEqual(spec.info, INFO_SPECS)
        self.assertEqual(spec.data, {"x": (tf.TensorSpec([3, None], tf.float32),)})
        self.assertIs(type(spec.data["x"][0]), tf.TensorSpec)

    def test_options_are_checked(self):
        address = self._server(*signed_tables())
        for name, _, bad in _OPTIONS:
            options = {"max_in_flight_samples_per_worker": 1, name: bad[0]}
            with self.assertRaises(ValueError, msg=name):
                self.dataset_class.from_table_signature(address, "signed", **options)


class MaxSamplesChecks(DatasetCase):
    """Iterators that are to end after some samples, in eager mode."""

    @parameterized.product(workers=(1, 3), in_flight=(1, 5))
    def test_takes_no_more_than_max_samples(self, workers: int, in_flight: int):
        server = reverb.Server([reverb.Table.queue("queue", 100)])
        self.addCleanup(server.stop)
        client = server.localhost_client()
        support.insert_numbers(client, "queue", 10)
        steps = self.dataset_class is reverb.TimestepDataset
        dataset = self.dataset(
            client.server_address,
            "queue",
            (tf.int64,),
            ([1],) if steps else ([None, 1],),
            num_workers_per_iterator=workers,
            max_in_flight_samples_per_worker=in_flight,
            max_samples=4,
        )
        samples = list(dataset.as_numpy_iterator())
        numbers = [np.reshape(sample.data[0], -1).tolist() for sample in samples]
        self.assertCountEqual(numbers, [[0], [1], [2], [3]])
        if workers == 1:
            self.assertEqual(numbers, [[0], [1], [2], [3]])
        self.assertLen({int(sample.info.key) for sample in samples}, 4)
        self.assertTrue(all(isinstance(s, replay_sample.ReplaySample) for s in samples))
        # What comes next is in the table still.
        (left,) = next(client.sample("queue", 1))
        self.assertEqual(left.data[0].tolist(), [4])
        self.assertEqual(support.samples_taken(client, "queue"), 5)
        self.assertEqual(client.server_info(support.PATIENCE)["queue"].current_size, 5)


class EagerChecks(DatasetCase):
    """How the datasets get on with the rest of tf.data, in eager mode."""

    def setUp(self):
        super().setUp()
        self._server = reverb.Server([reverb.Table.queue("queue", 100), *signed_tables()])
        self.addCleanup(self._server.stop)
        self._client = self._server.localhost_client()
        support.insert_numbers(self._client, "queue", 6)

    def _of_queue(self, **options: Any) -> Any:
        """The dataset of the numbers in the queue."""
        dims = [1] if self.dataset_class is reverb.TimestepDataset else [None, 1]
        address = self._client.server_address
        return self.dataset(address, "queue", (tf.int64,), (dims,), **options)

    def _values(self, dataset: Any) -> list[int]:
        return [int(np.reshape(sample.data[0], [])) for sample in dataset.as_numpy_iterator()]

    def test_every_iteration_has_max_samples(self):
        self.assertEqual(self._values(self._of_queue(max_samples=2).repeat(3)), list(range(6)))

    def test_two_iterators(self):
        dataset = self._of_queue(max_samples=3)
        self.assertEqual(self._values(dataset), [0, 1, 2])
        self.assertEqual(self._values(dataset), [3, 4, 5])

    def test_flat_map_take_and_batch(self):
        dataset = tf.data.Dataset.range(3).flat_map(lambda _: self._of_queue(max_samples=2))
        batches = list(dataset.take(5).batch(2).as_numpy_iterator())
        numbers = [np.reshape(batch.data[0], -1).tolist() for batch in batches]
        self.assertEqual(numbers, [[0, 1], [2, 3], [4]])
        self.assertEqual([batch.info.key.shape for batch in batches], [(2,), (2,), (1,)])

    def test_in_a_function(self):
        dataset = self._of_queue(max_samples=4)

        @tf.function
        def total():
            result = tf.constant(0, tf.int64)
            for sample in dataset:
                result += tf.reduce_sum(sample.data[0])
            return result

        self.assertEqual(total().numpy(), 0 + 1 + 2 + 3)

    def test_elements_are_tensors(self):
        sample = next(iter(self._of_queue()))
        self.assertIsInstance(sample, replay_sample.ReplaySample)
        self.assertIsInstance(sample.info, replay_sample.SampleInfo)
        self.assertEqual(
            [field.dtype for field in sample.info], list(replay_sample.SampleInfo.tf_dtypes())
        )
        self.assertEqual(
            [field.shape for field in sample.info], list(replay_sample.SampleInfo.tf_shapes())
        )
        self.assertEqual([field.numpy() for field in sample.info[1:]], [1.0, 6, 1.0, 1])

    def test_cardinality(self):
        for options in ({}, {"max_samples": 3}):
            dataset = self._of_queue(**options)
            self.assertEqual(dataset.cardinality(), tf.data.UNKNOWN_CARDINALITY)
            with self.assertRaises(TypeError):
                len(dataset)

    @parameterized.parameters("table", "address")
    def test_names_may_be_tensors(self, which: str):
        arguments = {"table": "queue", "address": self._client.server_address}
        arguments[which] = tf.constant(arguments[which])
        steps = self.dataset_class is reverb.TimestepDataset
        shapes = ([1],) if steps else ([None, 1],)
        dataset = self.dataset(**arguments, dtypes=(tf.int64,), shapes=shapes, max_samples=1)
        self.assertEqual(self._values(dataset), [0])

    def test_signature_is_checked_by_iter(self):
        dataset = self.dataset(self._client.server_address, "signed", (tf.int64,), ([3, 3],))
        for made in (dataset, dataset.batch(2), dataset.map(lambda sample: sample.data)):
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "flattened index 0"):
                iter(made)

    def test_table_is_checked_by_next(self):
        dataset = self.dataset(self._client.server_address, "missing", (tf.int64,), ([1],))
        iterator = iter(dataset)
        with self.assertRaisesRegex(tf.errors.NotFoundError, "missing"):
            next(iterator)

    def test_depends_on_external_state(self):
        dataset = self._of_queue(max_samples=2)
        policy = tf.data.experimental.ExternalStatePolicy
        with self.assertRaisesRegex(tf.errors.FailedPreconditionError, "external state"):
            dataset._as_serialized_graph(external_state_policy=policy.FAIL)
        graph = dataset._as_serialized_graph(external_state_policy=policy.IGNORE).numpy()
        self.assertIn(self.dataset_class.__name__.encode(), graph)

    def test_iterators_are_not_saved(self):
        iterator = iter(self._of_queue())
        next(iterator)
        checkpoint = tf.train.Checkpoint(iterator=iterator)
        with self.assertRaises(tf.errors.UnimplementedError):
            checkpoint.save(self.create_tempdir().full_path + "/iterator")

    def test_timeout(self):
        self.assertEqual(self._values(self._of_queue(rate_limiter_timeout_ms=0)), list(range(6)))

    def test_shards_of_workers(self):
        """Each worker of two keeps every other sample that it takes."""
        dataset = self._of_queue(max_samples=6)
        self.assertEqual(self._values(dataset.shard(2, 1)), [1, 3, 5])
