"""Random configs and steps for a structured writer of `import reverb`; prints a line of JSON with the items of each.

Nothing that is wrong in dm-reverb: no strides (other rows from long chunks), no negative numbers in `%`, no
inverted buffer_length (which ends the process).
"""

import json
import random
import sys

import numpy as np
import reverb
from reverb import structured_writer

_FIELDS = ("flag", "number", "td", "unused", "vector")
_STEP = dict.fromkeys(_FIELDS)
_REF = structured_writer.create_reference_step(_STEP)
_DATA = structured_writer.Condition.data(_STEP)
_TABLES = ("q0", "q1")


def node(rng):
    leaf = _REF[rng.choice(["flag", "number", "td", "vector"])]
    start = rng.randrange(-6, 0)
    if rng.random() < 0.5:
        return leaf[start]
    return leaf[start : rng.choice([None, *range(start + 1, 1)])]


def condition(rng):
    value, modulus = rng.randrange(9), rng.randrange(1, 6)
    kind = rng.randrange(6)
    if kind == 0:
        return structured_writer.Condition.is_end_episode()
    if kind == 1:
        return structured_writer.ConditionProto(buffer_length=True, ge=value)
    left = [
        structured_writer.Condition.step_index(),
        structured_writer.Condition.steps_since_applied(),
        _DATA["flag"],
        _DATA["number"],
    ][kind - 2]
    return rng.choice(
        [
            left == value,
            left != value,
            left >= value,
            left < value,
            left > value,
            left <= value,
            left % modulus == value % modulus,
            left % modulus != value % modulus,
        ]
    )


def config(rng):
    priority = structured_writer.td_error(rng.random(), _STEP, lambda step: step["td"])
    if rng.random() < 0.5:
        priority = structured_writer.constant_priority_fn(rng.uniform(0, 10))
    nodes = [node(rng) for _ in range(rng.randrange(1, 5))]
    conditions = [condition(rng) for _ in range(rng.randrange(3))]
    return structured_writer.create_config(nodes, rng.choice(_TABLES), conditions, priority)


def values(rng, absent):
    step = {
        "flag": np.array(rng.random() < 0.5),
        "number": np.array(rng.randrange(10)),
        "td": np.array(rng.uniform(-5, 5)),
        "unused": np.array("text"),
        "vector": np.array([rng.random(), rng.random()], np.float32),
    }
    return {name: None if rng.random() < absent else value for name, value in step.items()}


def write(writer, rng):
    absent, partial = rng.choice([0, 0, 0.02, 0.3]), rng.choice([0, 0, 0.1, 0.4])
    steps = 0
    given = set()  # in the open step
    while steps < 40 or writer.step_is_open:
        if rng.random() < 0.05:
            writer.end_episode(rng.random() < 0.5)
            given = set()
        data = {k: None if k in given else v for k, v in values(rng, absent).items()}
        is_partial = rng.random() < partial
        writer.append(data, partial_step=is_partial)
        steps += not is_partial
        given = given | {k for k, v in data.items() if v is not None} if is_partial else set()
    writer.end_episode()


def items(client, table):
    size = client.server_info()[table].current_size
    if size == 0:
        return []
    return [
        (sample.info.priority, [column.tolist() for column in sample.data])
        for sample in client.sample(table, size, emit_timesteps=False)
    ]


def main():
    server = reverb.Server([reverb.Table.queue(name, 5000) for name in _TABLES])
    client = reverb.Client(f"localhost:{server.port}")
    for seed in map(int, sys.argv[1:]):
        rng = random.Random(seed)
        configs = [config(rng) for _ in range(rng.randrange(1, 4))]
        write(client.structured_writer(configs), rng)
        print(json.dumps([items(client, table) for table in _TABLES]), flush=True)
    server.stop()


if __name__ == "__main__":
    main()
