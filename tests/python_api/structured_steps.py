"""Steps, configs and items of the tests of structured writers."""

import numpy as np

from reverb_tf import structured_writer
from tests.python_api import support

TABLES = '[reverb.Table.queue(name, 1000) for name in ("a", "b", "c", "d", "e")]'
STEP = {"a": None, "b": {"c": None, "d": [None, None]}}
REF = structured_writer.create_reference_step(STEP)


def step(i):
    return {
        "a": np.int64(i),
        "b": {"c": np.float64(10 * i), "d": [np.int32([i, -i]), np.int64(i % 2 == 0)]},
    }


def items(client, table="a"):
    """The (priority, columns) of all items of a queue."""
    count = client.server_info(support.PATIENCE)[table].current_size
    if count == 0:
        return []
    samples = client.sample(table, count, emit_timesteps=False, timeout=support.PATIENCE)
    return [(s.info.priority, [column.tolist() for column in s.data]) for s in samples]


def config(pattern, conditions=(), table="a", priority=None):
    return structured_writer.create_config(pattern, table, conditions, priority)


GOOD = config(REF["a"][-1])
