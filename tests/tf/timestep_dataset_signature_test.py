"""TimestepDataset against the signature of its table, and made from it."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework.tensor_spec import BoundedTensorSpec

import reverb_tf as reverb
from tests.tf.support import dataset_of, first, uniform_table

v1 = tf.compat.v1


@pytest.fixture
def service(make_service):
    return make_service(
        uniform_table("dist"),
        uniform_table("signature", signature=tf.TensorSpec([None, 3], tf.float32)),
        uniform_table("bounded", signature={"x": BoundedTensorSpec([2], tf.int64, 0, 7)}),
    )


def steps_of(service, table, dtype, shape):
    return dataset_of(service, table, dtypes=dtype, shapes=shape, kind=reverb.TimestepDataset)


@pytest.mark.parametrize("shape", [[2, 3], [None, 3], None])
def test_request_that_agrees_with_the_signature(service, graph, shape):
    service.client.insert(np.ones([2, 3], np.float32), {"signature": 1.0})
    element = first(steps_of(service, "signature", tf.float32, tf.TensorShape(shape)))
    np.testing.assert_array_equal(element.data, np.ones([2, 3], np.float32))


_NUMBER = (
    "Inconsistent number of tensors requested from table 'signature'.  Requested 2 tensors, "
    "but table signature shows 1 tensors."
)
_SIGNATURE = ".  Signature (dtype, shape): (float, [?,3])"
_TENSOR = (
    "Requested incompatible tensor at flattened index 0 from table 'signature'.  "
    "Requested (dtype, shape): "
)


@pytest.mark.parametrize(
    ("dtype", "shape", "text"),
    [
        ((tf.float32,) * 2, (tf.TensorShape([3, 3]),) * 2, _NUMBER),
        (tf.int64, tf.TensorShape([3, 3]), _TENSOR + "(int64, [3,3])" + _SIGNATURE),
        (tf.float32, tf.TensorShape([3]), _TENSOR + "(float, [3])" + _SIGNATURE),
    ],
    ids=["number", "dtype", "shape"],
)
def test_request_that_disagrees_with_the_signature(service, graph, dtype, shape, text):
    dataset = steps_of(service, "signature", dtype, shape)
    iterator = v1.data.make_initializable_iterator(dataset)
    with v1.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError) as error:
            session.run(iterator.initializer)
    assert text in str(error.value)


@pytest.mark.parametrize("length", [1, 2])
def test_steps_that_differ_from_the_request_without_a_signature(service, graph, length):
    service.write("dist", [np.ones([3, 3], np.float32)], length=length)
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        first(steps_of(service, "dist", tf.float32, tf.TensorShape([])))
    assert (
        "Received incompatible tensor at flattened index 0 from table 'dist'.  "
        "Specification has (dtype, shape): (float, []).  Tensor has (dtype, shape): (float, [3,3])."
        in str(error.value)
    )
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        first(steps_of(service, "dist", tf.int64, tf.TensorShape([3, 3])))
    assert "(int64, [3,3]).  Tensor has (dtype, shape): (float, [3,3])." in str(error.value)
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        first(steps_of(service, "dist", (tf.float32,) * 2, (tf.TensorShape(None),) * 2))
    assert "Inconsistent number of tensors received from table 'dist'" in str(error.value)


def test_unknown_table(service, graph):
    iterator = v1.data.make_initializable_iterator(
        steps_of(service, "missing", tf.int64, tf.TensorShape([]))
    )
    element = iterator.get_next()
    with v1.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.NotFoundError, match="missing"):
            session.run(element)


# from_table_signature.


def test_from_table_signature(service):
    service.client.insert(np.ones([2, 3], np.float32), {"signature": 1.0})
    dataset = reverb.TimestepDataset.from_table_signature(service.address, "signature", 1)
    assert isinstance(dataset, reverb.TimestepDataset)
    assert dataset.element_spec.data == tf.TensorSpec([None, 3], tf.float32)
    (element,) = dataset.take(1)
    assert element.data.shape == (2, 3)


def test_from_a_bounded_signature(service):
    service.client.insert([np.array([1, 2])], {"bounded": 1.0})
    dataset = reverb.TimestepDataset.from_table_signature(
        service.address, "bounded", 1, max_samples=1
    )
    spec = dataset.element_spec.data["x"]
    assert spec == tf.TensorSpec([2], tf.int64)
    assert not isinstance(spec, BoundedTensorSpec)
    (element,) = dataset
    assert element.data["x"].numpy().tolist() == [1, 2]


def test_from_table_signature_of_an_unknown_table(service):
    with pytest.raises(ValueError) as error:
        reverb.TimestepDataset.from_table_signature(service.address, "missing", 1)
    assert str(error.value) == (
        f"Server at {service.address} does not contain any table named missing. "
        "Found: bounded, dist, signature."
    )


def test_from_table_signature_without_a_signature(service):
    with pytest.raises(ValueError) as error:
        reverb.TimestepDataset.from_table_signature(service.address, "dist", 1)
    assert str(error.value) == f"Table dist at {service.address} does not have a signature."


def test_from_table_signature_without_a_server():
    with pytest.raises(reverb.DeadlineExceededError):
        reverb.TimestepDataset.from_table_signature(
            "localhost:1", "t", 1, get_signature_timeout_secs=1
        )
