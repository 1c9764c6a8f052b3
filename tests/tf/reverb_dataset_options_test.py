"""ReverbDataset: options, element spec, what is checked against the table, serialisation."""

import datetime

import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb
from reverb_tf._tf import op_library
from tests.tf.support import reverb_dataset_of, uniform_table

v1 = tf.compat.v1


@pytest.fixture
def service(make_service):
    signature = {"x": tf.TensorSpec([None], tf.int64)}
    return make_service(uniform_table("dist"), uniform_table("signed", signature))


def make(**options):
    return reverb.ReverbDataset(
        "localhost:1", "t", dtypes=tf.int64, shapes=tf.TensorShape([None]), **options
    )


@pytest.mark.parametrize(
    ("option", "bad", "text"),
    [
        ("batch_size", [0, -1, 2.0, True], "must be an integer >= 1 or None"),
        ("num_workers", [0, -1, None], "must be an integer >= 1, got"),
        ("max_in_flight", [0, -1], "must be an integer >= 1 or None"),
        ("rate_limiter_timeout_ms", [-1, 0.5], "must be an integer >= 0 or None"),
        ("max_samples", [0, -1], "must be an integer >= 1 or None"),
        ("max_samples_per_stream", [0, -1], "must be an integer >= 1 or None"),
        ("varying", ["padded", None], "must be one of 'error', 'pad', 'ragged', got"),
        ("max_staleness", [-1, -0.5, 0.0, float("inf"), "1", True], "must be a number of samples"),
        ("weights", [-0.5, float("nan"), "0.5", True], "got"),
        ("weights_normalization", ["max"], "must be one of 'batch'"),
    ],
)
def test_options_out_of_range(option, bad, text):
    for value in bad:
        with pytest.raises(ValueError, match=text) as error:
            make(**{"batch_size": 2, option: value})
        assert option.split("_")[0] in str(error.value)
        assert repr(value) in str(error.value)


@pytest.mark.parametrize(
    ("option", "good"),
    [
        ("batch_size", [1, 3]),
        ("num_workers", [1, 3]),
        ("max_in_flight", [None, 1, 3]),
        ("rate_limiter_timeout_ms", [None, 0, 3]),
        ("max_samples", [None, 1, 3]),
        ("max_samples_per_stream", [None, 1, 3]),
        ("varying", ["error", "pad", "ragged"]),
        ("max_staleness", [None, 0, 5, 1e-9, 0.5, datetime.timedelta(seconds=1)]),
        ("weights", [None, 0, 0.5, 1, 1.5]),
    ],
)
def test_options_in_range(option, good):
    for value in good:
        make(**{"batch_size": 2, option: value})


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"drop_remainder": True}, "drop_remainder=True needs a batch_size"),
        ({"varying": "pad"}, "varying='pad' needs a batch_size"),
        ({"weights": 0.5}, "need a batch_size"),
    ],
)
def test_options_that_need_a_batch(options, text):
    with pytest.raises(ValueError, match=text):
        make(**options)


def test_options_are_keywords():
    with pytest.raises(TypeError):
        reverb.ReverbDataset("localhost:1", "t", 2, tf.int64)
    # As TrajectoryDataset has them.
    with pytest.raises(TypeError):
        reverb.ReverbDataset("localhost:1", "t", tf.int64, tf.TensorShape([]))


def test_structures_and_addresses_are_checked():
    with pytest.raises((ValueError, TypeError)):
        reverb.ReverbDataset("localhost:1", "t", dtypes=[tf.int64], shapes=[tf.TensorShape([])] * 2)
    with pytest.raises(ValueError, match="at least one address"):
        reverb.ReverbDataset([], "t", dtypes=tf.int64, shapes=tf.TensorShape([]))
    with pytest.raises(ValueError, match="known rank"):
        reverb.ReverbDataset(
            "localhost:1", "t", 2, dtypes=tf.int64, shapes=tf.TensorShape(None), varying="ragged"
        )


