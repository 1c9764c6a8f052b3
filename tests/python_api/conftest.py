import pytest

from tests.python_api import support


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
