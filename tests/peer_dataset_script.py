"""Prints what TimestepDataset and PatternDataset give, one JSON value a line; of either package named reverb."""

import json

import numpy as np
import reverb
import tensorflow as tf
from reverb import pattern_dataset, structured_writer


def show(value):
    print(json.dumps(value), flush=True)


def plain(element):
    return [np.asarray(leaf).tolist() for leaf in tf.nest.flatten(element)]


def failure(make):
    """The class and the first sentences of the error."""
    try:
        return [plain(element) for element in make()]
    except (tf.errors.OpError, ValueError) as e:
        texts = (
            "Inconsistent number of tensors requested from table 'signed'.  Requested 2 tensors, "
            "but table signature shows 1 tensors.",
            "Requested incompatible tensor at flattened index 0 from table 'signed'.  Requested (dtype, "
            "shape): (int64, [3]).  Signature (dtype, shape): (float, [3])",
            "Specification has (dtype, shape): (float, []).  Tensor has (dtype, shape): (int64, []).",
            "cannot be decomposed into timesteps",
        )
        return [type(e).__name__, *(text for text in texts if text in str(e))]


def timesteps(server):
    client = server.localhost_client()
    address = f"localhost:{server.port}"

    def of(table, dtypes=tf.int64, shapes=(), **options):
        if not isinstance(dtypes, tuple):
            dtypes, shapes = (dtypes,), (shapes,)
        shapes = tuple(tf.TensorShape(shape) for shape in shapes)
        return reverb.TimestepDataset(address, table, dtypes, shapes, 1, **options)

    with client.trajectory_writer(num_keep_alive_refs=4) as writer:
        for i in range(4):
            writer.append({"a": np.int64(i)})
        history = writer.history["a"]
        for first in range(4):
            writer.create_item("queue", float(first), {"a": history[first:]})
        writer.create_item("uneven", 1.0, {"a": history[:], "b": history[-1:]})
        writer.flush()
    steps = list(of("queue", max_samples=3))
    keys = [int(step.info.key) for step in steps]
    show([keys.index(key) for key in keys])
    show([[*plain(step.info)[1:], *plain(step.data)] for step in steps])
    show(next(client.sample("queue"))[0].info.priority)
    show(failure(lambda: of("missing")))
    show(failure(lambda: of("uneven", (tf.int64,) * 2, ((), ()))))
    show(failure(lambda: of("signed", (tf.float32,) * 2, ((), ()))))
    show(failure(lambda: of("signed", tf.int64, (3,))))
    client.insert([np.int64(1)], {"queue": 1.0})
    show(failure(lambda: of("queue", tf.float32)))
    show(failure(lambda: of("queue", rate_limiter_timeout_ms=0)))
    show(repr(reverb.TimestepDataset.from_table_signature(address, "signed", 1).element_spec.data))


def patterns(seed):
    rng = np.random.default_rng(seed)
    length = int(rng.integers(1, 12))
    data = {"x": rng.integers(0, 5, [length, 2]), "end": rng.random(length) < 0.3}
    dataset = tf.data.Dataset.from_tensor_slices(data)
    reference = structured_writer.create_reference_step(dataset.element_spec)
    step_index = structured_writer.Condition.step_index
    conditions = [
        [],
        [step_index() % 2 == 0],
        [structured_writer.Condition.is_end_episode()],
        [step_index() >= 2],
    ]
    configs = []
    for reach in sorted(rng.integers(1, 4, size=rng.integers(1, 4)).tolist()):
        configs.append(
            structured_writer.create_config(
                pattern={"x": reference["x"][-reach:], "last": reference["end"][-1]},
                table="t",
                conditions=conditions[rng.integers(len(conditions))],
            )
        )
    arguments = (dataset, configs, bool(rng.integers(2)), lambda step: step["end"])
    made = reverb.PatternDataset(*arguments)
    show([list(spec.shape) for spec in tf.nest.flatten(made.element_spec)])
    show([plain(element) for element in made])
    with_info = pattern_dataset.pattern_dataset_with_info(*arguments)
    show([plain(element) for element in with_info.take(2)])


def main():
    """Prints it all."""
    tables = [reverb.Table.queue(name, 100) for name in ("queue", "uneven")]
    signature = tf.TensorSpec([3], tf.float32)
    tables.append(reverb.Table.queue("signed", 100, signature=signature))
    server = reverb.Server(tables)
    timesteps(server)
    server.stop()
    for seed in range(20):
        patterns(seed)


main()
