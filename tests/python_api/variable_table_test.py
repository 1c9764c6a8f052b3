"""variable_table, which needs no TensorFlow."""

import collections

import numpy as np
import pytest

import reverb_tf as reverb
from reverb_tf import _signature, variables

Layer = collections.namedtuple("Layer", ["kernel", "bias"])

ARRAYS = {
    "layers": [Layer(np.zeros([2, 3], np.float32), np.zeros([3], np.float64)), (np.float32(1), 2)],
    "text": "abc",
    "half": np.zeros([], np.float16),
}


def shapes_and_dtypes(table):
    signature = table.info.signature
    return [
        (_signature.dims_of(spec.shape), variables._number(spec.dtype))
        for spec in (
            *signature["layers"][0],
            *signature["layers"][1],
            signature["text"],
            signature["half"],
        )
    ]


FLOAT32, FLOAT64, STRING, INT64, BFLOAT16, FLOAT16 = 1, 2, 7, 9, 14, 19


def test_the_signature_is_that_of_the_variables():
    table = reverb.variable_table(ARRAYS)
    assert table.name == "variables"
    assert shapes_and_dtypes(table) == [
        ((2, 3), FLOAT32),
        ((3,), FLOAT64),
        ((), FLOAT32),
        ((), INT64),
        ((), STRING),
        ((), FLOAT16),
    ]
    layers = table.info.signature["layers"]
    assert isinstance(layers, list)
    assert layers[0]._fields == ("kernel", "bias")
    assert isinstance(layers[1], tuple)


def test_the_table_holds_the_newest():
    with reverb.Server([reverb.variable_table([1.5], "v")], host="127.0.0.1") as server:
        client = server.localhost_client()
        for value in (1.0, 2.0, 3.0):
            client.insert([np.float64(value)], {"v": 1.0})
        info = client.server_info()["v"]
        assert (info.max_size, info.current_size, info.version) == (1, 1, 3)
        for _ in range(20):
            assert next(client.sample("v"))[0].data[0] == 3.0
        assert client.server_info()["v"].max_times_sampled == 0


def test_floats_are_sent_as_wire_dtype():
    pytest.importorskip("ml_dtypes")
    table = reverb.variable_table(ARRAYS, wire_dtype="bfloat16")
    assert [number for _, number in shapes_and_dtypes(table)] == [
        BFLOAT16,
        BFLOAT16,
        BFLOAT16,
        INT64,
        STRING,
        BFLOAT16,
    ]
    half = reverb.variable_table(ARRAYS, wire_dtype=np.float16)
    assert [number for _, number in shapes_and_dtypes(half)][:4] == [
        FLOAT16,
        FLOAT16,
        FLOAT16,
        INT64,
    ]


def test_specs_stay_what_they_are():
    spec = reverb.TensorSpec([None, 2], np.float32, "weights")
    bounded = reverb.BoundedTensorSpec([2], np.float32, 0, 1)
    signature = reverb.variable_table([spec, bounded]).info.signature
    assert _signature.dims_of(signature[0].shape) == (None, 2)
    assert signature[0].name == "weights"
    assert hasattr(signature[1], "minimum")
    signature = reverb.variable_table([spec, bounded], wire_dtype="float64").info.signature
    assert _signature.dims_of(signature[0].shape) == (None, 2)
    assert [variables._number(leaf.dtype) for leaf in signature] == [FLOAT64] * 2


def test_pytorch_and_jax_arrays():
    torch = pytest.importorskip("torch")
    table = reverb.variable_table([torch.zeros([2, 3]), torch.zeros([1], dtype=torch.int32)])
    assert [
        (_signature.dims_of(spec.shape), variables._number(spec.dtype))
        for spec in table.info.signature
    ] == [((2, 3), FLOAT32), ((1,), 3)]


@pytest.mark.parametrize("nothing", [{}, [], (), {"a": []}])
def test_no_variables(nothing):
    with pytest.raises(ValueError, match="no variables"):
        reverb.variable_table(nothing)


@pytest.mark.parametrize("dtype", ["int32", "no such dtype", np.int8, "string"])
def test_wire_dtypes_that_are_no_floats(dtype):
    with pytest.raises(ValueError):
        reverb.variable_table([1.0], wire_dtype=dtype)


def test_what_cannot_be_sent():
    with pytest.raises(ValueError, match="datetime64"):
        reverb.variable_table([np.zeros([1], "datetime64[s]")])
    with pytest.raises(ValueError, match="must be str"):
        reverb.variable_table({1: 1.0})
    with pytest.raises(ValueError, match="name"):
        reverb.variable_table([1.0], "")
