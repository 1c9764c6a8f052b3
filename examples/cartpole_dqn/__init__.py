"""Prioritized double DQN on CartPole-v1: two actor processes, one learner, one reverb_tf server.

Run it with `python -m examples.cartpole_dqn`; `--help` lists the settings.

The parts:
  config.py     the settings, all of them flags of the command
  network.py    the Q-network as plain numpy (what the actors use)
  replay.py     the tables of the server
  transition.py what an item of the replay table is made of
  actor.py      the program of an actor process; needs no TensorFlow
  learner.py    the learner: one `tf.function`
  evaluation.py which policy is best, and how good it is
  report.py     progress bar and learning curve
What other examples need too is in examples/common.
"""
