"""The generated messages and op wrappers, under the paths that dm-reverb gives them."""

import importlib
from typing import Any

_MODULES = ("checkpointing", "ops", "patterns_pb2", "schema_pb2")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
