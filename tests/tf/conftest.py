"""Fixtures of the tests of the graph side; four virtual CPUs for the tests of distribution strategies."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import tensorflow as tf

import reverb_tf as reverb
from tests.tf import support

support.use_four_cpus()


@pytest.fixture(params=[True, False], ids=["in-process", "grpc"])
def make_service(request: pytest.FixtureRequest) -> Iterator[Callable[..., support.Service]]:
    """Makes servers that are stopped after the test."""
    services: list[support.Service] = []

    def make(*tables: reverb.Table) -> support.Service:
        services.append(support.Service(tables, in_process=request.param))
        return services[-1]

    yield make
    for service in services:
        service.server.stop()


@pytest.fixture
def in_thread() -> Iterator[Callable[..., support.Call]]:
    """Runs functions on threads of their own, which the test waits for at its end."""
    calls: list[support.Call] = []

    def start(function: Callable[[], Any]) -> support.Call:
        calls.append(support.Call(function))
        return calls[-1]

    yield start
    for call in calls:
        call.thread.join(timeout=60)
        assert not call.thread.is_alive()


@pytest.fixture
def graph() -> Iterator[tf.Graph]:
    """A v1 graph that the test builds its ops in."""
    with tf.Graph().as_default() as graph:
        yield graph
