"""TrajectoryDataset in v1 graphs and eager mode: options, validation, content, ends of the sequence."""

import collections

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework.tensor_spec import BoundedTensorSpec

import reverb_tf as reverb
from tests.tf.support import as_list, uniform_table

v1 = tf.compat.v1

SPEC = {"x": tf.TensorSpec([None, 3], tf.float32)}


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def service(make_service):
    return make_service(
        uniform_table("dist"),
        uniform_table("signature", signature=SPEC),
        uniform_table("bounded", signature={"x": BoundedTensorSpec([None], tf.int64, 0, 7)}),
        uniform_table(
            "nested",
            signature={
                "b": (tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.int64)),
                "a": collections.namedtuple("Pair", "y x")(
                    tf.TensorSpec([None], tf.string), tf.TensorSpec([None, 2], tf.bool)
                ),
            },
        ),
        reverb.Table.queue("queue", 100),
    )


def dataset_of(service, table="dist", dtypes=None, shapes=None, **options):
    options.setdefault("max_in_flight_samples_per_worker", 1)
    return reverb.TrajectoryDataset(
        service.address,
        table,
        dtypes={"x": tf.int64} if dtypes is None else dtypes,
        shapes={"x": tf.TensorShape([None])} if shapes is None else shapes,
        **options,
    )


def first(dataset):
    """The first element, in a graph."""
    iterator = v1.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    with v1.Session() as session:
        session.run(iterator.initializer)
        return session.run(element)


# Options.


@pytest.mark.parametrize(
    ("option", "bad", "text"),
    [
        ("max_in_flight_samples_per_worker", [0, -1], "must be an integer >= 1"),
        ("num_workers_per_iterator", [0, -2], "must be an integer >= 1 or -1"),
        ("max_samples_per_stream", [0, -2], "must be an integer >= 1 or -1"),
        ("rate_limiter_timeout_ms", [-2], "must be an integer >= -1"),
        ("max_samples", [0, -2], "must be an integer >= 1 or -1"),
    ],
)
def test_options_out_of_range(option, bad, text):
    for value in bad:
        with pytest.raises(ValueError, match=text) as error:
            reverb.TrajectoryDataset(
                "localhost:1",
                "t",
                tf.int64,
                tf.TensorShape([]),
                **{"max_in_flight_samples_per_worker": 1, option: value},
            )
        assert option in str(error.value)
        assert str(value) in str(error.value)


@pytest.mark.parametrize(
    ("option", "good"),
    [
        ("max_in_flight_samples_per_worker", [1, 3]),
        ("num_workers_per_iterator", [-1, 1, 3]),
        ("max_samples_per_stream", [-1, 1, 3]),
        ("rate_limiter_timeout_ms", [-1, 0, 3]),
        ("max_samples", [-1, 1, 3]),
    ],
)
def test_options_in_range(option, good):
    for value in good:
        reverb.TrajectoryDataset(
            "localhost:1",
            "t",
            tf.int64,
            tf.TensorShape([]),
            **{"max_in_flight_samples_per_worker": 1, option: value},
        )


def test_structures_must_agree():
    with pytest.raises((ValueError, TypeError)):
        reverb.TrajectoryDataset("localhost:1", "t", [tf.int64], [tf.TensorShape([])] * 2, 1)


def test_the_op_checks_its_attributes(graph):
    """Graphs are made by other programs too."""
    from reverb_tf._tf import op_library

    info_dtypes = list(reverb.SampleInfo.tf_dtypes())
    info_shapes = list(reverb.SampleInfo.tf_shapes())
    good = {"dtypes": info_dtypes, "shapes": info_shapes}
    for attributes, text in (
        ({**good, "max_in_flight_samples_per_worker": 0}, "max_in_flight_samples_per_worker"),
        ({**good, "num_workers_per_iterator": -3}, "num_workers_per_iterator"),
        ({**good, "max_samples_per_stream": 0}, "max_samples_per_stream"),
        ({**good, "max_samples": -5}, "max_samples"),
        ({"dtypes": info_dtypes[:3], "shapes": info_shapes[:3]}, "sample info"),
        ({"dtypes": info_dtypes, "shapes": info_shapes[:4]}, "same number"),
        ({"dtypes": info_dtypes[::-1], "shapes": info_shapes}, "Component 0"),
    ):
        dataset = op_library.ops().reverb_trajectory_dataset(
            server_address="localhost:1", table="t", **attributes
        )
        with v1.Session() as session:
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                session.run(dataset.op)


