"""What is written comes back equal, bit for bit: any dtype, layout, shape, slice and nest, locally and over gRPC."""

import string
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import reverb_tf as reverb
from tests.python_api import support

ml_dtypes = pytest.importorskip("ml_dtypes")

_DTYPES = [
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
_DTYPES += [np.dtype(getattr(ml_dtypes, name)) for name in _ML_DTYPES if hasattr(ml_dtypes, name)]
_LAYOUTS = ["C", "F", "strided", "reversed", "transposed", "swapped", "read-only", "offset"]
_LAYOUTS += ["backwards", "mixed"]


@pytest.fixture(params=["local", "grpc"], scope="module")
def client(request):
    cls = support.LocalServer if request.param == "local" else support.RemoteServer
    server = cls('[reverb.Table.queue("q", 1000)]')
    yield reverb.Client(server.address)
    server.stop()


@pytest.fixture(autouse=True)
def empty_queue(client):
    client.reset("q")


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
    if layout == "offset":  # not aligned
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
    dtype = draw(st.sampled_from(_DTYPES))
    seed = draw(st.integers(0, 2**32))
    expected = [random_array(seed + i, shape, dtype) for i in range(num_steps)]
    return [lay_out(row, draw(st.sampled_from(_LAYOUTS))) for row in expected], expected


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
            result[i] = row
        return result
    return np.stack(chosen)


@hypothesis.settings(
    max_examples=80, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)
@hypothesis.given(data=st.data())
def test_trajectories(client, data):
    client.reset("q")  # what a failed example left
    num_steps = data.draw(st.integers(1, 8))
    given = {
        name: data.draw(columns(num_steps))
        for name in string.ascii_lowercase[: data.draw(st.integers(1, 3))]
    }
    chosen = {
        (name, i): data.draw(indices(num_steps))
        for name in given
        for i in range(data.draw(st.integers(1, 2)))
    }
    with client.trajectory_writer(num_steps, validate_items=False) as writer:
        for name in given:
            length = data.draw(st.one_of(st.none(), st.integers(1, num_steps)))
            writer.configure((name,), num_keep_alive_refs=num_steps, max_chunk_length=length)
        early = data.draw(st.integers(1, num_steps))
        for step in range(num_steps):
            writer.append({name: rows[step] for name, (rows, _) in given.items()})
            if step + 1 == early:  # Chunks that an item cuts short.
                writer.create_item("q", 1.0, [writer.history[name][:] for name in given])
                if data.draw(st.booleans()):
                    writer.flush(timeout=support.PATIENCE)
        trajectory = [writer.history[name][index] for (name, _), index in chosen.items()]
        for column, ((name, _), index) in zip(trajectory, chosen.items(), strict=True):
            assert_same(column.numpy(), pick(given[name][1], index))
        writer.create_item("q", 1.0, trajectory)
        writer.flush(timeout=support.PATIENCE)
    first, second = client.sample(
        "q", num_samples=2, emit_timesteps=False, timeout=support.PATIENCE
    )
    for got, name in zip(first.data, given, strict=True):
        assert_same(got, pick(given[name][1][:early], slice(None)))
    for got, ((name, _), index) in zip(second.data, chosen.items(), strict=True):
        assert_same(got, pick(given[name][1], index))


@st.composite
def nests(draw, depth=3):
    """A nest of values: (what is given, the leaves that must come back)."""
    kind = draw(st.sampled_from(["leaf", "dict", "list", "tuple"] if depth else ["leaf"]))
    if kind == "leaf":
        (row,), (expected,) = draw(columns(1))
        return row, [expected]
    children = draw(st.lists(nests(depth=depth - 1), max_size=3))
    if kind == "dict":
        keys = draw(
            st.lists(
                st.text(max_size=3), min_size=len(children), max_size=len(children), unique=True
            )
        )
        named = dict(zip(keys, children, strict=True))
        return (
            {key: value for key, (value, _) in named.items()},
            [leaf for key in sorted(named) for leaf in named[key][1]],
        )
    values = [value for value, _ in children]
    leaves = [leaf for _, below in children for leaf in below]
    return (values if kind == "list" else tuple(values)), leaves


@hypothesis.settings(
    max_examples=60, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)
@hypothesis.given(nest=nests().filter(lambda nest: nest[1]))
def test_inserted_nests(client, nest):
    value, expected = nest
    client.reset("q")  # what a failed example left
    client.insert(value, {"q": 1.0}, timeout=support.PATIENCE)
    ((step,),) = client.sample("q", timeout=support.PATIENCE)
    for got, leaf in zip(step.data, expected, strict=True):
        assert_same(got, leaf)


@pytest.mark.parametrize(
    "value, expected",
    [
        (3, np.array(3, np.int64)),
        (2**63, np.array(2**63, np.uint64)),
        (True, np.array(True)),
        (1.5, np.array(1.5)),
        (1 + 2j, np.array(1 + 2j)),
        ("grüße", np.array("grüße".encode(), object)),
        (b"\x00a\x00", np.array(b"\x00a\x00", object)),
        (np.float32(2), np.array(2, np.float32)),
        (np.str_("x"), np.array(b"x", object)),
        (np.array(["a", "bc"]), np.array([b"a", b"bc"], object)),
        (np.array([b"a", b"bc"]), np.array([b"a", b"bc"], object)),
        (np.array(["a", b"\x00"], object), np.array([b"a", b"\x00"], object)),
        (memoryview(b"ab"), np.array([97, 98], np.uint8)),
    ],
    ids=repr,
)
def test_scalars_and_text(client, value, expected):
    client.insert([value], {"q": 1.0}, timeout=support.PATIENCE)
    ((step,),) = client.sample("q", timeout=support.PATIENCE)
    assert_same(step.data[0], expected)


def test_string_dtype(client):
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("numpy < 2 has no StringDType")
    client.insert([np.array(["a", "grüße"], np.dtypes.StringDType())], {"q": 1.0})
    ((step,),) = client.sample("q")
    assert_same(step.data[0], np.array([b"a", "grüße".encode()], object))


class _Exporter:
    """Speaks DLPack and nothing else."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **kwargs):
        return self._array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_dlpack(client):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    client.insert([_Exporter(array)], {"q": 1.0})
    ((step,),) = client.sample("q")
    assert_same(step.data[0], array)


class _Capsule:
    """The same, from a function that makes capsules."""

    def __init__(self, make):
        self._make = make

    def __dlpack__(self, **unused):
        return self._make()

    def __dlpack_device__(self):
        return 1, 0


@pytest.mark.parametrize("shape", [(), (5,), (2, 0), (2, 3, 4)])
def test_dlpack_of_types_that_numpy_does_not_have(client, shape):
    tf = pytest.importorskip("tensorflow")
    expected = random_array(5, shape, np.dtype(ml_dtypes.bfloat16))
    tensor = tf.constant(expected)
    value = _Capsule(lambda: tf.experimental.dlpack.to_dlpack(tensor))
    client.insert({"x": value}, {"q": 1.0})
    ((step,),) = client.sample("q")
    assert_same(step.data[0], expected)


class _Convertible:
    """What torch, JAX and TensorFlow arrays look like to numpy."""

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return self._array


def test_array_protocol(client):
    array = np.arange(6, dtype=np.int32)[::2]
    client.insert({"x": _Convertible(array)}, {"q": 1.0})
    ((step,),) = client.sample("q")
    assert_same(step.data[0], array)


def test_a_conversion_that_fails_says_why():
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("it lives on a GPU")

    client = reverb.Client(f"localhost:{support.unused_port()}")
    with pytest.raises(TypeError, match="it lives on a GPU") as e:
        client.insert([Broken()], {"q": 1.0})
    assert isinstance(e.value.__cause__, RuntimeError)
    assert "Traceback" not in str(e.value)


def test_broadcast_arrays(client):
    array = np.broadcast_to(np.arange(3, dtype=np.int16), (4, 3))  # a stride of 0
    rows = np.broadcast_to(np.float32(2.5), (2, 2))
    client.insert([array, rows], {"q": 1.0})
    ((step,),) = client.sample("q")
    assert_same(step.data[0], array)
    assert_same(step.data[1], rows)


@pytest.mark.parametrize("layout", _LAYOUTS)
@pytest.mark.parametrize("dtype", _DTYPES, ids=str)
def test_every_dtype_in_every_layout(client, dtype, layout):
    expected = random_array(3, (3, 4, 2), dtype)
    client.insert([lay_out(expected, layout)], {"q": 1.0})
    ((step,),) = client.sample("q")
    assert_same(step.data[0], expected)


@pytest.mark.parametrize("dtype", _DTYPES, ids=str)
def test_scalars_and_empty_arrays_of_every_dtype(client, dtype):
    values = [random_array(1, shape, dtype) for shape in ((), (0,), (2, 0, 3))]
    client.insert([values[0][()], *values], {"q": 1.0})
    ((step,),) = client.sample("q")
    for got, expected in zip(step.data, [values[0], *values], strict=True):
        assert_same(got, expected)


_REFUSED = [
    np.array("2026-01-01", "M8[D]"),
    np.array(3, "m8[s]"),
    np.longdouble(1),
    np.clongdouble(1),
    np.zeros(2, [("a", "i4"), ("b", "i4")]),
    np.zeros(2, "V3"),
    np.array([1, None], object),
]
_REFUSED += [
    np.zeros(2, getattr(ml_dtypes, name))
    for name in ("float8_e8m0fnu", "float8_e3m4", "float6_e2m3fn")
    if hasattr(ml_dtypes, name)
]


@pytest.mark.parametrize("value", _REFUSED, ids=lambda value: str(value.dtype))
def test_other_dtypes_are_refused_by_name_and_path(client, value):
    wanted = "bytes or str" if value.dtype == object else repr(value.dtype)
    with pytest.raises(TypeError) as e:
        client.insert({"a": 1, "b": (2, [value])}, {"q": 1.0})
    assert "('b', 1, 0)" in str(e.value) and wanted in str(e.value), str(e.value)
    with client.trajectory_writer(1) as writer:
        with pytest.raises(TypeError) as e:
            writer.append({"b": [0, value]})
    assert "('b', 1)" in str(e.value)
    with pytest.raises(TypeError):
        client.insert(value, {"q": 1.0})


def _torch_tensors():
    torch = pytest.importorskip("torch")
    base = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
    yield base, base.numpy()
    yield base.permute(2, 0, 1)[::2], base.numpy().transpose(2, 0, 1)[::2]
    yield base[:, 1], base.numpy()[:, 1]
    yield torch.tensor(7), np.array(7)
    yield torch.tensor([True, False]), np.array([True, False])
    yield torch.zeros(0, 3, dtype=torch.int16), np.zeros((0, 3), np.int16)
    yield torch.tensor([1 + 2j]), np.array([1 + 2j], np.complex64)
    half = base.to(torch.bfloat16)
    yield half[:, ::2], base.numpy().astype(ml_dtypes.bfloat16)[:, ::2]
    for name in ("float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz"):
        bits = torch.arange(256, dtype=torch.int64).to(torch.uint8)
        expected = np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, name))
        yield bits.view(getattr(torch, name)), expected


def _jax_arrays():
    jax = pytest.importorskip("jax")
    base = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    yield jax.numpy.asarray(base), base
    yield jax.numpy.asarray(base).T[::2], base.T[::2]
    yield jax.numpy.asarray(base, jax.numpy.bfloat16), base.astype(ml_dtypes.bfloat16)
    yield jax.numpy.int32(7), np.array(7, np.int32)
    yield jax.numpy.zeros((0, 2), bool), np.zeros((0, 2), bool)
    half = jax.numpy.asarray(base, jax.numpy.bfloat16)
    yield _Exporter(half), base.astype(ml_dtypes.bfloat16)


@pytest.mark.parametrize("arrays", [_torch_tensors, _jax_arrays])
def test_arrays_of_other_libraries(client, arrays):
    for array, expected in arrays():
        client.insert([array], {"q": 1.0}, timeout=support.PATIENCE)
        ((step,),) = client.sample("q", timeout=support.PATIENCE)
        assert_same(step.data[0], np.ascontiguousarray(expected).reshape(expected.shape))


def test_torch_tensors_that_need_a_gradient_are_refused_with_what_torch_says(client):
    torch = pytest.importorskip("torch")
    for dtype in (torch.float32, torch.bfloat16):
        with pytest.raises(TypeError, match="Field \\(0,\\): Cannot convert") as e:
            client.insert([torch.zeros(2, dtype=dtype, requires_grad=True)], {"q": 1.0})
        assert "Traceback" not in str(e.value)


def test_torch_tensors_that_are_no_arrays_of_memory(client):
    torch = pytest.importorskip("torch")
    for tensor in (
        torch.ones(2).to_sparse(),
        torch.ones(2, device="meta"),
        torch.view_as_complex(torch.ones(2, 2)).conj(),
        torch._neg_view(torch.ones(2)),
        torch._neg_view(torch.ones(2, dtype=torch.bfloat16)),
        torch.ones(2).to(torch.complex32),
    ):
        with pytest.raises(TypeError):
            client.insert([tensor], {"q": 1.0})


def test_large_columns(client):
    array = np.random.default_rng(0).integers(0, 255, (3, 1 << 20), np.uint8)
    with client.trajectory_writer(3) as writer:
        for row in array:
            writer.append(row)
        writer.create_item("q", 1.0, writer.history[:])
    (sample,) = client.sample("q", emit_timesteps=False)
    assert_same(sample.data[0], array)
