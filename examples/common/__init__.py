"""What the examples share."""
