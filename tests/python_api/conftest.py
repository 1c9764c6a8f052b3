import signal
from unittest import mock

import pytest

from reverb_tf import trajectory_writer
from tests.python_api import fake_writer, support

# Where the tests run in the background, a shell may have told them to ignore Ctrl-C; scripts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(params=["local", "grpc"])
def serve(request):
    """A function from the expression of a list of tables to a server: of this process, or reached over gRPC."""
    servers = []

    def start(tables: str):
        cls = support.LocalServer if request.param == "local" else support.RemoteServer
        servers.append(cls(tables))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def native():
    """A native writer that keeps nothing."""
    native = mock.Mock()
    native.Append.side_effect = fake_writer.references
    native.AppendPartial.side_effect = fake_writer.references
    native.max_num_keep_alive_refs = 10
    return native


@pytest.fixture
def writer(native):
    """A TrajectoryWriter over `native`."""
    return trajectory_writer.TrajectoryWriter(native)
