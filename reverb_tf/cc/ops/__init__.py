"""The wrappers of the TensorFlow ops, under the path that dm-reverb gives them."""

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name == "gen_reverb_ops":
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