def test_element_spec(service):
    dataset = dataset_of(
        service,
        dtypes={"a": [tf.int64, tf.float32], "b": tf.string},
        shapes={"a": [tf.TensorShape([None]), tf.TensorShape(None)], "b": tf.TensorShape([2])},
    )
    spec = dataset.element_spec
    assert isinstance(spec, reverb.ReplaySample)
    assert isinstance(spec.info, reverb.SampleInfo)
    assert [s.dtype for s in spec.info] == list(reverb.SampleInfo.tf_dtypes())
    assert spec.data == {
        "a": (tf.TensorSpec([None], tf.int64), tf.TensorSpec(None, tf.float32)),
        "b": tf.TensorSpec([2], tf.string),
    }


def test_properties(service):
    dataset = dataset_of(service, max_samples=3)
    assert dataset.cardinality() == tf.data.UNKNOWN_CARDINALITY
    with pytest.raises(TypeError):
        len(dataset)
    assert isinstance(dataset, v1.data.Dataset)


# Content.


def test_elements_are_replay_samples(service, graph):
    service.write("dist", [np.int64(5)], length=3, priority=2.0)
    element = first(dataset_of(service))
    assert isinstance(element, reverb.ReplaySample)
    assert isinstance(element.info, reverb.SampleInfo)
    assert isinstance(element.info.key, np.uint64)
    assert isinstance(element.info.probability, np.float64)
    assert element.info.table_size == 1
    assert element.info.priority == 2.0
    assert element.info.times_sampled >= 1
    np.testing.assert_array_equal(element.data["x"], [5, 5, 5])


def test_trajectories_of_different_length(service):
    for length in (1, 2, 5):
        service.write("queue", [np.int64(length)], length=length)
    dataset = dataset_of(service, "queue", max_samples=3)
    assert as_list(e.data["x"] for e in dataset) == [[1], [2, 2], [5] * 5]


def test_every_kind_of_column(service):
    with service.client.trajectory_writer(num_keep_alive_refs=4) as writer:
        for i in range(4):
            writer.append(
                {
                    "scalar": np.float32(i),
                    "image": np.full([2, 3], i, np.uint8),
                    "text": f"step {i}",
                    "empty": np.zeros([0], np.float64),
                }
            )
        writer.create_item(
            table="dist",
            priority=1.0,
            trajectory={
                "scalars": writer.history["scalar"][1:],
                "image": writer.history["image"][-1],
                "reverse": writer.history["scalar"][::-1],
                "text": writer.history["text"][:2],
                "word": writer.history["text"][2],
                "empty": writer.history["empty"][:],
            },
        )
        writer.flush()
    dtypes = {
        "empty": tf.float64, "image": tf.uint8, "reverse": tf.float32, "scalars": tf.float32,
        "text": tf.string, "word": tf.string,
    }  # fmt: skip
    dataset = dataset_of(
        service,
        dtypes=dtypes,
        shapes={key: tf.TensorShape(None) for key in dtypes},
        max_samples=1,
    )
    (element,) = dataset
    assert as_list(element.data[key] for key in ("scalars", "image", "reverse", "empty")) == [
        [1, 2, 3],
        [[3, 3, 3], [3, 3, 3]],
        [3, 2, 1, 0],
        [[], [], [], []],
    ]
    assert element.data["text"].numpy().tolist() == [b"step 0", b"step 1"]
    assert element.data["word"].numpy() == b"step 2"


def test_large_elements_batched(service):
    values = np.random.default_rng(0).normal(size=[4, 50_000])
    service.write("queue", list(values), length=2)
    dataset = dataset_of(
        service,
        "queue",
        dtypes={"x": tf.float64},
        shapes={"x": tf.TensorShape([2, 50_000])},
        max_in_flight_samples_per_worker=4,
        max_samples=4,
    ).batch(4)
    (batch,) = dataset
    np.testing.assert_array_equal(batch.data["x"], np.stack([values, values], axis=1))