def test_without_dtypes_and_shapes_they_are_those_of_the_signature(service):
    dataset = reverb.ReverbDataset(service.address, "signed", 2, max_samples=4)
    assert dataset.element_spec.data == {"x": tf.TensorSpec([2, None], tf.int64)}
    service.write("signed", [7])
    assert [e.data["x"].numpy().tolist() for e in dataset] == [[[7], [7]]] * 2
    addresses = [service.address, "localhost:1"]
    assert reverb.ReverbDataset(addresses, "signed", 2).element_spec == dataset.element_spec
    with pytest.raises(ValueError, match="Table dist at .* does not have a signature"):
        reverb.ReverbDataset(service.address, "dist", 2)
    for options in ({"dtypes": {"x": tf.int64}}, {"shapes": {"x": tf.TensorShape([None])}}):
        with pytest.raises(ValueError, match="go together"):
            reverb.ReverbDataset(service.address, "signed", 2, **options)
    address = tf.constant(service.address)
    for arguments in ((address, "signed"), ([address], "signed"), ("x:1", tf.constant("signed"))):
        with pytest.raises(ValueError, match="needs dtypes and shapes where"):
            reverb.ReverbDataset(*arguments)


@pytest.mark.parametrize("value", [tf.constant([0.5]), tf.constant([[0.5]])])
def test_weights_must_be_a_scalar(value):
    with pytest.raises(ValueError, match="scalar"):
        make(batch_size=2, weights=value)


def test_variables_as_weights_must_be_scalars_of_floats():
    for value in (tf.Variable([0.5]), tf.Variable(1)):
        with pytest.raises(ValueError, match="scalar of float32 or float64"):
            make(batch_size=2, weights=value)


def test_the_op_checks_its_attributes(graph):
    """Graphs are made by other programs too."""
    info_dtypes = list(reverb.SampleInfo.tf_dtypes())
    info_shapes = list(reverb.SampleInfo.tf_shapes())
    good = {"dtypes": [*info_dtypes, tf.int64], "shapes": [*info_shapes, tf.TensorShape(None)]}
    inputs = {"server_address": "localhost:1", "table": "t", "beta": 0.5}
    for changes, text in (
        ({"batch_size": 0}, "batch_size must be an integer >= 1 or -1, got 0"),
        ({"num_workers": 0}, "num_workers"),
        ({"max_in_flight": -3}, "max_in_flight"),
        ({"max_samples": -5}, "max_samples"),
        ({"max_samples_per_stream": 0}, "max_samples_per_stream"),
        ({"rate_limiter_timeout_ms": -2}, "rate_limiter_timeout_ms"),
        ({"max_staleness_samples": -2}, "max_staleness_samples"),
        ({"max_staleness_us": 0}, "max_staleness_us"),
        ({"drop_remainder": True}, "drop_remainder needs a batch_size"),
        ({"varying": "pad"}, "varying needs a batch_size"),
        ({"weights": "batch"}, "needs a batch_size"),
        ({"batch_size": 2, "varying": "ragged"}, "known rank"),
        ({"dtypes": info_dtypes[:3], "shapes": info_shapes[:3]}, "sample info"),
        ({"dtypes": info_dtypes, "shapes": info_shapes[:4]}, "same number"),
        ({"server_address": tf.zeros([0], tf.string)}, "at least one address"),
    ):
        dataset = op_library.ops().reverb_dataset(**{**inputs, **good, **changes})
        with v1.Session() as session:
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                session.run(dataset.op)


def test_the_op_checks_shapes_in_the_graph(graph):
    good = {"server_address": "localhost:1", "table": "t", "beta": 0.5}
    attributes = {
        "dtypes": list(reverb.SampleInfo.tf_dtypes()),
        "shapes": list(reverb.SampleInfo.tf_shapes()),
    }
    for bad in ({"server_address": [["a"]]}, {"table": ["t"]}, {"beta": [0.5]}):
        with pytest.raises(ValueError, match="rank"):
            op_library.ops().reverb_dataset(**{**good, **bad}, **attributes)
    assert op_library.ops().reverb_dataset(**good, **attributes).shape == []


def test_element_spec():
    dataset = reverb.ReverbDataset(
        ["localhost:1", "localhost:2"],
        "t",
        dtypes={"a": [tf.int64, tf.float32], "b": tf.string},
        shapes={"a": [tf.TensorShape([None]), tf.TensorShape(None)], "b": tf.TensorShape([2])},
        batch_size=4,
    )
    spec = dataset.element_spec
    assert isinstance(spec, reverb.ReplaySample)
    assert all(s.shape == [4] for s in spec.info)
    assert spec.data == {
        "a": (tf.TensorSpec([4, None], tf.int64), tf.TensorSpec(None, tf.float32)),
        "b": tf.TensorSpec([4, 2], tf.string),
    }


