"""What travels between the learner and the collectors, and the server of it."""

from __future__ import annotations

import tensorflow as tf

import reverb_tf as reverb
from examples.cartpole_dqn import network

EPISODES = "episodes"


def episode_signature() -> dict[str, tf.TensorSpec]:
    """What an item is: an episode of T steps, and the observation after it."""
    return {
        "observation": tf.TensorSpec([None, network.OBSERVATION_SIZE], tf.float32),  # T + 1
        "action": tf.TensorSpec([None], tf.int32),
        "log_probability": tf.TensorSpec([None], tf.float32),  # of the action, when it was taken
        "reward": tf.TensorSpec([None], tf.float32),
        "discount": tf.TensorSpec([], tf.float32),  # 0 if the pole fell, 1 if the time was up
        "version": tf.TensorSpec([], tf.int64),  # of the weights of the policy that acted
    }


def make_server(policy: list[tf.Variable], queue_size: int) -> reverb.Server:
    """A queue of episodes, which holds the collectors back when it is full, and the newest policy."""
    return reverb.Server(
        [
            reverb.Table.queue(EPISODES, queue_size, signature=episode_signature()),
            reverb.variable_table(policy),
        ]
    )
