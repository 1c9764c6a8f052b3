"""Signatures (nests of specs) to and from StructuredValue messages, without TensorFlow."""

import collections
import functools
import importlib
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from reverb_tf import _dtypes
from reverb_tf.proto import structured_value_pb2, tensor_pb2
from reverb_tf.tensor_spec import BoundedTensorSpec, TensorSpec

StructuredValue = structured_value_pb2.StructuredValue


def _tensorflow_spec_classes() -> tuple[type | None, type | None]:
    """tf.TensorSpec and BoundedTensorSpec if TensorFlow is in use in this process, else (None, None)."""
    if not hasattr(sys.modules.get("tensorflow"), "TensorSpec"):
        return None, None
    module = importlib.import_module("tensorflow.python.framework.tensor_spec")
    return module.TensorSpec, module.BoundedTensorSpec


def is_spec(value: Any) -> bool:
    """Whether `value` is a spec of one array: of this package or of TensorFlow."""
    tf_spec, _ = _tensorflow_spec_classes()
    return isinstance(value, TensorSpec) or (tf_spec is not None and isinstance(value, tf_spec))


def dims_of(shape: Any) -> tuple[int | None, ...] | None:
    """A shape (of TensorFlow, or a sequence of ints and None) as a tuple; None for an unknown rank."""
    if shape is None or (hasattr(shape, "rank") and shape.rank is None):
        return None
    return tuple(shape.as_list() if hasattr(shape, "as_list") else shape)


def make_spec(dims: tuple[int | None, ...] | None, dtype: Any, name: str | None = None) -> Any:
    """A tf.TensorSpec where TensorFlow is in use, else one of this package."""
    tf_spec, _ = _tensorflow_spec_classes()
    if tf_spec is not None:
        return tf_spec(dims, sys.modules["tensorflow"].as_dtype(dtype), name)
    return TensorSpec(dims, dtype, name)


def encode(signature: Any) -> StructuredValue:
    """Encodes a nest of specs.

    Args:
      signature: Nest of dicts with str keys, lists, tuples and named tuples whose leaves are specs or None.

    Returns:
      The message.

    Raises:
      ValueError: A leaf or a container is of another kind.
    """
    message = StructuredValue()
    if signature is None:
        message.none_value.SetInParent()
    elif is_spec(signature):
        _encode_spec(signature, message)
    elif isinstance(signature, Mapping):
        message.dict_value.SetInParent()
        for key, value in signature.items():
            if not isinstance(key, str):
                raise ValueError(f"The keys of a signature must be str, got {key!r}")
            message.dict_value.fields[key].CopyFrom(encode(value))
    elif isinstance(signature, tuple) and hasattr(signature, "_fields"):
        message.named_tuple_value.name = type(signature).__name__
        for field in signature._fields:
            message.named_tuple_value.values.add(key=field, value=encode(getattr(signature, field)))
    elif isinstance(signature, list | tuple):
        container = message.list_value if isinstance(signature, list) else message.tuple_value
        container.SetInParent()
        container.values.extend(encode(value) for value in signature)
    else:
        raise ValueError(
            "A signature is a nest of dicts, lists, tuples and named tuples whose leaves are TensorSpecs, got "
            f"{signature!r} ({type(signature).__name__})"
        )
    return message


def decode(message: StructuredValue) -> Any:
    """Decodes a nest of specs: tf.TensorSpecs where TensorFlow is in use, else those of this package."""
    kind = message.WhichOneof("kind")
    if kind == "none_value":
        return None
    if kind == "tensor_spec_value":
        return _decode_spec(message.tensor_spec_value)
    if kind == "bounded_tensor_spec_value":
        return _decode_bounded(message.bounded_tensor_spec_value)
    if kind == "dict_value":
        fields = message.dict_value.fields
        return {key: decode(fields[key]) for key in sorted(fields)}
    if kind == "list_value":
        return [decode(value) for value in message.list_value.values]
    if kind == "tuple_value":
        return tuple(decode(value) for value in message.tuple_value.values)
    if kind == "named_tuple_value":
        pairs = message.named_tuple_value.values
        cls = _named_tuple(message.named_tuple_value.name, tuple(pair.key for pair in pairs))
        return cls(*(decode(pair.value) for pair in pairs))
    raise ValueError(f"A signature cannot contain {kind or 'an empty value'}")