def test_several_iterators(service, graph):
    service.write("dist", range(10))
    dataset = dataset_of(service)
    iterators = [v1.data.make_initializable_iterator(dataset) for _ in range(3)]
    elements = [iterator.get_next() for iterator in iterators]
    with v1.Session() as session:
        session.run([iterator.initializer for iterator in iterators])
        for _ in range(20):
            for element in session.run(elements):
                assert 0 <= element.data["x"][0] < 10


def test_one_shot_iterator(service, graph):
    service.write("dist", [3])
    element = v1.data.make_one_shot_iterator(dataset_of(service)).get_next()
    with v1.Session() as session:
        assert session.run(element).data["x"] == [3]


def test_in_a_function(service):
    service.write("queue", range(6))
    dataset = dataset_of(service, "queue", max_samples=6)

    @tf.function
    def total():
        result = tf.constant(0, tf.int64)
        for sample in dataset.batch(2):
            result += tf.reduce_sum(sample.data["x"])
        return result

    assert total() == 15


@pytest.mark.parametrize("combine", ["flat_map", "interleave"])
def test_inside_another_dataset(service, combine):
    service.write("dist", range(10))
    outer = tf.data.Dataset.range(3)

    def inner(_):
        return dataset_of(service, max_samples=2)

    if combine == "flat_map":
        dataset = outer.flat_map(inner)
    else:
        dataset = outer.interleave(inner, cycle_length=3, num_parallel_calls=2, deterministic=False)
    assert len(list(dataset)) == 6


def test_table_and_address_as_tensors(service):
    service.write("dist", [1])
    service.write("queue", [2])

    def inner(table):
        return reverb.TrajectoryDataset(
            tf.constant(service.address),
            table,
            dtypes=tf.int64,
            shapes=tf.TensorShape([None]),
            max_in_flight_samples_per_worker=1,
            max_samples=1,
        )

    dataset = tf.data.Dataset.from_tensor_slices(["dist", "queue"]).flat_map(inner)
    assert as_list(e.data for e in dataset) == [[1], [2]]


# Number of samples.


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("in_flight", [1, 5])
@pytest.mark.parametrize("per_stream", [-1, 2])
def test_max_samples_is_exact(service, workers, in_flight, per_stream):
    service.write("queue", range(10))
    dataset = dataset_of(
        service,
        "queue",
        max_samples=4,
        num_workers_per_iterator=workers,
        max_in_flight_samples_per_worker=in_flight,
        max_samples_per_stream=per_stream,
    )
    values = sorted(int(e.data["x"][0]) for e in dataset)
    assert values == [0, 1, 2, 3]
    assert next(service.client.sample("queue"))[0].data[0] == 4
    assert service.samples_taken("queue") == 5


def test_max_samples_starts_again_with_each_iteration(service):
    service.write("queue", range(10))
    dataset = dataset_of(service, "queue", max_samples=2).repeat(3)
    assert as_list(e.data["x"] for e in dataset) == [[i] for i in range(6)]


@pytest.mark.parametrize("in_flight", [1, 3, 7])
def test_samples_in_flight_are_bounded(service, graph, in_flight):
    service.write("dist", range(50))
    dataset = dataset_of(service, max_in_flight_samples_per_worker=in_flight)
    # TensorFlow would read ahead on its own account.
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    iterator = v1.data.make_initializable_iterator(dataset.with_options(options))
    element = iterator.get_next()
    with v1.Session() as session:
        session.run(iterator.initializer)
        for i in range(1, 21):
            session.run(element)
            assert i <= service.samples_taken("dist") <= i + in_flight


@pytest.mark.parametrize("in_flight", [1, 5])
def test_fifo_order_with_one_worker(service, in_flight):
    service.write("queue", range(50))
    dataset = dataset_of(
        service,
        "queue",
        max_in_flight_samples_per_worker=in_flight,
        max_samples_per_stream=7,
        max_samples=50,
    )
    assert as_list(e.data["x"] for e in dataset) == [[i] for i in range(50)]


