"""Kills a server that inserts and writes checkpoints, at random moments, and looks at what the next one loads.

    python -m tests.python_api.crash_loop --kills 200

Each process loads the newest checkpoint, checks that its items are complete, equal to what was inserted, and no older
than the last checkpoint that was reported as complete, and goes on from there until it is killed.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
from typing import Any

from tests.python_api import support

_MAX_SIZE = 300
_BETWEEN = 40  # Items between two checkpoints, the most.

# Item number i is recognised by its step; its data follows from the number.
_CHILD = """
import random, sys
import numpy as np
import reverb_tf as reverb

folder, format, max_size, between, keep = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])

def value(i):
    return np.random.default_rng(i).integers(0, 256, 3000, dtype=np.uint8)

def tables():
    make = lambda name: reverb.Table(name, reverb.selectors.Uniform(), reverb.selectors.Fifo(), max_size,
                                     reverb.rate_limiters.MinSize(1))
    return [make("first"), make("second")]

checkpointer = reverb.checkpointers.DefaultCheckpointer(folder, format=format, keep=keep)
server = reverb.Server(tables(), checkpointer=checkpointer, host="127.0.0.1")
client = server.localhost_client()

def loaded(table):
    keys = [item.key for item in client.list_items(table)]
    found = {}
    for sample in client.get(table, keys):
        number = int(sample.data[0][0])
        assert np.array_equal(sample.data[1][0], value(number)), f"item {number} of {table} has other data"
        found[number] = sample.info.priority
    assert sorted(found) == list(range(min(found, default=0), max(found, default=-1) + 1)), f"{table} has gaps"
    assert all(priority == number for number, priority in found.items())
    return min(found, default=0), max(found, default=-1) + 1

first, second = loaded("first"), loaded("second")
# Each item goes into both tables, first into `first`.
assert 0 <= first[1] - second[1] <= 1, (first, second)
if server.restored_from:
    assert first[1] - first[0] == min(max_size, first[1]), first
print("loaded", second[1], flush=True)
i = second[1]
while True:
    for _ in range(random.randint(1, between)):
        data = [np.int64(i), value(i)]
        client.insert(data, {"first": float(i)})
        client.insert(data, {"second": float(i)})
        i += 1
    print("begin", i, flush=True)
    server.checkpoint()
    print("done", i, flush=True)
"""


class CrashLoop:
    """Processes that are killed one after the other, on one folder."""

    def __init__(self, folder: pathlib.Path, format: str, keep: int, seed: int):
        self._arguments = [str(folder), format, str(_MAX_SIZE), str(_BETWEEN), str(keep)]
        self._random = random.Random(seed)
        self._complete = 0  # Items that the last checkpoint reported as complete must have.
        self.checkpoints = 0  # That were reported as complete.

    def run_once(self) -> int:
        """Starts a process, kills it, and returns how many items it had loaded. AssertionError if it found a fault."""
        process = subprocess.Popen(
            [sys.executable, "-c", _CHILD, *self._arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=support.environment(),
        )
        first = process.stdout.readline().split()
        if not first:
            raise AssertionError(process.communicate()[1])
        loaded = int(first[1])
        assert loaded >= self._complete, f"{loaded} items, but {self._complete} were complete"
        killer = threading.Timer(self._random.uniform(0, 0.4), process.kill)
        killer.start()
        for line in process.stdout:
            words = line.split()
            if len(words) == 2 and words[0] == "done" and line.endswith("\n"):
                self._complete = int(words[1])
                self.checkpoints += 1
        killer.join()
        error = process.communicate()[1]
        assert process.returncode == -9, error
        return loaded


def main(argv: list[str] | None = None) -> Any:
    """Runs the loop on a temporary folder, for each format."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    for format, keep, kills in (
        ("incremental", 1, options.kills // 2),
        ("incremental", 3, options.kills // 4),
        ("reverb", 1, options.kills - options.kills // 2 - options.kills // 4),
    ):
        with tempfile.TemporaryDirectory() as folder:
            loop = CrashLoop(pathlib.Path(folder), format, keep, options.seed)
            loaded = 0
            for _ in range(kills):
                loaded = loop.run_once()
            print(
                f"{format}, keep={keep}: {kills} kills, {loop.checkpoints} checkpoints, "
                f"{loaded} items in the last one loaded"
            )


if __name__ == "__main__":
    main()
