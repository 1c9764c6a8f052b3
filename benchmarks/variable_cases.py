"""Variables through a server, inside `tf.function`: pushed by a learner, pulled by actors.

dm-reverb has no call for it: there, `TFClient.insert` and `TFClient.sample` do what TF-Agents makes of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import tables
from benchmarks.bench import Bench, Figure

_PULLERS = 8
# Calls in one run of a function, so that Python takes no part.
_ROUNDS = {"10MB": 8, "100MB": 1}


def _variables(size: str) -> list:
    import tensorflow as tf

    return [tf.Variable(value) for value in tables.weights(size)]


def _push_op(bench: Bench, size: str) -> Callable[[list], Any]:
    import tensorflow as tf

    table = f"variables_{size}"
    if hasattr(bench.reverb, "VariableContainer"):
        container = bench.reverb.VariableContainer(bench.address, [table])
        return lambda values: container.push(values, table)
    client = bench.reverb.TFClient(bench.address)
    one = tf.constant([1.0], tf.float64)
    return lambda values: client.insert(values, tf.constant([table]), one)


def _pull_op(bench: Bench, size: str) -> Callable[[], list]:
    import tensorflow as tf

    table = f"variables_{size}"
    if hasattr(bench.reverb, "VariableContainer"):
        container = bench.reverb.VariableContainer(bench.address, [table])
        return lambda: container.pull(table)
    client = bench.reverb.TFClient(bench.address)
    dtypes = [tf.float32] * tables.NUM_WEIGHTS
    return lambda: client.sample(table, data_dtypes=[dtypes]).data[0]


def _push(bench: Bench, size: str) -> Iterator[Figure]:
    import tensorflow as tf

    variables, push, rounds = _variables(size), _push_op(bench, size), _ROUNDS[size]

    @tf.function
    def run():
        for _ in tf.range(rounds):
            push([tf.convert_to_tensor(variable) for variable in variables])

    def work() -> int:
        run()
        return rounds

    while True:
        yield bench.rate(work)


def _pull_function(bench: Bench, size: str) -> Callable[[], Any]:
    """A function that pulls `_ROUNDS` times and returns what it pulled last."""
    import tensorflow as tf

    pull, rounds = _pull_op(bench, size), _ROUNDS[size]

    @tf.function
    def run():
        total = tf.constant(0.0)
        for _ in tf.range(rounds):
            total += tf.add_n([tf.reshape(value, [-1])[0] for value in pull()])
        return total

    return run


def _fill(bench: Bench, size: str) -> None:
    _push_op(bench, size)([variable.read_value() for variable in _variables(size)])


def _pull(bench: Bench, size: str) -> Iterator[Figure]:
    _fill(bench, size)
    run = _pull_function(bench, size)

    def work() -> int:
        run().numpy()
        return _ROUNDS[size]

    work()
    while True:
        yield bench.rate(work)


def _pull_by_eight(bench: Bench, size: str) -> Iterator[Figure]:
    _fill(bench, size)
    functions = [_pull_function(bench, size) for _ in range(_PULLERS)]
    for function in functions:
        function()

    def work() -> int:
        threads = [threading.Thread(target=lambda f=f: f().numpy()) for f in functions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return _PULLERS * _ROUNDS[size]

    while True:
        yield bench.rate(work)


def push_10MB(bench: Bench) -> Iterator[Figure]:  # noqa: N802
    """Pushes of 20 variables of 10 MB in all, a second."""
    return _push(bench, "10MB")


def push_100MB(bench: Bench) -> Iterator[Figure]:  # noqa: N802
    """Pushes of 20 variables of 100 MB in all, a second."""
    return _push(bench, "100MB")


def pull_10MB(bench: Bench) -> Iterator[Figure]:  # noqa: N802
    """Pulls of 20 variables of 10 MB in all, a second."""
    return _pull(bench, "10MB")


def pull_100MB(bench: Bench) -> Iterator[Figure]:  # noqa: N802
    """Pulls of 20 variables of 100 MB in all, a second."""
    return _pull(bench, "100MB")


def pull_10MB_eight(bench: Bench) -> Iterator[Figure]:  # noqa: N802
    """The same by 8 pullers in one process at once, all of them together."""
    return _pull_by_eight(bench, "10MB")


def pull_100MB_eight(bench: Bench) -> Iterator[Figure]:  # noqa: N802
    """The same by 8 pullers in one process at once, all of them together."""
    return _pull_by_eight(bench, "100MB")
