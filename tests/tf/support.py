"""What the tests of the graph side share: servers, writers of test data, calls on threads."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

import reverb_tf as reverb
from tests.calls import Call


def use_four_cpus() -> None:
    """Four virtual CPUs, for distribution strategies; without effect once TensorFlow is in use."""
    try:
        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 4
        )
    except RuntimeError:
        pass


class Service:
    """A server on a free port, or `port`, with a client of it.

    A client finds a server of its own process by `localhost:port` and calls it directly. By an address that is not one
    of loopback it goes through gRPC; Linux takes 0.0.0.0 for this machine.
    """

    def __init__(self, tables: Sequence[reverb.Table], in_process: bool, port: int | None = None):
        self.server = reverb.Server(tables=tables, port=port)
        host = "localhost" if in_process else "0.0.0.0"
        self.address = f"{host}:{self.server.port}"
        self.client = reverb.Client(self.address)

    def write(self, table: str, values: Sequence[Any], length: int = 1, priority: float = 1.0):
        """Inserts one item of `length` steps for each value; every step is {"x": the value}."""
        with self.client.trajectory_writer(num_keep_alive_refs=length) as writer:
            for value in values:
                for _ in range(length):
                    writer.append({"x": value})
                trajectory = {"x": writer.history["x"][-length:]}
                writer.create_item(table=table, priority=priority, trajectory=trajectory)
            writer.flush()

    def samples_taken(self, table: str) -> int:
        info = self.client.server_info(timeout=10)[table]
        return info.rate_limiter_info.sample_stats.completed


def check_closed_session(dataset: Any, in_thread: Callable[..., Call]) -> None:
    """Closing a v1 session ends its get_next, which blocks. To be called inside a graph."""
    iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    session = tf.compat.v1.Session()
    session.run(iterator.initializer)
    blocked = in_thread(lambda: session.run(element))
    wait_until_blocked(blocked)
    session.close()
    try:
        blocked.result(timeout=10)
    except tf.errors.CancelledError:
        return
    raise AssertionError("get_next was not cancelled")


def inside_another(combine: str, inner: Callable[[Any], Any]) -> Any:
    """The elements of `inner`, made three times by flat_map or interleave."""
    outer = tf.data.Dataset.range(3)
    if combine == "flat_map":
        return outer.flat_map(inner)
    return outer.interleave(inner, cycle_length=3, num_parallel_calls=2, deterministic=False)


def wait_until_blocked(call: Call, seconds: float = 0.5):
    """Gives a call that should block the time to show that it does not."""
    assert call.is_blocked(seconds)


def wait_until_table_waits(client: reverb.Client, table: str) -> None:
    """Returns once a request or an item waits for the table's rate limiter.

    Before, a call may not have reached its server; to that call, one that stops is one that was never there.
    """
    deadline = time.monotonic() + 60
    while True:
        info = client.server_info(timeout=60)[table]
        if info.waiting_samples + info.waiting_inserts > 0:
            return
        assert time.monotonic() < deadline, f"nothing waits for table {table}"


def uniform_table(name: str, signature: Any = None, **options: Any) -> reverb.Table:
    """A uniform table that lets one item be sampled any number of times."""
    return reverb.Table(
        name=name,
        sampler=options.get("sampler", reverb.selectors.Uniform()),
        remover=reverb.selectors.Fifo(),
        max_size=options.get("max_size", 1000),
        max_times_sampled=options.get("max_times_sampled", 0),
        rate_limiter=reverb.rate_limiters.MinSize(options.get("min_size", 1)),
        signature=signature,
    )


def as_list(values: Any) -> list[Any]:
    return [np.asarray(value).tolist() for value in values]


def dataset_of(
    service: Service,
    table: str = "dist",
    dtypes: Any = None,
    shapes: Any = None,
    kind: Any = None,
    **options: Any,
) -> Any:
    """A dataset of a table, by default of trajectories {"x": int64}, or of such steps.

    `kind` is TrajectoryDataset (the default) or TimestepDataset.
    """
    kind = kind or reverb.TrajectoryDataset
    dims = [] if kind is reverb.TimestepDataset else [None]
    options.setdefault("max_in_flight_samples_per_worker", 1)
    return kind(
        service.address,
        table,
        dtypes={"x": tf.int64} if dtypes is None else dtypes,
        shapes={"x": tf.TensorShape(dims)} if shapes is None else shapes,
        **options,
    )


def reverb_dataset_of(
    service: Service,
    table: str = "dist",
    dtypes: Any = None,
    shapes: Any = None,
    **options: Any,
) -> reverb.ReverbDataset:
    """A ReverbDataset of a table, by default of trajectories {"x": int64}."""
    return reverb.ReverbDataset(
        options.pop("address", service.address),
        table,
        dtypes={"x": tf.int64} if dtypes is None else dtypes,
        shapes={"x": tf.TensorShape([None])} if shapes is None else shapes,
        **options,
    )


def first(dataset: tf.data.Dataset) -> Any:
    """The first element, in a graph."""
    iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    with tf.compat.v1.Session() as session:
        session.run(iterator.initializer)
        return session.run(element)


def contents(service: Service, queue: str) -> list[list[np.ndarray]]:
    """Takes the items out of a queue, oldest first; the columns of each."""
    size = service.client.server_info(timeout=10)[queue].current_size
    if not size:
        return []
    samples = service.client.sample(queue, size, emit_timesteps=False, timeout=10)
    return [[np.asarray(column) for column in sample.data] for sample in samples]
