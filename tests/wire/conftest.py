"""One server for all tests of a file, and a client that checks after each test that it still serves."""

from collections.abc import Iterator

import pytest

import reverb_tf
from tests.wire.support import Peer


@pytest.fixture(name="server", scope="module")
def _server() -> Iterator[reverb_tf.Server]:
    def table(name: str, sampler) -> reverb_tf.Table:
        return reverb_tf.Table(
            name=name,
            sampler=sampler,
            remover=reverb_tf.selectors.Fifo(),
            max_size=1000,
            rate_limiter=reverb_tf.rate_limiters.MinSize(1),
        )

    server = reverb_tf.Server(
        tables=[
            table("uniform", reverb_tf.selectors.Uniform()),
            table("prioritized", reverb_tf.selectors.Prioritized(0.5)),
            table("empty", reverb_tf.selectors.Uniform()),
            table("healthy", reverb_tf.selectors.Lifo()),
            reverb_tf.Table.queue("queue", 2),
            reverb_tf.Table.queue("other_queue", 2),
        ],
        port=None,
    )
    yield server
    server.stop()


@pytest.fixture(name="peer")
def _peer(server: reverb_tf.Server) -> Iterator[Peer]:
    peer = Peer(server.port)
    yield peer
    peer.expect_healthy()
    peer.channel.close()