@pytest.mark.parametrize("batch_size", [None, 2])
def test_a_request_that_the_signature_does_not_allow(service, batch_size):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requested incompatible tensor"):
        iter(reverb_dataset_of(service, "signed", batch_size=batch_size, dtypes={"x": tf.float32}))
    shapes = [tf.TensorShape([1])] * 2
    dataset = reverb.ReverbDataset(
        service.address, "signed", batch_size, dtypes=[tf.int64] * 2, shapes=shapes
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="Inconsistent number of tensors"):
        iter(dataset)


def test_data_that_are_not_as_requested(service):
    service.write("dist", [np.int64(1)], length=2)
    for dtype, shape in ((tf.float32, [2]), (tf.int64, [3])):
        dataset = reverb_dataset_of(
            service, batch_size=2, dtypes={"x": dtype}, shapes={"x": tf.TensorShape(shape)}
        )
        with pytest.raises(tf.errors.InvalidArgumentError, match="Specification has"):
            next(iter(dataset))


def test_data_that_the_signature_allows_but_the_request_does_not(service):
    service.write("signed", [np.int64(1)], length=2)
    dataset = reverb_dataset_of(service, "signed", batch_size=2, shapes={"x": tf.TensorShape([3])})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2\].*requested was \[3\]"):
        next(iter(dataset))


def test_an_unknown_table(service):
    with pytest.raises(tf.errors.NotFoundError, match="nope"):
        next(iter(reverb_dataset_of(service, "nope", batch_size=2)))


def test_from_table_signature(service):
    service.write("signed", [np.int64(1)], length=2)
    dataset = reverb.ReverbDataset.from_table_signature(
        service.address, "signed", 3, max_samples=3, get_signature_timeout_secs=10
    )
    (batch,) = dataset
    np.testing.assert_array_equal(batch.data["x"], [[1, 1]] * 3)


def test_from_table_signature_without_one(service):
    with pytest.raises(ValueError, match="does not contain any table named nope"):
        reverb.ReverbDataset.from_table_signature(service.address, "nope")
    with pytest.raises(ValueError, match="does not have a signature"):
        reverb.ReverbDataset.from_table_signature(service.address, "dist")
    with pytest.raises(reverb.DeadlineExceededError):
        reverb.ReverbDataset.from_table_signature(
            "127.0.0.1:1", "t", get_signature_timeout_secs=0.2
        )


# Serialisation.


def test_the_dataset_is_serialisable(service):
    dataset = reverb_dataset_of(
        service,
        batch_size=3,
        drop_remainder=True,
        varying="pad",
        weights=0.25,
        num_workers=2,
        max_in_flight=9,
        max_staleness=7,
        max_samples=5,
        max_samples_per_stream=2,
        rate_limiter_timeout_ms=50,
    )
    graph = tf.raw_ops.DatasetToGraphV2(
        input_dataset=dataset._variant_tensor, external_state_policy=1
    )
    definition = v1.GraphDef.FromString(graph.numpy())
    (node,) = [n for n in definition.node if n.op == "ReverbDataset"]
    integers = {
        "batch_size": 3, "num_workers": 2, "max_in_flight": 9, "max_staleness_samples": 7,
        "max_staleness_us": -1, "max_samples": 5, "max_samples_per_stream": 2, "rate_limiter_timeout_ms": 50,
    }  # fmt: skip
    assert {name: node.attr[name].i for name in integers} == integers
    assert node.attr["drop_remainder"].b
    assert node.attr["varying"].s == b"pad"
    assert node.attr["weights"].s == b"batch"
    with pytest.raises(tf.errors.FailedPreconditionError, match="depends on external state"):
        tf.raw_ops.DatasetToGraphV2(input_dataset=dataset._variant_tensor, external_state_policy=2)


def test_a_rewritten_graph_has_the_same_dataset(service):
    """tf.data serialises it to rewrite what follows it."""
    service.write("dist", range(5))
    beta = tf.Variable(0.5)
    dataset = reverb_dataset_of(service, batch_size=2, weights=beta).map(lambda s: s.weights + 1)
    options = tf.data.Options()
    options.experimental_optimization.map_parallelization = True
    options.experimental_optimization.map_and_batch_fusion = True
    iterator = iter(dataset.with_options(options))
    np.testing.assert_array_equal(next(iterator), [2.0, 2.0])
