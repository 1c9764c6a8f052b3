"""Moving variables, beside dm-reverb and beside what the machine can do: `python -m benchmarks.variables`.

Takes the arguments of `benchmarks.compare`, and adds to its rows of variables the bytes a second, and their share of
a copy in memory and of a TCP connection over the loopback, measured before and after.
"""

from __future__ import annotations

import json
import pathlib
import socket
import sys
import tempfile
import threading
import time

import numpy as np

from benchmarks import compare, tables

# Rows and the size of what they move. Small ones first: glibc keeps more memory once large blocks were freed, which
# spares a process that does not see to it, such as dm-reverb's client, page faults from then on.
_ROWS = {
    "pull": "10MB",
    "pull_eight": "10MB",
    "push": "10MB",
    "push_large": "100MB",
    "pull_large": "100MB",
    "pull_large_eight": "100MB",
}
_BLOCK = 100_000_000
_CHUNK = 1 << 20
_SECONDS = 1.0


def _bytes(size: str) -> int:
    return 4 * tables.NUM_WEIGHTS * tables.WEIGHTS[size]


def memcpy_rate() -> float:
    """Bytes a second of the fastest of many copies of 100 MB from memory to memory."""
    source, target = np.ones(_BLOCK, np.uint8), np.zeros(_BLOCK, np.uint8)
    fastest, end = float("inf"), time.perf_counter() + _SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        np.copyto(target, source)
        fastest = min(fastest, time.perf_counter() - start)
    return _BLOCK / fastest


def loopback_rate() -> float:
    """Bytes a second through a TCP connection from one thread to another, in the fastest of many 100 MB."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sender = socket.create_connection(listener.getsockname())
        receiver, _ = listener.accept()

    def send() -> None:
        block = bytes(_CHUNK)
        end = time.perf_counter() + _SECONDS
        with sender:
            while time.perf_counter() < end:
                for _ in range(_BLOCK // _CHUNK + 1):
                    sender.sendall(block)

    thread = threading.Thread(target=send)
    buffer = bytearray(_CHUNK)
    with receiver:
        thread.start()
        fastest, count, start = float("inf"), 0, time.perf_counter()
        while received := receiver.recv_into(buffer):
            count += received
            if count >= _BLOCK:
                now = time.perf_counter()
                fastest = min(fastest, (now - start) / count)
                count, start = 0, now
    thread.join()
    return 1 / fastest


def main(argv: list[str] | None = None) -> int:
    """The command."""
    argv = sys.argv[1:] if argv is None else argv
    limits = {"memcpy": [memcpy_rate()], "loopback": [loopback_rate()]}
    with tempfile.TemporaryDirectory() as folder:
        figures = pathlib.Path(folder) / "figures.json"
        status = compare.main([*_ROWS, *argv, "--json", str(figures)])
        if status != 0:
            return status
        results = json.loads(figures.read_text())
    limits["memcpy"].append(memcpy_rate())
    limits["loopback"].append(loopback_rate())
    best = {name: max(rates) for name, rates in limits.items()}
    print(f"memcpy {best['memcpy'] / 1e9:.1f} GB/s, loopback {best['loopback'] / 1e9:.1f} GB/s")
    for size, result in zip(_ROWS.values(), results, strict=True):
        line = f"{result['title']:<34}"
        for side in ("reverb_tf", "reverb"):
            if side not in result:
                continue
            rate = result[side]["median"]["value"] * _bytes(size)
            shares = ", ".join(f"{rate / best[limit]:.0%} of {limit}" for limit in best)
            line += f"  {side}: {rate / 1e9:.2f} GB/s ({shares})"
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
