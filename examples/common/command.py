"""The frame of an example's command: flags, threads, seed, exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from examples.common.settings import Settings


def run_command(settings: type[Settings], run: Callable[[Any], float], threads: int) -> int:
    """Runs an example as its flags say.

    Args:
      settings: what the flags are; with `seed` and `goal`.
      run: trains and evaluates, and returns the average return of the evaluation.
      threads: how many ops of TensorFlow may run at once. Each has one thread: the networks are tiny, and more threads
        would only take the cores from the actors, or wait for each other.

    Returns:
      The exit code: 0 if the goal was reached, 1 if not, 130 after Ctrl-C.
    """
    config = settings.from_flags()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    tf.random.set_seed(config.seed)
    try:
        return 0 if run(config) >= config.goal else 1
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
