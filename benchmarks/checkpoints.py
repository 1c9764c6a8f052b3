"""Checkpoints of both libraries, measured in one run: `python -m benchmarks.checkpoints`.

A table of random floats is filled, saved and loaded by a new server, round by round and library by library in turn.
reverb_tf is also measured saving again after 1 % of the items have changed, and inserting and sampling from another
process while the whole table is saved and while nothing is.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import threading
import time
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks import pipes

_FLOATS = 100_000  # An item is 400 kB.
# Of the latencies without a checkpoint.
_LATENCY_SECONDS = 3.0


def _make(reverb: ModuleType, folder: str, items: int):
    table = reverb.Table(
        name="t",
        sampler=reverb.selectors.Uniform(),
        remover=reverb.selectors.Fifo(),
        max_size=items,
        rate_limiter=reverb.rate_limiters.MinSize(1),
    )
    checkpointer = reverb.checkpointers.DefaultCheckpointer(folder)
    return reverb.Server([table], checkpointer=checkpointer)


def _insert(client, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    with client.trajectory_writer(num_keep_alive_refs=1) as writer:
        for i in range(count):
            writer.append(rng.standard_normal(_FLOATS, dtype=np.float32))
            writer.create_item("t", 1.0, writer.history[-1:])
            if i % 16 == 15:
                writer.flush()


def _timed(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


class _Side:
    """What one library's process does on request."""

    def __init__(self, library: str, folder: str, items: int):
        self._reverb = importlib.import_module(library)
        self._folder, self._items = folder, items
        self._server = _make(self._reverb, folder, items)

    def _client(self):
        return self._reverb.Client(f"localhost:{self._server.port}")

    def fill(self) -> dict[str, Any]:
        _insert(self._client(), self._items, 0)
        return {"port": self._server.port}

    def save(self) -> dict[str, Any]:
        seconds = _timed(lambda: self._client().checkpoint())
        return {"seconds": seconds}

    def load(self) -> dict[str, Any]:
        """Stops the server and times the start of another, which loads."""
        self._server.stop()
        del self._server
        start = time.perf_counter()
        self._server = _make(self._reverb, self._folder, self._items)
        seconds = time.perf_counter() - start
        size = self._client().server_info()["t"].current_size
        if size != self._items:
            raise RuntimeError(f"{size} of {self._items} items were loaded")
        return {"seconds": seconds, "port": self._server.port}

    def change(self) -> dict[str, Any]:
        """1 % of the items are replaced by new ones, then saved."""
        _insert(self._client(), self._items // 100, 1)
        before = _disk_bytes(self._folder)
        seconds = _timed(lambda: self._client().checkpoint())
        return {"seconds": seconds, "bytes": _disk_bytes(self._folder) - before}

    def latencies(self, port: str, checkpoint: str) -> dict[str, Any]:
        """99th percentiles of insert and sample: while one checkpoint is written, or for some seconds."""
        client = self._reverb.Client(f"localhost:{port}")
        done = threading.Event()

        def work() -> None:
            if checkpoint == "with":
                client.checkpoint()
            else:
                time.sleep(_LATENCY_SECONDS)
            done.set()

        thread = threading.Thread(target=work)
        thread.start()
        data = np.zeros(100, np.float32)
        inserts, samples = [], []
        with client.trajectory_writer(num_keep_alive_refs=1) as writer:
            while not done.is_set():
                writer.append(data)
                writer.create_item("t", 1.0, writer.history[-1:])
                inserts.append(_timed(writer.flush))
                samples.append(_timed(lambda: list(client.sample("t", emit_timesteps=False))))
        thread.join()
        return {
            name: float(np.percentile(values, 99)) * 1e6
            for name, values in (("insert", inserts), ("sample", samples))
        }


def _disk_bytes(folder: str) -> int:
    return sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file())


def _serve(library: str, folder: str, items: str) -> None:
    reply = pipes.reserve_stdout()
    side = _Side(library, folder, int(items))
    for line in sys.stdin:
        name, *arguments = line.split()
        reply.write(json.dumps(getattr(side, name)(*arguments)) + "\n")
        reply.flush()


def _show(title: str, megabytes: float, seconds: dict[str, list[float]]) -> None:
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    line = f"{title:<28}"
    for name, median in medians.items():
        line += f"  {name} {megabytes / median:8,.0f} MB/s ({median:.2f} s)"
    if len(medians) == 2:
        line += f"  {medians['reverb'] / medians['reverb_tf']:.2f}x"
    print(line, flush=True)


def _measure_latency(folder: str, client: pipes.Peer, port: int, rounds: int) -> None:
    ratios: dict[str, list[float]] = {"insert": [], "sample": []}
    for _ in range(rounds):
        without = client.ask(f"latencies {port} without")
        for path in pathlib.Path(folder).iterdir():  # so that everything is written again
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        during = client.ask(f"latencies {port} with")
        for name, values in ratios.items():
            values.append(during[name] / without[name])
    for name, values in ratios.items():
        print(
            f"99th percentile of {name:<8}  during a checkpoint / without: {statistics.median(values):.2f}x "
            f"({min(values):.2f} .. {max(values):.2f})",
            flush=True,
        )


def main(argv: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.checkpoints", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--megabytes", type=int, default=800)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ours", default=".venv/bin/python")
    parser.add_argument("--reference", default=".peer/bin/python")
    options = parser.parse_args(argv)
    items = max(100, options.megabytes * 1_000_000 // (4 * _FLOATS))
    megabytes = items * 4 * _FLOATS / 1e6
    pythons = {"reverb_tf": options.ours, "reverb": options.reference}
    with contextlib.ExitStack() as stack:
        sides, ports, folders = {}, {}, {}
        for name, python in pythons.items():
            if not os.path.exists(python):
                print(f"{name} is not measured: there is no {python}.", file=sys.stderr)
                continue
            folder = folders[name] = stack.enter_context(tempfile.TemporaryDirectory())
            sides[name] = stack.enter_context(
                pipes.Peer(python, "benchmarks.checkpoints", "serve", name, folder, str(items))
            )
            ports[name] = sides[name].ask("fill")["port"]
        save: dict[str, list[float]] = {name: [] for name in sides}
        load: dict[str, list[float]] = {name: [] for name in sides}
        for turn in range(options.rounds):
            for name, side in sides.items():
                if turn == 0 or name == "reverb":  # a second one of ours would write nothing
                    save[name].append(side.ask("save")["seconds"])
                answer = side.ask("load")
                load[name].append(answer["seconds"])
                ports[name] = answer["port"]
        _show(f"save {megabytes:,.0f} MB", megabytes, save)
        _show(f"load {megabytes:,.0f} MB", megabytes, load)
        ours = sides["reverb_tf"]
        answer = ours.ask("change")
        whole = statistics.median(save["reverb_tf"])
        print(
            f"save after 1 % has changed    {answer['bytes'] / 1e6:,.1f} MB more on disk, "
            f"{answer['seconds'] / whole:.3f} of the time of a whole one"
        )
        with tempfile.TemporaryDirectory() as folder:
            client = stack.enter_context(
                pipes.Peer(
                    options.ours, "benchmarks.checkpoints", "serve", "reverb_tf", folder, "100"
                )
            )
            _measure_latency(folders["reverb_tf"], client, ports["reverb_tf"], options.rounds)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        _serve(*sys.argv[2:])
    else:
        sys.exit(main())
