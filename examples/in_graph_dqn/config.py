"""Settings of the example, each one a flag of the command."""

from __future__ import annotations

import dataclasses

from examples.cartpole_dqn import config
from examples.common.settings import setting


@dataclasses.dataclass(frozen=True)
class Config(config.Config):
    """Those of `examples.cartpole_dqn`, and some more."""

    PROGRAM = "examples.in_graph_dqn"
    DESCRIPTION = "Prioritized double DQN on CartPole in one graph, with reverb_tf."

    environments: int = setting(8, "environments that are stepped together")
    steps_per_call: int = setting(500, "gradient steps of one call of the graph")
    plot: str = setting("build/in_graph_dqn.png", "where the learning curve goes")

    @property
    def learn_steps(self) -> int:
        """Gradient steps after each step of the environments, by the target replay ratio."""
        return max(1, round(self.environments * self.samples_per_insert / self.batch_size))
