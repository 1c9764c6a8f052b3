"""Element types that numpy does not have, between graphs and Python."""

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf

import reverb_tf as reverb

_NAMES = (
    "bfloat16 float8_e5m2 float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2fnuz int4 uint4 int2 uint2 "
    "float4_e2m1fn"
).split()


def _array(name):
    if not hasattr(ml_dtypes, name):
        pytest.skip(f"this ml_dtypes has no {name}")
    array = np.array([0, 1, 1, 0]).astype(getattr(ml_dtypes, name))
    try:
        tf.as_dtype(array.dtype)
    except TypeError:
        pytest.skip(f"this TensorFlow has no {name}")
    return array


@pytest.fixture
def client():
    with reverb.Server([reverb.Table.queue("q", 10)], host="127.0.0.1") as server:
        yield server.localhost_client()


@pytest.mark.parametrize("name", _NAMES)
def test_from_a_graph_to_python(client, name):
    array = _array(name)
    graph_client = reverb.TFClient(client.server_address)
    graph_client.insert([tf.constant(array)], tf.constant(["q"]), tf.constant([1.0], tf.float64))
    ((step,),) = client.sample("q")
    assert step.data[0].dtype == array.dtype
    assert step.data[0].tobytes() == array.tobytes()


@pytest.mark.parametrize("name", _NAMES)
def test_from_python_to_a_graph(client, name):
    array = _array(name)
    client.insert([array], {"q": 1.0})
    dtype = tf.as_dtype(array.dtype)
    (tensor,) = reverb.TFClient(client.server_address).sample("q", [dtype]).data
    assert tensor.dtype == dtype
    assert tensor.numpy().tobytes() == array.tobytes()


@pytest.mark.parametrize("name", _NAMES)
def test_signatures_are_the_same_in_both_forms(name):
    array = _array(name)
    ours = {"x": reverb.TensorSpec((4,), array.dtype, "x")}
    theirs = {"x": tf.TensorSpec([4], array.dtype, "x")}
    for signature in (ours, theirs):
        assert reverb.Table.queue("q", 1, signature=signature).info.signature == theirs
