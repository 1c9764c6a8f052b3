"""The three tables of the example, and the server that holds them."""

from __future__ import annotations

import tensorflow as tf

import reverb_tf as reverb
from examples.cartpole_dqn import network
from examples.cartpole_dqn.config import REPLAY, VARIABLES, Config
from examples.common.reports import episodes_table


def transition_signature(n_step: int) -> dict[str, tf.TensorSpec]:
    """What an item of the replay table is: `n_step` steps and the observation after them."""
    observation = tf.TensorSpec([network.OBSERVATION_SIZE], tf.float32)
    return {
        "observation": observation,
        "action": tf.TensorSpec([], tf.int32),
        "reward": tf.TensorSpec([n_step], tf.float32),
        "discount": tf.TensorSpec([n_step], tf.float32),
        "next_observation": observation,
    }


def make_tables(
    config: Config, replay_limiter: reverb.rate_limiters.RateLimiter | None = None
) -> dict[str, reverb.Table]:
    """The tables by name.

    The limiter of the replay table (unless another one is given) lets the learner draw `samples_per_insert` samples for
    each insert, once there are `min_table_size` transitions, and holds back whichever side runs ahead.
    """
    spi = config.samples_per_insert
    tables = [
        reverb.Table(
            name=REPLAY,
            sampler=reverb.selectors.Prioritized(config.priority_exponent),
            remover=reverb.selectors.Fifo(),
            max_size=config.table_size,
            rate_limiter=replay_limiter
            or reverb.rate_limiters.SampleToInsertRatio(
                samples_per_insert=spi,
                min_size_to_sample=config.min_table_size,
                error_buffer=spi * max(config.min_table_size // 2, 4 * config.batch_size),
            ),
            signature=transition_signature(config.n_step),
        ),
        reverb.Table(
            name=VARIABLES,
            sampler=reverb.selectors.Lifo(),
            remover=reverb.selectors.Fifo(),
            max_size=1,
            rate_limiter=reverb.rate_limiters.MinSize(1),
        ),
        episodes_table(),
    ]
    return {table.name: table for table in tables}
