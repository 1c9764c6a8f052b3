"""The name `reverb` for this package."""

import importlib
import importlib.util
import sys
import types
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from typing import Any

_OURS = "reverb_tf"
_ALIAS = "reverb"


def _renamed(name: str, old: str, new: str) -> str | None:
    """`name` with `new` in place of the package `old`; None if it is not in that package."""
    if name == old or name.startswith(old + "."):
        return new + name[len(old) :]
    return None


class _Loader:
    """Loads a module of the alias by loading ours: both are one object."""

    def __init__(self, ours: str):
        self._ours = ours
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        module = importlib.import_module(self._ours)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put the alias' in its place

    def get_code(self, fullname: str) -> Any:
        """For `python -m`."""
        spec = importlib.util.find_spec(self._ours)
        return spec.loader.get_code(spec.name)  # type: ignore[union-attr]


class _Finder:
    """Finds `reverb.x` where `reverb_tf.x` exists. Nothing is imported before it is asked for."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        ours = _renamed(fullname, _ALIAS, _OURS)
        found = importlib.util.find_spec(ours) if ours is not None else None
        if ours is None or found is None:
            return None
        locations = found.submodule_search_locations
        spec = ModuleSpec(
            fullname, _Loader(ours), origin=found.origin, is_package=locations is not None
        )
        spec.submodule_search_locations = locations
        return spec


def install_as_reverb() -> None:
    """Makes `import reverb`, `import reverb.client`, ... import this package, for the whole process.

    The modules are the same objects under both names. Programs written for dm-reverb, TF-Agents' and Acme's among them,
    run unmodified after it. May be called again.

    Raises:
      RuntimeError: Something has imported another `reverb` before.
    """
    for name, module in list(sys.modules.items()):
        ours = _renamed(name, _ALIAS, _OURS)
        if ours is not None and module is not None and module is not sys.modules.get(ours):
            raise RuntimeError(
                f"{name!r} is already imported from {getattr(module, '__file__', 'elsewhere')}: call "
                "reverb_tf.install_as_reverb() before anything imports dm-reverb."
            )
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())  # type: ignore[arg-type]
    for name, module in list(sys.modules.items()):
        alias = _renamed(name, _OURS, _ALIAS)
        if alias is not None:
            sys.modules[alias] = module
