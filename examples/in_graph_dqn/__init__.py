"""Prioritized double DQN on CartPole in one graph: environment, writer, replay and learner.

Run it with `python -m examples.in_graph_dqn`; `--help` lists the settings.

The parts:
  config.py    the settings, all of them flags of the command
  cartpole.py  the environment as TensorFlow ops, many at once
  agent.py     the `tf.function` that acts, writes, samples, learns and updates priorities
The networks, the tables, the evaluation and the report are those of `examples.cartpole_dqn`, which has the same agent
with actors in processes of their own.
"""
