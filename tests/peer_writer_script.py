"""Calls of the legacy Writer and the TrajectoryWriter, each with its outcome. Run with dm-reverb and with this package.

Prints one line for each call: a JSON list of its name and what came of it.
"""

import json
from typing import Any

import numpy as np
import reverb
import tensorflow as tf


def probe(name: str, call: Any) -> None:
    try:
        result = call()
        # Keys, and objects of no interest, are not compared.
        outcome = repr(result) if isinstance(result, list | tuple | bool | str) else "done"
    except Exception as e:
        builtin = {c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins"}
        kinds = builtin - {"object", "BaseException", "Exception", "OSError", "TimeoutError"}
        kinds -= {"LookupError"}
        outcome = "raises " + " ".join(sorted(kinds))
    print(json.dumps([name, outcome]))


def take(client: Any, count: int) -> Any:
    samples = client.sample("q", count, emit_timesteps=False)
    return [[(str(x.dtype), x.tolist()) for x in sample.data] for sample in samples]


def make_server() -> Any:
    def table(name: str, **settings: Any) -> Any:
        return reverb.Table(
            name,
            reverb.selectors.Fifo(),
            reverb.selectors.Fifo(),
            100,
            reverb.rate_limiters.MinSize(1),
            **settings,
        )

    return reverb.Server(
        [
            reverb.Table.queue("q", 100),
            table("step", signature={"x": tf.TensorSpec([2], tf.float32)}),
            table("three", signature={"x": tf.TensorSpec([3, 2], tf.float32)}),
            table("any", signature={"x": tf.TensorSpec([None, 2], tf.float32)}),
        ]
    )


def argument_probes(client: Any) -> None:
    for arguments in (
        (0,),
        (-1,),
        (2, False, 3),
        (2, False, 0),
        (2, False, 2, 0),
        (2, False, 2, None),
        (1, True),
    ):
        probe(f"writer {arguments!r}", lambda arguments=arguments: client.writer(*arguments))
    probe("default chunk", lambda: client.writer(3, chunk_length=None))


def step_probes(client: Any) -> None:
    row = np.zeros(2, np.float32)
    with client.writer(4, chunk_length=2) as writer:
        probe("item of nothing", lambda: writer.create_item("q", 1, 1.0))
        probe("append", lambda: writer.append({"x": row}))
        for bad in (
            {"x": np.zeros(3, np.float32)},
            {"x": np.zeros(2)},
            {"x": row, "y": row},
            {"x": None},
        ):
            probe(f"append {bad!r}", lambda bad=bad: writer.append(bad))
        probe("append again", lambda: writer.append({"x": row + 1}))
        for steps in (0, -1, 3, 5):
            probe(f"item of {steps}", lambda steps=steps: writer.create_item("q", steps, 1.0))
        probe("unknown table", lambda: writer.create_item("nowhere", 1, 1.0))
        probe("nan", lambda: writer.create_item("q", 1, float("nan")))
        probe("item", lambda: writer.create_item("q", 2, 1.0))
        for table in ("step", "three", "any"):
            for steps in (1, 2):
                name = f"item of {steps} for {table}"
                probe(name, lambda t=table, n=steps: writer.create_item(t, n, 1.0))
        for sequence in ([], {"x": 1.0}, {"x": np.zeros(2), "y": np.zeros(3)}):
            probe(f"sequence {sequence!r}", lambda s=sequence: writer.append_sequence(s))
        probe("sequence", lambda: writer.append_sequence({"x": np.ones((3, 2), np.float32)}))
        probe("item of a sequence", lambda: writer.create_item("q", 4, 2.0))
    probe("items of a writer", lambda: take(client, 2))
    probe("after the with block", lambda: writer.append({"x": row}))
    probe("item after the with block", lambda: writer.create_item("q", 1, 1.0))
    probe("flush after the with block", lambda: writer.flush())
    probe("close after the with block", lambda: writer.close())
    probe("enter after the with block", lambda: writer.__enter__())


def chunk_probes(client: Any) -> None:
    """What is in items over the borders of chunks, delta encoded or not."""
    for delta in (False, True):
        for length in (1, 2, 3, 5):
            with client.writer(5, delta, length) as writer:
                for i in range(8):
                    writer.append(
                        [np.arange(4) * i - 7, np.uint8(31 * i % 256), np.float32(i), f"s{i}"]
                    )
                    writer.create_item("q", min(i + 1, 5), 1.0)
                    if i == 4:
                        writer.flush()
            probe(f"chunks of {length}, delta {delta}", lambda: take(client, 8))


def trajectory_probes(client: Any) -> None:
    writer = client.trajectory_writer(4)
    other = client.trajectory_writer(4)
    probe("history too early", lambda: writer.history)
    for i in range(4):
        writer.append({"a": i, "b": {"c": np.full(2, i, np.float32)}})
        other.append(100 + i)
    history = writer.history
    a, c = history["a"], history["b"]["c"]
    # Neighbours in a chunk only: others come back wrong from dm-reverb.
    for name, column in (("all", a[:]), ("last", a[-1]), ("two", a[1:3]), ("list", a[[2, 3]])):
        writer.create_item("q", 1.0, [column, c[-1:]])
        writer.flush()
        probe(f"column {name}", lambda: take(client, 1))
    mixed = reverb.TrajectoryColumn([*list(a)[:2], *list(other.history)[1:]])
    writer.create_item("q", 1.0, mixed)
    writer.flush()
    probe("rows of two writers", lambda: take(client, 1))
    for index in (-5, 1.0, None, (1, 2), np.int64(1), "a"):
        probe(f"index {index} {type(index).__name__}", lambda i=index: len(a[i]))
    probe("mixed dtypes", lambda: writer.create_item("q", 1.0, reverb.TrajectoryColumn([*a, *c])))
    probe("no column", lambda: writer.create_item("q", 1.0, {"a": 1}))
    probe("empty", lambda: writer.create_item("q", 1.0, {}))
    probe("nan item", lambda: writer.create_item("q", float("nan"), a[:]))
    probe("table", lambda: writer.create_item("nowhere", 1.0, a[:]))
    for table in ("step", "three", "any"):
        for column in (c[-1], c[-3:], c[-2:]):
            name = f"{table} {len(column)} {column.is_squeezed}"
            probe(name, lambda t=table, x=column: writer.create_item(t, 1.0, {"x": x}))
    probe("dtype", lambda: writer.append({"a": 1.0}))
    probe("shape", lambda: writer.append({"a": [1]}))
    probe("leaf to dict", lambda: writer.append({"a": {"d": 1}}))
    probe("episode_steps", lambda: (writer.episode_steps, len(history["a"])))
    for path, keep, length in ((("a",), 0, None), (("a",), 2, 3), (("a",), 2, 0), (("z",), 7, 2)):
        probe(
            f"configure {path} {keep} {length}",
            lambda p=path, k=keep, n=length: writer.configure(
                p, num_keep_alive_refs=k, max_chunk_length=n
            ),
        )
    probe("flush -1", lambda: writer.flush(-1))
    probe("end_episode", lambda: writer.end_episode())
    probe("expired", lambda: writer.create_item("q", 1.0, mixed))
    writer.close()
    probe("closed", lambda: writer.append({"a": 1}))
    probe("closed flush", lambda: writer.flush())


def main() -> None:
    server = make_server()
    client = reverb.Client(f"localhost:{server.port}")
    argument_probes(client)
    step_probes(client)
    chunk_probes(client)
    trajectory_probes(client)
    server.stop()


if __name__ == "__main__":
    main()
