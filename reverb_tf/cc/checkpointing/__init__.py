"""The generated messages, under the paths that dm-reverb gives them."""
