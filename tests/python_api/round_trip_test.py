"""What is written comes back equal, bit for bit: any dtype, layout, shape, slice and nest, locally and over gRPC."""

import string

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import reverb_tf as reverb
from tests.python_api import support
from tests.python_api.arrays import (
    DTYPES,
    LAYOUTS,
    assert_same,
    columns,
    indices,
    lay_out,
    pick,
    random_array,
    step_nests,
)

ml_dtypes = pytest.importorskip("ml_dtypes")


@pytest.fixture(params=["local", "grpc"], scope="module")
def client(request):
    cls = support.LocalServer if request.param == "local" else support.RemoteServer
    server = cls('[reverb.Table.queue("q", 1000)]')
    yield reverb.Client(server.address)
    server.stop()


@pytest.fixture(autouse=True)
def empty_queue(client):
    client.reset("q")


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


@hypothesis.settings(
    max_examples=60, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)
@hypothesis.given(nest=step_nests(1))
def test_inserted_nests(client, nest):
    (value,), leaves = nest
    expected = [rows[0] for rows in leaves]
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

    client = reverb.Client(f"127.0.0.1:{support.dead_port()}")
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


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_in_every_layout(client, dtype, layout):
    expected = random_array(3, (3, 4, 2), dtype)
    client.insert([lay_out(expected, layout)], {"q": 1.0})
    ((step,),) = client.sample("q")
    assert_same(step.data[0], expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
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
