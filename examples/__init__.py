"""Runnable examples of reverb_tf."""
