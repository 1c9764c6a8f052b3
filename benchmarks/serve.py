"""A server process for compare.py: `python -m benchmarks.serve LIBRARY`.

Prints `{"port": N}` and serves until its standard input closes.
"""

from __future__ import annotations

import importlib
import json
import sys

from benchmarks import pipes, tables


def main(library: str) -> None:
    """Serves the tables of the benchmarks with `library` until standard input closes."""
    reply = pipes.reserve_stdout()
    reverb = importlib.import_module(library)
    server = reverb.Server(tables.make(reverb))
    reply.write(json.dumps({"port": server.port}) + "\n")
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main(sys.argv[1])
