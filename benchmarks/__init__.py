"""Benchmarks of reverb_tf beside dm-reverb: `python -m benchmarks.compare`."""
