"""Loads the native module, or says in one sentence why it cannot be loaded."""

try:
    from reverb_tf import _reverb
except ImportError as e:
    raise ImportError(
        "The native part of reverb_tf could not be loaded: it is built for each Python version by `make` in a checkout "
        f"or by `pip install .` ({e})."
    ) from e

__all__ = ["_reverb"]