@functools.lru_cache(maxsize=256)
def _named_tuple(name: str, fields: tuple[str, ...]) -> Any:
    return collections.namedtuple(name, fields)


def _encode_spec(spec: Any, message: StructuredValue) -> None:
    bounded = isinstance(spec, BoundedTensorSpec)
    if not isinstance(spec, TensorSpec):
        bounded = isinstance(spec, _tensorflow_spec_classes()[1])
    target = message.bounded_tensor_spec_value if bounded else message.tensor_spec_value
    target.SetInParent()
    if isinstance(spec, TensorSpec):
        dims, number = spec.shape, _dtypes.number_of_dtype(spec.dtype)
    else:
        dims = dims_of(spec.shape)
        number = spec.dtype.as_datatype_enum
    target.name = spec.name or ""
    target.dtype = number
    target.shape.SetInParent()
    if dims is None:
        target.shape.unknown_rank = True
    else:
        for dim in dims:
            target.shape.dim.add(size=-1 if dim is None else dim)
    if bounded:
        _encode_array(np.asarray(spec.minimum), number, target.minimum)
        _encode_array(np.asarray(spec.maximum), number, target.maximum)


def _encode_array(array: np.ndarray, number: int, message: tensor_pb2.TensorProto) -> None:
    message.dtype = number
    message.tensor_shape.SetInParent()
    for dim in array.shape:
        message.tensor_shape.dim.add(size=dim)
    dtype = _dtypes.dtype_of_number(number)
    if dtype.kind == "O":
        message.string_val.extend(
            value if isinstance(value, bytes) else str(value).encode() for value in array.flat
        )
    else:
        message.tensor_content = np.ascontiguousarray(array, dtype=dtype).tobytes()


_VALUE_FIELDS = {
    1: "float_val",
    2: "double_val",
    7: "string_val",
    8: "scomplex_val",
    9: "int64_val",
    10: "bool_val",
    14: "half_val",
    18: "dcomplex_val",
    19: "half_val",
    22: "uint32_val",
    23: "uint64_val",
}


def _decode_array(message: tensor_pb2.TensorProto) -> np.ndarray:
    """Both forms of TensorProto: the bytes of all elements, or a list of values whose last one repeats."""
    dtype = _dtypes.dtype_of_number(message.dtype)
    shape = tuple(dim.size for dim in message.tensor_shape.dim)
    size = int(np.prod(shape, dtype=np.int64))
    if message.tensor_content:
        return np.frombuffer(message.tensor_content, dtype).reshape(shape)
    values = list(getattr(message, _VALUE_FIELDS.get(message.dtype, "int_val")))
    if message.dtype in (14, 19):  # the bits of 16-bit floats
        values = list(np.array(values, np.uint16).view(dtype))
    if message.dtype in (8, 18):
        values = [complex(*pair) for pair in zip(values[::2], values[1::2], strict=True)]
    values += [values[-1] if values else dtype.type(0)] * (size - len(values))
    return np.array(values[:size], dtype).reshape(shape)


def _shape(message: tensor_pb2.TensorShapeProto) -> tuple[int | None, ...] | None:
    if message.unknown_rank:
        return None
    return tuple(None if dim.size < 0 else dim.size for dim in message.dim)


def _decode_spec(message: structured_value_pb2.TensorSpecProto) -> Any:
    tf_spec, _ = _tensorflow_spec_classes()
    dtype = message.dtype if tf_spec is not None else _dtypes.dtype_of_number(message.dtype)
    return make_spec(_shape(message.shape), dtype, message.name or None)


def _decode_bounded(message: structured_value_pb2.BoundedTensorSpecProto) -> Any:
    shape, name = _shape(message.shape), message.name or None
    minimum, maximum = _decode_array(message.minimum), _decode_array(message.maximum)
    _, tf_bounded = _tensorflow_spec_classes()
    if tf_bounded is not None:
        dtype = sys.modules["tensorflow"].as_dtype(message.dtype)
        return tf_bounded(shape, dtype, minimum, maximum, name)
    return BoundedTensorSpec(shape, _dtypes.dtype_of_number(message.dtype), minimum, maximum, name)
