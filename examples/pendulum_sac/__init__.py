"""SAC on Pendulum-v1: an actor in another process, a learner in one `tf.function`, one reverb_tf server.

Run it with `python -m examples.pendulum_sac`; `--help` lists the settings.

The parts:
  config.py    the settings, all of them flags of the command
  policy.py    the policy as plain numpy (what the actor uses)
  tables.py    the tables of the server
  actor.py     the program of the actor process
  learner.py   the learner: one `tf.function`
  __main__.py  the command
"""
