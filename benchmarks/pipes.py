"""Processes that speak JSON lines: the two ends of their pipes."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from typing import IO

_GRACE_SECONDS = 10.0


def reserve_stdout() -> IO[str]:
    """Keeps standard output for JSON lines: whatever else the process prints goes to stderr."""
    reply = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return reply


class Peer:
    """A Python process that answers lines with JSON lines. A context manager; not thread-safe."""

    def __init__(self, python: str, module: str, *args: str):
        self._log = tempfile.TemporaryFile("w+")
        self._name = f"{python} -m {module}"
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONUNBUFFERED": "1"}
        self._process = subprocess.Popen(
            [python, "-m", module, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=environment,
        )

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_) -> None:
        self._process.stdin.close()
        try:
            self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def cpu_seconds(self) -> float:
        """CPU time that the process has used, as Linux counts it."""
        with open(f"/proc/{self._process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ask(self, line: str) -> dict:
        """Sends a line and waits for the answer to it."""
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self.read()

    def read(self) -> dict:
        """The next answer.

        Raises:
          RuntimeError: the process ended; the text has the end of what it printed.
        """
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._log.seek(0)
            raise RuntimeError(
                f"{self._name} ended with exit code {self._process.returncode}:\n"
                f"{self._log.read()[-3000:]}"
            )
        return json.loads(line)
