"""Starts, watches and ends the actor processes."""

from __future__ import annotations

import os
import subprocess
import sys

from examples.cartpole_dqn.config import Config

_GRACE_SECONDS = 5.0


class ActorProcesses:
    """The actors as a context manager: leaving it, in whatever way, ends them.

    An actor ends when its standard input closes. The system does that too when this process is
    killed, so no actor outlives the learner.
    """

    def __init__(self, address: str, config: Config):
        self._address = address
        self._config = config
        self._processes: list[subprocess.Popen] = []

    def __enter__(self) -> ActorProcesses:
        # Products of vectors this short are slower on several threads.
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        for index in range(self._config.actors):
            command = [
                sys.executable,
                "-m",
                "examples.cartpole_dqn.actor",
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
