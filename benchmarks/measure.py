"""A client process for compare.py: `python -m benchmarks.measure LIBRARY ADDRESS SECONDS`.

Reads names of cases, one a line, and answers each with a cases.Figure, as
`{"value": figure, "count": operations}`, or with `{"error": text}`.
A case is prepared when its name first comes, and kept until `done NAME`.
"""

from __future__ import annotations

import importlib
import json
import sys

from benchmarks import cases, pipes


def _answer(running: dict, bench: cases.Bench, line: str) -> dict:
    words = line.split()
    if words[0] == "done":
        running.pop(words[1]).close()
        return {}
    name = words[0]
    if name not in running:
        running[name] = getattr(cases, name)(bench)
    return next(running[name])._asdict()


def main(library: str, address: str, seconds: str) -> None:
    """Answers lines until standard input closes."""
    reply = pipes.reserve_stdout()
    bench = cases.Bench(importlib.import_module(library), address, float(seconds))
    running: dict = {}
    for line in sys.stdin:
        try:
            answer = _answer(running, bench, line)
        except Exception as error:  # noqa: BLE001 - Reported to compare.py, which decides.
            answer = {"error": f"{type(error).__name__}: {error}"}
        reply.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
