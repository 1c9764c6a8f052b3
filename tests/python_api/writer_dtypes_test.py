"""Every dtype through the legacy Writer and Client.sample."""

import numpy as np
import pytest

import reverb_tf as reverb
from tests.python_api import support


@pytest.fixture(scope="module", params=["local", "grpc"])
def client(request):
    cls = support.LocalServer if request.param == "local" else support.RemoteServer
    server = cls('[reverb.Table.queue("q", 1000)]')
    yield reverb.Client(server.address)
    server.stop()


def write(client, value):
    with client.writer(1) as writer:
        writer.append(value)
        writer.create_item("q", 1, 1.0)


@pytest.mark.parametrize(
    "value",
    [
        np.array([1.5, -2.0], dtype)
        for dtype in (np.float16, np.float32, np.float64, np.complex64, np.complex128)
    ]
    + [
        np.array([1, 100], dtype)
        for dtype in "int8 int16 int32 int64 longlong uint8 uint16 uint32 uint64 ulonglong".split()
    ]
    + [np.array([True, False]), np.array([b"a string", b""], object)],
    ids=lambda value: str(value.dtype),
)
def test_arrays(client, value):
    write(client, [value])
    ((step,),) = client.sample("q")
    assert step.data[0].dtype == value.dtype
    assert step.data[0].tolist() == value.tolist()


@pytest.mark.parametrize(
    "value, dtype",
    [(1, np.int64), (2.5, np.float64), (True, np.bool_), (1j, np.complex128), (b"a\x00b", object)],
    ids=repr,
)
def test_python_scalars(client, value, dtype):
    write(client, [value])
    ((step,),) = client.sample("q")
    assert (step.data[0].dtype, step.data[0].shape) == (dtype, ())
    assert step.data[0].item() == value


def test_growing_strings(client):
    for i in range(100):
        write(client, [np.array("x" * i, object)])
        ((step,),) = client.sample("q")
        assert step.data[0].item() == b"x" * i


@pytest.mark.parametrize("value", [None, object(), np.datetime64("2026-01-01"), np.longdouble(1)])
def test_what_cannot_be_stored_is_refused(client, value):
    with client.writer(1) as writer:
        with pytest.raises(TypeError):
            writer.append([value])
