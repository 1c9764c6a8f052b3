"""What an item of the replay table is made of, whichever writer has the steps."""

from __future__ import annotations

from typing import Any


def n_step_transition(history: dict[str, Any], n_step: int) -> dict[str, Any]:
    """The transition that ends with the observation of the newest step.

    Args:
      history: of a `TrajectoryWriter` or a `TFTrajectoryWriter`, whose steps have `observation`, `action`, `reward` and
        `discount`: `action` was taken on `observation`, then `reward` and `discount` were received.
      n_step: rewards in the transition. It has n_step + 1 steps, and only refers to them: those of transitions that
        overlap are stored once.

    Returns:
      The trajectory, of the form that `replay.transition_signature` says.
    """
    first = -n_step - 1
    return {
        "observation": history["observation"][first],
        "action": history["action"][first],
        "reward": history["reward"][first:-1],
        "discount": history["discount"][first:-1],
        "next_observation": history["observation"][-1],
    }
