"""Processes that play for a learner: how it starts, watches and ends them, and what they start with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

import reverb_tf as reverb
from examples.common.settings import Settings

# How long a process may take to end before it is ended.
_GRACE_SECONDS = 5.0
# How long one wait for the server lasts before an actor looks whether it should end.
_WAIT_MS = 500


class Stopped(Exception):
    """Raised inside the loop of an actor when it should end."""


class ActorProcesses:
    """The actors as a context manager: leaving it, in whatever way, ends them.

    Each runs `python -m MODULE ADDRESS INDEX SETTINGS`, which calls `run_actor`. An actor ends when
    its standard input closes. The system does that too when this process is killed, so no actor
    outlives the learner.
    """

    def __init__(self, module: str, address: str, config: Settings, count: int):
        self._module = module
        self._address = address
        self._config = config
        self._count = count
        self._processes: list[subprocess.Popen] = []

    def __enter__(self) -> ActorProcesses:
        # Products of vectors this short are slower on several threads.
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        for index in range(self._count):
            command = [
                sys.executable,
                "-m",
                self._module,
                self._address,
                str(index),
                self._config.to_json(),
            ]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
            self._processes.append(process)
        return self

    def __exit__(self, *_) -> None:
        for process in self._processes:
            process.stdin.close()
        for process in self._processes:
            try:
                process.wait(_GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def check(self) -> None:
        """Raises RuntimeError if an actor has ended."""
        for index, process in enumerate(self._processes):
            code = process.poll()
            if code is not None:
                raise RuntimeError(
                    f"Actor {index} ended with exit code {code}; its error is above."
                )


def wait_for_learner(call: Callable[[int], None], stop: threading.Event) -> None:
    """Repeats a call that a rate limiter holds back, in an actor.

    Args:
      call: of a writer; its argument is how long to wait, in milliseconds.
      stop: the event that `run_actor` gives.

    Raises:
      Stopped: the learner ended.
    """
    while not stop.is_set():
        try:
            return call(_WAIT_MS)
        except reverb.DeadlineExceededError:
            continue
    raise Stopped


def _watch_learner(stop: threading.Event) -> None:
    """Ends this process once the learner closes its end of our standard input, or is gone."""
    sys.stdin.buffer.read()
    stop.set()
    # A call that waits for a server that no longer answers must not keep the process alive.
    timer = threading.Timer(_GRACE_SECONDS / 2, os._exit, args=[1])
    timer.daemon = True
    timer.start()


def run_actor(argv: list[str], play: Callable[[str, int, str, threading.Event], None]) -> None:
    """The program of an actor process.

    Args:
      argv: address, index and settings, as `ActorProcesses` gives them.
      play: is called with these and an event that is set when the learner ends. It plays until
        then; Stopped ends it too.
    """
    address, index, settings = argv
    # Ctrl-C reaches the whole process group; the learner decides when the actors end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stop = threading.Event()
    threading.Thread(target=_watch_learner, args=[stop], daemon=True).start()
    try:
        play(address, int(index), settings, stop)
    except Stopped:
        pass
