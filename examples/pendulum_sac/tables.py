"""The tables of the server."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

import reverb_tf as reverb
from examples.common.reports import episodes_table
from examples.pendulum_sac import policy
from examples.pendulum_sac.config import Config

REPLAY = "replay"


def transition_signature() -> dict[str, tf.TensorSpec]:
    """What an item of the replay table is. There is no discount: the pendulum never falls."""
    observation = tf.TensorSpec([policy.OBSERVATION_SIZE], tf.float32)
    return {
        "observation": observation,
        "action": tf.TensorSpec([policy.ACTION_SIZE], tf.float32),
        "reward": tf.TensorSpec([], tf.float32),
        "next_observation": observation,
    }


def make_tables(config: Config, weights: list[np.ndarray]) -> dict[str, reverb.Table]:
    """The tables by name: transitions, the newest policy (like `weights`), reports of episodes.

    The limiter of the replay table keeps the number of gradient steps for each step of the actor,
    and holds back whichever side runs ahead.
    """
    samples_per_insert = config.updates_per_step * config.batch_size
    tables = [
        reverb.Table(
            name=REPLAY,
            sampler=reverb.selectors.Uniform(),
            remover=reverb.selectors.Fifo(),
            max_size=config.table_size,
            rate_limiter=reverb.rate_limiters.SampleToInsertRatio(
                samples_per_insert=samples_per_insert,
                min_size_to_sample=config.min_table_size,
                error_buffer=samples_per_insert * max(100, config.min_table_size // 2),
            ),
            signature=transition_signature(),
        ),
        reverb.variable_table(weights),
        episodes_table(),
    ]
    return {table.name: table for table in tables}
