"""Settings of the example, each one a flag of the command."""

from __future__ import annotations

import dataclasses

from examples.common.settings import Settings, setting


@dataclasses.dataclass(frozen=True)
class Config(Settings):
    """All settings."""

    PROGRAM = "examples.pendulum_sac"
    DESCRIPTION = "Soft actor-critic on Pendulum-v1 with reverb_tf."

    seed: int = setting(0, "seed of networks, environment and exploration")
    steps: int = setting(10_000, "gradient steps of the learner")
    batch_size: int = setting(128, "transitions in a batch")
    learning_rate: float = setting(1e-3, "of Adam")
    gamma: float = setting(0.98, "discount of the return")
    hidden_units: int = setting(64, "units in each of the two hidden layers")
    target_rate: float = setting(0.01, "share of the critics mixed into their targets a step")
    target_entropy: float = setting(-1.0, "that the temperature is tuned for")
    table_size: int = setting(50_000, "transitions the replay table holds")
    min_table_size: int = setting(1_000, "transitions, of random actions, before the first batch")
    updates_per_step: float = setting(1.0, "gradient steps for each step, kept by the limiter")
    evaluation_episodes: int = setting(20, "greedy episodes at the end")
    goal: float = setting(-200.0, "average return below which the exit code is 1")
    plot: str = setting("build/pendulum_sac.png", "where the learning curve goes")
