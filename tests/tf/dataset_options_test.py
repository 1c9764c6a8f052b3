"""TimestepDataset and TrajectoryDataset: options, element spec, serialisation."""

import pytest
import tensorflow as tf

import reverb_tf as reverb
from reverb_tf._tf import op_library
from tests.tf.support import dataset_of, uniform_table

v1 = tf.compat.v1


@pytest.fixture
def service(make_service):
    return make_service(
        uniform_table("dist"),
        reverb.Table.queue("queue", 100),
    )


@pytest.fixture(params=["TimestepDataset", "TrajectoryDataset"])
def kind(request):
    return getattr(reverb, request.param)


@pytest.fixture
def wrapper(kind):
    """Of the kind's op."""
    ops = op_library.ops()
    if kind is reverb.TimestepDataset:
        return ops.reverb_timestep_dataset
    return ops.reverb_trajectory_dataset


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
def test_options_out_of_range(kind, option, bad, text):
    for value in bad:
        with pytest.raises(ValueError, match=text) as error:
            kind(
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
def test_options_in_range(kind, option, good):
    for value in good:
        kind(
            "localhost:1",
            "t",
            tf.int64,
            tf.TensorShape([]),
            **{"max_in_flight_samples_per_worker": 1, option: value},
        )


def test_structures_must_agree(kind):
    with pytest.raises((ValueError, TypeError)):
        kind("localhost:1", "t", [tf.int64], [tf.TensorShape([])] * 2, 1)


def test_the_op_checks_its_attributes(graph, wrapper):
    """Graphs are made by other programs too."""
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
        dataset = wrapper(server_address="localhost:1", table="t", **attributes)
        with v1.Session() as session:
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                session.run(dataset.op)


def test_element_spec(service, kind):
    dataset = dataset_of(
        service,
        kind=kind,
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


def test_properties(service, kind):
    dataset = dataset_of(service, kind=kind, max_samples=3)
    assert dataset.cardinality() == tf.data.UNKNOWN_CARDINALITY
    with pytest.raises(TypeError):
        len(dataset)
    assert isinstance(dataset, v1.data.Dataset)


# Serialisation.


def test_the_dataset_is_serialisable(service, kind):
    service.write("queue", range(3))
    dataset = dataset_of(
        service,
        "queue",
        kind=kind,
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
    (node,) = [n for n in definition.node if n.op == f"Reverb{kind.__name__}"]
    assert node.attr["max_samples"].i == 3
    assert node.attr["max_samples_per_stream"].i == 2
    assert node.attr["rate_limiter_timeout_ms"].i == 50
    assert node.attr["max_in_flight_samples_per_worker"].i == 2
    assert node.attr["num_workers_per_iterator"].i == 1
    with pytest.raises(tf.errors.FailedPreconditionError, match="depends on external state"):
        tf.raw_ops.DatasetToGraphV2(input_dataset=dataset._variant_tensor, external_state_policy=2)


def test_an_iterator_cannot_be_saved(service, kind, tmp_path):
    service.write("dist", range(3))
    iterator = iter(dataset_of(service, kind=kind))
    next(iterator)
    with pytest.raises(tf.errors.UnimplementedError):
        tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "checkpoint"))
