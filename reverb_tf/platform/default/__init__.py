"""What is used where nothing else is said."""
