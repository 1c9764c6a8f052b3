"""The reverb_server command."""
