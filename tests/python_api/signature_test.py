"""Signatures as messages, with TensorFlow's own coder as the judge where it is installed."""

import collections
import sys

import numpy as np
import pytest

import reverb_tf as reverb
from reverb_tf import _signature

Step = collections.namedtuple("Step", "reward observation")

_NEST = {
    "b": [reverb.TensorSpec((None, 3), np.float32, "x"), reverb.TensorSpec(None, str)],
    "a": Step(
        reverb.TensorSpec((), bool), (reverb.BoundedTensorSpec((2,), np.int32, -1, [3, 4], "y"),)
    ),
    "e": (),
}


@pytest.fixture
def without_tensorflow(monkeypatch):
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)


def test_round_trip(without_tensorflow):
    message = _signature.encode(_NEST)
    decoded = _signature.decode(type(message).FromString(message.SerializeToString()))
    assert decoded == _NEST
    assert type(decoded["a"]).__name__ == "Step"
    assert decoded["a"]._fields == ("reward", "observation")


@pytest.mark.parametrize(
    "dtype",
    (
        "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128 object"
    ).split(),
)
def test_bounds_of_every_dtype(without_tensorflow, dtype):
    low, high = (b"a", b"b") if dtype == "object" else (0, 1)
    spec = reverb.BoundedTensorSpec((2,), dtype, low, [high, high])
    decoded = _signature.decode(_signature.encode(spec))
    assert decoded.minimum.tolist() == low and decoded.maximum.tolist() == [high, high]


@pytest.mark.parametrize(
    "signature", [{1: reverb.TensorSpec((), "f4")}, {"a": 3}, np.zeros(2), {1, 2}]
)
def test_refuses(signature):
    with pytest.raises(ValueError, match="signature"):
        _signature.encode(signature)


def test_specs_are_values():
    a, b = (
        reverb.TensorSpec([None, -1, 3], "f4", "n"),
        reverb.TensorSpec((None, None, 3), np.float32, "n"),
    )
    assert a == b and hash(a) == hash(b) and a != reverb.TensorSpec((None, None, 3), np.float32)
    assert "float32" in repr(a)
    with pytest.raises(AttributeError):
        a.name = "other"


def test_both_ways_with_tensorflow():
    tf = pytest.importorskip("tensorflow")
    from tensorflow.python.framework import tensor_spec
    from tensorflow.python.saved_model import nested_structure_coder

    bounded = tensor_spec.BoundedTensorSpec([2], tf.float32, [0.0, 1.0], 3.0, "bounded")
    signature = {
        "b": [tf.TensorSpec([None, 3], tf.float32, "x"), tf.TensorSpec(None, tf.string)],
        "a": Step(tf.TensorSpec([], tf.bfloat16), (bounded, tf.TensorSpec([0], tf.qint8))),
        "h": tensor_spec.BoundedTensorSpec([], tf.float16, -2.0, 3.0),
        "c": tensor_spec.BoundedTensorSpec([], tf.complex64, -2.0j, 3.0),
        "i": tensor_spec.BoundedTensorSpec([3], tf.int64, 0, 2**40),
        "e": (),
        "l": [],
    }
    ours, theirs = _signature.encode(signature), nested_structure_coder.encode_structure(signature)
    read_by_us = _signature.decode(type(ours).FromString(theirs.SerializeToString()))
    read_by_them = nested_structure_coder.decode_proto(
        type(theirs).FromString(ours.SerializeToString())
    )
    assert read_by_us == signature
    assert read_by_them == signature


def test_foreign_kinds_are_refused():
    message = _signature.StructuredValue()
    message.int64_value = 3
    with pytest.raises(ValueError, match="int64_value"):
        _signature.decode(message)
    with pytest.raises(ValueError):
        _signature.decode(_signature.StructuredValue())
