"""PPO on CartPole-v1: collectors in other processes, weights through a VariableContainer, episodes through a queue.

Run it with `python -m examples.cartpole_ppo`; `--help` lists the settings.

The parts:
  config.py     the settings, all of them flags of the command
  tables.py     the two tables of the server
  collector.py  the program of a collector process
  learner.py    the learner
  __main__.py   the command
"""
