"""What the tests of the Python API share: servers in this and in other processes, scripts, threads."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import reverb_tf as reverb

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A guard against hangs, not a claim about speed.
PATIENCE = 600

# Bound, so that nobody else can be.
_DEAD: list[socket.socket] = []

_SERVER = """
import sys
import numpy as np
import reverb_tf as reverb
server = reverb.Server({tables}, port={port}, host="127.0.0.1")
print(server.port, flush=True)
sys.stdin.read()
server.stop()
"""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


class RemoteServer:
    """A server in a process of its own, so that clients have to use gRPC."""

    def __init__(self, tables: str, port: int = 0):
        """Starts it; `tables` is the expression of a list of tables, with `reverb` and `np` in scope."""
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVER.format(tables=tables, port=port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        line = self._process.stdout.readline()
        if not line.strip():
            self._process.wait(PATIENCE)
            raise RuntimeError("the server did not start")
        self.port = int(line)
        # Not "localhost", which is ::1 first: another program may listen on that port there.
        self.address = f"127.0.0.1:{self.port}"

    def stop(self) -> None:
        """Stops it as a program would."""
        if self._process.poll() is None:
            self._process.stdin.close()
            self._process.wait(PATIENCE)
        self._process.stdout.close()

    def kill(self) -> None:
        """Stops it as a crash would."""
        self._process.kill()
        self._process.wait(PATIENCE)
        self._process.stdin.close()
        self._process.stdout.close()


class LocalServer:
    """The same in this process."""

    def __init__(self, tables: str):
        import numpy as np

        self._server = reverb.Server(eval(tables, {"reverb": reverb, "np": np}))
        self.port = self._server.port
        self.address = f"localhost:{self.port}"

    def stop(self) -> None:
        self._server.stop()


def take(client: reverb.Client, table: str = "q", count: int = 1) -> list[list[Any]]:
    """Samples items; of each the columns as nested lists."""
    samples = client.sample(table, count, emit_timesteps=False, timeout=PATIENCE)
    return [[column.tolist() for column in sample.data] for sample in samples]


def dead_port() -> int:
    """A port on which nobody listens while this process lives: another test's server cannot get it."""
    _DEAD.append(socket.socket())
    _DEAD[-1].bind(("127.0.0.1", 0))
    return _DEAD[-1].getsockname()[1]


def run_script(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs Python code in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(),
    )


def interrupt_script(code: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a fresh interpreter and sends it SIGINT when it prints "now"; returns what else it printed."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    guard = threading.Timer(PATIENCE, process.kill)
    guard.start()
    lines = []
    for line in process.stdout:
        if line.strip() == "now":
            process.send_signal(signal.SIGINT)
        else:
            lines.append(line)
    error = process.stderr.read()
    code = process.wait(PATIENCE)
    guard.cancel()
    return subprocess.CompletedProcess(process.args, code, "".join(lines), error)


class Call:
    """A call on a thread of its own."""

    def __init__(self, function: Callable[[], Any]):
        self._function = function
        self._outcome: Any = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._outcome = (True, self._function())
        except BaseException as e:
            self._outcome = (False, e)

    def result(self) -> Any:
        """What the call returned; raises what it raised."""
        self._thread.join(PATIENCE)
        assert self._outcome is not None, "the call did not end"
        ok, value = self._outcome
        if not ok:
            raise value
        return value
