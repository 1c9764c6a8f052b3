"""Numbers of element types (those of tensorflow.DataType) and numpy dtypes."""

import numpy as np

_NUMPY_NAMES = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    7: "object",
    8: "complex64",
    9: "int64",
    10: "bool",
    17: "uint16",
    18: "complex128",
    19: "float16",
    22: "uint32",
    23: "uint64",
}
_QUANTIZED = {11: "qint8", 12: "quint8", 13: "qint32", 15: "qint16", 16: "quint16"}
_ML_DTYPES = {
    14: "bfloat16",
    24: "float8_e5m2",
    25: "float8_e4m3fn",
    26: "float8_e4m3fnuz",
    27: "float8_e4m3b11fnuz",
    28: "float8_e5m2fnuz",
    29: "int4",
    30: "uint4",
    31: "int2",
    32: "uint2",
    33: "float4_e2m1fn",
}


def dtype_of_number(number: int) -> np.dtype:
    """The numpy dtype of an element type; ValueError if there is none, ImportError without ml_dtypes for its types."""
    if number in _NUMPY_NAMES:
        return np.dtype(_NUMPY_NAMES[number])
    if number in _QUANTIZED:  # as TensorFlow has them
        name = _QUANTIZED[number]
        return np.dtype([(name, name[1:])])
    if number in _ML_DTYPES:
        import ml_dtypes

        name = _ML_DTYPES[number]
        if not hasattr(ml_dtypes, name):
            raise ImportError(
                f"ml_dtypes {ml_dtypes.__version__} has no {name}: a newer one is needed"
            )
        return np.dtype(getattr(ml_dtypes, name))
    raise ValueError(f"element type {number} is not known")


def number_of_name(name: str) -> int:
    """The element type of that name, for example "bfloat16"; ValueError if there is none."""
    for table in (_NUMPY_NAMES, _QUANTIZED, _ML_DTYPES):
        for number, known in table.items():
            if name == known:
                return number
    raise ValueError(f"arrays of dtype {name} cannot be stored")


def number_of_dtype(dtype: np.dtype) -> int:
    """The element type of a numpy dtype; ValueError if there is none."""
    named = dtype.names is not None and len(dtype.names) == 1
    return number_of_name(dtype.names[0] if named else dtype.name)