# Timeouts.


@pytest.mark.parametrize("timeout_ms", [0, 1000, 2000])
def test_timeout_ends_the_sequence(service, graph, timeout_ms):
    iterator = v1.data.make_initializable_iterator(
        dataset_of(service, rate_limiter_timeout_ms=timeout_ms)
    )
    element = iterator.get_next()
    with v1.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)
        # It stays ended.
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)


@pytest.mark.parametrize("timeout_ms", [0, 1000])
@pytest.mark.parametrize("in_flight", [1, 3, 10])
def test_what_is_there_comes_before_the_timeout(service, timeout_ms, in_flight):
    service.write("queue", range(5))
    dataset = dataset_of(
        service,
        "queue",
        rate_limiter_timeout_ms=timeout_ms,
        max_in_flight_samples_per_worker=in_flight,
    )
    assert as_list(e.data["x"] for e in dataset) == [[i] for i in range(5)]


# Signatures.


def test_request_that_agrees_with_the_signature(service, graph):
    service.write("signature", [np.ones([3], np.float32)], length=2)
    element = first(
        dataset_of(
            service,
            "signature",
            dtypes={"other name": tf.float32},
            shapes={"other name": tf.TensorShape([2, 3])},
        )
    )
    assert element.data["other name"].shape == (2, 3)


@pytest.mark.parametrize(
    ("dtypes", "shapes", "text"),
    [
        (
            (tf.float32, tf.int64),
            (tf.TensorShape([None, 3]), tf.TensorShape([None])),
            "Inconsistent number of tensors requested from table 'signature'.  Requested 2 tensors, "
            "but table signature shows 1 tensors.",
        ),
        (
            (tf.int64,),
            (tf.TensorShape([3, 3]),),
            "Requested incompatible tensor at flattened index 0 from table 'signature'.  "
            "Requested (dtype, shape): (int64, [3,3]).  Signature (dtype, shape): (float, [?,3])",
        ),
        (
            (tf.float32,),
            (tf.TensorShape([3]),),
            "Requested incompatible tensor at flattened index 0 from table 'signature'.  "
            "Requested (dtype, shape): (float, [3]).  Signature (dtype, shape): (float, [?,3])",
        ),
    ],
    ids=["number", "dtype", "shape"],
)
def test_request_that_disagrees_with_the_signature(service, graph, dtypes, shapes, text):
    dataset = dataset_of(service, "signature", dtypes=dtypes, shapes=shapes)
    iterator = v1.data.make_initializable_iterator(dataset)
    with v1.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError) as error:
            session.run(iterator.initializer)
    assert text in str(error.value)


def test_a_wrong_request_is_reported_by_iter_in_eager_mode(service):
    dataset = dataset_of(service, "signature").batch(2).map(lambda e: e)
    with pytest.raises(tf.errors.InvalidArgumentError, match="flattened index 0"):
        iter(dataset)


def test_data_that_differ_from_the_request_without_a_signature(service, graph):
    service.write("dist", [np.ones([3, 3], np.float32)])
    squeezed = service.client.trajectory_writer(num_keep_alive_refs=1)
    squeezed.append({"x": np.ones([3, 3], np.float32)})
    squeezed.create_item(table="queue", priority=1.0, trajectory={"x": squeezed.history["x"][-1]})
    squeezed.flush()
    dataset = dataset_of(
        service, "queue", dtypes={"x": tf.float32}, shapes={"x": tf.TensorShape([])}
    )
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        first(dataset)
    assert (
        "Specification has (dtype, shape): (float, []).  Tensor has (dtype, shape): (float, [3,3])."
        in str(error.value)
    )
    dataset = dataset_of(
        service, dtypes=(tf.float32, tf.float32), shapes=(tf.TensorShape(None),) * 2
    )
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        first(dataset)
    assert "Inconsistent number of tensors received from table 'dist'" in str(error.value)


def test_unknown_table(service, graph):
    iterator = v1.data.make_initializable_iterator(dataset_of(service, "missing"))
    element = iterator.get_next()
    with v1.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.NotFoundError, match="missing"):
            session.run(element)


