"""Arrays of every dtype, layout and shape, and nests of them: what the round-trip tests write."""

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

ml_dtypes = pytest.importorskip("ml_dtypes")

DTYPES = [
    np.dtype(dtype)
    for dtype in (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
    )
]
# Bits that an element uses; older releases of ml_dtypes do not have all of them.
_ML_DTYPES = {
    "bfloat16": 16,
    "float8_e5m2": 8,
    "float8_e4m3fn": 8,
    "float8_e4m3fnuz": 8,
    "float8_e4m3b11fnuz": 8,
    "float8_e5m2fnuz": 8,
    "float4_e2m1fn": 4,
    "int4": 4,
    "uint4": 4,
    "int2": 2,
    "uint2": 2,
}
DTYPES += [np.dtype(getattr(ml_dtypes, name)) for name in _ML_DTYPES if hasattr(ml_dtypes, name)]
LAYOUTS = ["C", "F", "strided", "reversed", "transposed", "swapped", "read-only", "offset"]
LAYOUTS += ["backwards", "mixed"]


def random_array(seed: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Any bit patterns, NaNs included; valid values for types that do not use all their bits."""
    rng = np.random.default_rng(seed)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    bits = _ML_DTYPES.get(dtype.name, 8)
    if bits < 8 and "float" in dtype.name:
        return rng.integers(0, 2**bits, shape, np.uint8).view(dtype)
    if bits < 8:
        low = 0 if dtype.name.startswith("u") else -(2 ** (bits - 1))
        return rng.integers(low, low + 2**bits, shape).astype(np.int8).astype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer(rng.bytes(size), dtype).reshape(shape)


def lay_out(array: np.ndarray, layout: str) -> np.ndarray:
    """The same elements in another memory layout."""
    if layout == "swapped" and array.dtype.itemsize > 1 and array.dtype.isbuiltin == 1:
        return array.astype(array.dtype.newbyteorder())
    if layout == "read-only":
        array = array.copy()
        array.setflags(write=False)
        return array
    if array.ndim == 0:
        return array
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "strided":
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    if layout == "reversed":
        return array[::-1].copy()[::-1]
    if layout == "backwards":  # strides below 0 only
        index = (slice(None, None, -1),) * array.ndim
        return array[index].copy()[index]
    if layout == "transposed":
        return array.T.copy().T
    if layout == "mixed":  # every second row of an array whose axes are the other way round
        wide = np.zeros((*array.shape[1:], 2 * array.shape[0]), array.dtype)
        view = np.moveaxis(wide, -1, 0)[1::2]
        view[...] = array
        return view
    if layout == "offset" and array.dtype != object:  # not aligned
        raw = np.zeros(array.nbytes + 1, np.uint8)[1:]
        view = raw.view(array.dtype).reshape(array.shape)
        view[...] = array
        return view
    return array


def assert_same(got: Any, expected: np.ndarray) -> None:
    assert isinstance(got, np.ndarray)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    if expected.dtype == object:
        assert got.tolist() == expected.tolist()
    else:
        assert got.tobytes() == np.ascontiguousarray(expected).tobytes()


shapes = st.lists(st.integers(0, 4), max_size=3).map(tuple)
texts = st.one_of(st.binary(max_size=12), st.text(max_size=8))


@st.composite
def columns(draw, num_steps):
    """num_steps values of one dtype and shape: (what is given, what must come back)."""
    shape = draw(shapes)
    if draw(st.integers(0, 5)) == 0:
        rows = [np.empty(shape, object) for _ in range(num_steps)]
        expected = [np.empty(shape, object) for _ in range(num_steps)]
        for row, want in zip(rows, expected, strict=True):
            for index in np.ndindex(*shape):
                text = draw(texts)
                row[index] = text
                want[index] = text if isinstance(text, bytes) else text.encode()
        return rows, expected
    dtype = draw(st.sampled_from(DTYPES))
    seed = draw(st.integers(0, 2**32))
    expected = [random_array(seed + i, shape, dtype) for i in range(num_steps)]
    return [lay_out(row, draw(st.sampled_from(LAYOUTS))) for row in expected], expected


def indices(num_steps):
    bounds = st.one_of(st.none(), st.integers(-num_steps, num_steps))
    steps = st.one_of(st.none(), st.integers(-3, 3).filter(bool))
    positions = st.integers(-num_steps, num_steps - 1)
    return st.one_of(
        positions,
        st.builds(slice, bounds, bounds, steps).filter(
            lambda s: len(range(*s.indices(num_steps))) > 0
        ),
        st.lists(positions, min_size=1, max_size=6),
    )


def pick(rows, index):
    """What a list would give, stacked."""
    if isinstance(index, int):
        return rows[index]
    chosen = [rows[i] for i in index] if isinstance(index, list) else rows[index]
    if rows[0].dtype == object:
        result = np.empty((len(chosen), *rows[0].shape), object)
        for i, row in enumerate(chosen):
            result[i] = row[()]
        return result
    return np.stack(chosen)


def step_nests(num_steps):
    """The nests of num_steps steps, all of one structure: (the nests, for each leaf the rows that must come back)."""
    return _step_nests(num_steps, 3).filter(lambda nest: nest[1])


@st.composite
def _step_nests(draw, num_steps, depth):
    kind = draw(st.sampled_from(["leaf", "dict", "list", "tuple"] if depth else ["leaf"]))
    if kind == "leaf":
        rows, expected = draw(columns(num_steps))
        return rows, [expected]
    children = draw(st.lists(_step_nests(num_steps, depth - 1), max_size=3))
    if kind == "dict":
        keys = draw(
            st.lists(
                st.text(max_size=3), min_size=len(children), max_size=len(children), unique=True
            )
        )
        named = dict(zip(keys, children, strict=True))
        steps = [{key: nest[i] for key, (nest, _) in named.items()} for i in range(num_steps)]
        return steps, [leaf for key in sorted(named) for leaf in named[key][1]]
    make = list if kind == "list" else tuple
    steps = [make(nest[i] for nest, _ in children) for i in range(num_steps)]
    return steps, [leaf for _, below in children for leaf in below]
