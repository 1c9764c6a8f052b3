"""What a platform may replace: where checkpoints go, how flags are read. Paths as in dm-reverb."""
