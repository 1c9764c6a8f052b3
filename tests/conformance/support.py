"""What the conformance scripts share. They import `reverb` alone, whichever package that is."""

import socket
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import reverb
import tensorflow as tf

# A guard against hangs, not a claim about speed.
PATIENCE = 60


def wait_until(condition: Callable[[], bool]) -> None:
    """Polls a condition, which fails unless it holds soon."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


def table(name: str, sampler: Any = None, max_size: int = 1000, **options: Any) -> reverb.Table:
    """A table that may be sampled as soon as it has an item; uniform unless told otherwise."""
    return reverb.Table(
        name=name,
        sampler=sampler or reverb.selectors.Uniform(),
        remover=reverb.selectors.Fifo(),
        max_size=max_size,
        rate_limiter=reverb.rate_limiters.MinSize(options.pop("min_size", 1)),
        **options,
    )


def samples_taken(client: reverb.Client, name: str) -> int:
    return client.server_info(PATIENCE)[name].rate_limiter_info.sample_stats.completed


def insert_numbers(client: reverb.Client, name: str, count: int) -> None:
    """Inserts the items [0], [1], ... in this order."""
    for i in range(count):
        client.insert([np.array([i], np.int64)], {name: 1.0})


def run_all(session: tf.compat.v1.Session, fetches: Any, count: int) -> list[Any]:
    return [session.run(fetches) for _ in range(count)]


def run_to_end(session: tf.compat.v1.Session, fetches: Any) -> list[Any]:
    """What it gives until the sequence ends."""
    results = []
    while True:
        try:
            results.append(session.run(fetches))
        except tf.errors.OutOfRangeError:
            return results


def unused_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as listener:
        listener.bind(("", 0))
        return listener.getsockname()[1]


def is_dm_reverb() -> bool:
    """Whether this is the released dm-reverb 0.14.0, a few of whose bugs were mended after it."""
    return hasattr(reverb.pybind.Sampler, "GetNextTimestep")
