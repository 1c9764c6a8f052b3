"""CartPole-v1 as TensorFlow ops, many environments at once.

The equations of motion are those of Barto, Sutton and Anderson 1983, the constants those of gymnasium.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

_GRAVITY = 9.8
_MASS_OF_CART = 1.0
_MASS_OF_POLE = 0.1
_HALF_LENGTH = 0.5  # of the pole
_FORCE = 10.0
_SECONDS = 0.02  # of a step
_MAX_POSITION = 2.4
_MAX_ANGLE = 12 * 2 * 3.141592653589793 / 360
_START = 0.05  # each number of the first observation is between -_START and _START
MAX_STEPS = 500


class State(NamedTuple):
    """Of B environments."""

    observation: tf.Tensor  # position, speed, angle and its speed; float32 [B, 4]
    steps: tf.Tensor  # of the episode so far; int64 [B]


class Outcome(NamedTuple):
    """Of one step of B environments. The reward is 1."""

    state: State
    terminated: tf.Tensor  # the pole fell or the cart left; bool [B]
    truncated: tf.Tensor  # the time was over; bool [B]


def start(num_environments: int, seed: tf.Tensor) -> State:
    """The beginning of episodes.

    Args:
      num_environments: how many.
      seed: int64 [2]; equal seeds begin equally.
    """
    observation = tf.random.stateless_uniform([num_environments, 4], seed, -_START, _START)
    return State(observation, tf.zeros([num_environments], tf.int64))


def step(state: State, action: tf.Tensor) -> Outcome:
    """Pushes the carts.

    Args:
      state: where they are.
      action: 0 pushes to the left, 1 to the right; integer [B].
    """
    position, speed, angle, turn = tf.unstack(state.observation, axis=1)
    force = tf.where(action == 1, _FORCE, -_FORCE)
    mass = _MASS_OF_CART + _MASS_OF_POLE
    cosine, sine = tf.cos(angle), tf.sin(angle)
    push = (force + _MASS_OF_POLE * _HALF_LENGTH * turn**2 * sine) / mass
    turn_rate = (_GRAVITY * sine - cosine * push) / (
        _HALF_LENGTH * (4.0 / 3.0 - _MASS_OF_POLE * cosine**2 / mass)
    )
    acceleration = push - _MASS_OF_POLE * _HALF_LENGTH * turn_rate * cosine / mass
    observation = tf.stack(
        [
            position + _SECONDS * speed,
            speed + _SECONDS * acceleration,
            angle + _SECONDS * turn,
            turn + _SECONDS * turn_rate,
        ],
        axis=1,
    )
    steps = state.steps + 1
    terminated = (tf.abs(observation[:, 0]) > _MAX_POSITION) | (
        tf.abs(observation[:, 2]) > _MAX_ANGLE
    )
    return Outcome(State(observation, steps), terminated, ~terminated & (steps >= MAX_STEPS))


def where(condition: tf.Tensor, a: State, b: State) -> State:
    """The states of `a` where `condition` (bool [B]) is true, else those of `b`."""
    return State(
        tf.where(condition[:, None], a.observation, b.observation),
        tf.where(condition, a.steps, b.steps),
    )
