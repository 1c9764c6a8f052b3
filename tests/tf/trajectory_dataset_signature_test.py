"""TrajectoryDataset against the signature of its table, and made from it."""

import collections

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework.tensor_spec import BoundedTensorSpec

import reverb_tf as reverb
from tests.tf.support import dataset_of, first, uniform_table

v1 = tf.compat.v1

SPEC = {"x": tf.TensorSpec([None, 3], tf.float32)}


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