# from_table_signature.


def test_from_table_signature(service):
    service.write("signature", [np.ones([3], np.float32)], length=2)
    dataset = reverb.TrajectoryDataset.from_table_signature(service.address, "signature", 1)
    assert dataset.element_spec.data == {"x": tf.TensorSpec([None, 3], tf.float32)}
    (element,) = dataset.take(1)
    assert element.data["x"].shape == (2, 3)


def test_from_a_bounded_signature(service):
    dataset = reverb.TrajectoryDataset.from_table_signature(service.address, "bounded", 1)
    spec = dataset.element_spec.data["x"]
    assert spec == tf.TensorSpec([None], tf.int64)
    assert not isinstance(spec, BoundedTensorSpec)


def test_from_a_nested_signature(service):
    dataset = reverb.TrajectoryDataset.from_table_signature(
        service.address, "nested", 1, max_samples=1
    )
    data = dataset.element_spec.data
    assert data["b"] == (tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.int64))
    assert data["a"]._fields == ("y", "x")
    assert data["a"].y == tf.TensorSpec([None], tf.string)
    with service.client.trajectory_writer(num_keep_alive_refs=1) as writer:
        writer.append(
            {"b": (np.float32(1), np.int64(2)), "a": {"y": "s", "x": np.array([True, False])}}
        )
        history = writer.history
        trajectory = {
            "a": (history["a"]["y"][:], history["a"]["x"][:]),
            "b": (history["b"][0][:], history["b"][1][:]),
        }
        writer.create_item(table="nested", priority=1.0, trajectory=trajectory)
        writer.flush()
    (element,) = dataset
    assert element.data["b"][1].numpy().tolist() == [2]
    assert element.data["a"].y.numpy().tolist() == [b"s"]
    assert element.data["a"].x.numpy().tolist() == [[True, False]]


def test_from_table_signature_of_an_unknown_table(service):
    with pytest.raises(ValueError) as error:
        reverb.TrajectoryDataset.from_table_signature(service.address, "missing", 1)
    assert str(error.value) == (
        f"Server at {service.address} does not contain any table named missing. "
        "Found: bounded, dist, nested, queue, signature."
    )


def test_from_table_signature_without_a_signature(service):
    with pytest.raises(ValueError) as error:
        reverb.TrajectoryDataset.from_table_signature(service.address, "dist", 1)
    assert str(error.value) == f"Table dist at {service.address} does not have a signature."


def test_from_table_signature_without_a_server():
    from reverb_tf import errors

    with pytest.raises(errors.DeadlineExceededError):
        reverb.TrajectoryDataset.from_table_signature(
            "localhost:1", "t", 1, get_signature_timeout_secs=1
        )


# Serialisation.


def test_the_dataset_is_serialisable(service):
    service.write("queue", range(3))
    dataset = dataset_of(
        service,
        "queue",
        max_samples=3,
        num_workers_per_iterator=1,
        max_samples_per_stream=2,
        rate_limiter_timeout_ms=50,
        max_in_flight_samples_per_worker=2,
    )
    graph = tf.raw_ops.DatasetToGraphV2(
        input_dataset=dataset._variant_tensor, external_state_policy=1
    )
    definition = tf.compat.v1.GraphDef.FromString(graph.numpy())
    (node,) = [n for n in definition.node if n.op == "ReverbTrajectoryDataset"]
    assert node.attr["max_samples"].i == 3
    assert node.attr["max_samples_per_stream"].i == 2
    assert node.attr["rate_limiter_timeout_ms"].i == 50
    assert node.attr["max_in_flight_samples_per_worker"].i == 2
    assert node.attr["num_workers_per_iterator"].i == 1
    with pytest.raises(tf.errors.FailedPreconditionError, match="depends on external state"):
        tf.raw_ops.DatasetToGraphV2(input_dataset=dataset._variant_tensor, external_state_policy=2)


def test_an_iterator_cannot_be_saved(service, tmp_path):
    service.write("dist", range(3))
    iterator = iter(dataset_of(service))
    next(iterator)
    with pytest.raises(tf.errors.UnimplementedError):
        tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "checkpoint"))
