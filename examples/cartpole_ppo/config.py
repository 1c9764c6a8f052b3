"""Settings of the example, each one a flag of the command."""

from __future__ import annotations

import dataclasses

from examples.common.settings import Settings, setting


@dataclasses.dataclass(frozen=True)
class Config(Settings):
    """All settings."""

    PROGRAM = "examples.cartpole_ppo"
    DESCRIPTION = "PPO on CartPole-v1 with reverb_tf."

    seed: int = setting(0, "seed of networks, environments and exploration")
    updates: int = setting(60, "times that the policy is improved and published")
    steps_per_update: int = setting(2_000, "least steps of the episodes of one update")
    epochs: int = setting(8, "times that an update goes over its episodes")
    batch_size: int = setting(200, "steps in a gradient step")
    learning_rate: float = setting(1e-3, "of Adam at the start; falls linearly to zero")
    gamma: float = setting(0.99, "discount of the return")
    gae_lambda: float = setting(0.95, "decay of the advantage estimates")
    clip: float = setting(0.2, "how far from 1 the ratio of probabilities is followed")
    entropy: float = setting(0.005, "weight of the bonus for entropy")
    hidden_units: int = setting(64, "units in each of the two hidden layers")
    collectors: int = setting(2, "collector processes")
    queue_size: int = setting(2, "episodes that may wait for the learner")
    evaluation_episodes: int = setting(20, "greedy episodes at the end")
    goal: float = setting(400.0, "average return below which the exit code is 1")
    plot: str = setting("build/cartpole_ppo.png", "where the learning curve goes")
