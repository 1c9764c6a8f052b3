"""Settings of the example, each one a flag of the command."""

from __future__ import annotations

import dataclasses

from examples.common.settings import Settings, setting

# The tables of the server.
REPLAY = "replay"  # transitions, drawn by priority
VARIABLES = "variables"  # one item: the learner's newest weights and the highest priority so far


@dataclasses.dataclass(frozen=True)
class Config(Settings):
    """All settings."""

    PROGRAM = "examples.cartpole_dqn"
    DESCRIPTION = "Prioritized double DQN on CartPole-v1 with reverb_tf."

    seed: int = setting(0, "seed of networks, environments and exploration")
    steps: int = setting(10_000, "gradient steps of the learner")
    batch_size: int = setting(128, "transitions in a batch")
    learning_rate: float = setting(1e-3, "of Adam at the start; falls linearly to a tenth")
    gamma: float = setting(0.99, "discount of the return")
    n_step: int = setting(3, "rewards summed before bootstrapping")
    hidden_units: int = setting(128, "units in each of the two hidden layers")
    target_rate: float = setting(0.01, "share of the online network mixed into the target a step")
    priority_exponent: float = setting(0.6, "alpha of prioritized replay; 0 samples uniformly")
    importance_exponent: float = setting(0.4, "beta at the start; rises linearly to 1")
    table_size: int = setting(50_000, "transitions the replay table holds")
    min_table_size: int = setting(1_000, "transitions before the first batch")
    samples_per_insert: float = setting(32.0, "target replay ratio, kept by the rate limiter")
    actors: int = setting(2, "actor processes")
    epsilon: float = setting(0.02, "exploration of the first actor; each next one has 5 times more")
    epsilon_steps: int = setting(4_000, "steps over which an actor comes down from random acting")
    validation_steps: int = setting(500, "steps between two validations of the greedy policy")
    evaluation_episodes: int = setting(20, "greedy episodes at the end")
    goal: float = setting(400.0, "average return below which the exit code is 1")
    plot: str = setting("build/cartpole_dqn.png", "where the learning curve goes")
