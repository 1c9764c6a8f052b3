"""Nests of values that are taken apart by a signature."""

from collections.abc import Mapping
from typing import Any

from reverb_tf import _signature


class StructureError(Exception):
    """A nest is not built like the signature; the text says where and how."""


def _is_sequence(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _kind(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"a dict with the keys {sorted(value, key=str)}"
    if _is_sequence(value):
        return f"a sequence of {len(value)}"
    return f"one value ({type(value).__name__})"


def _is_like(signature: Any, nest: Any) -> bool:
    if isinstance(signature, Mapping):
        return isinstance(nest, Mapping) and set(nest) == set(signature)
    if _is_sequence(signature):
        return _is_sequence(nest) and len(nest) == len(signature)
    return not isinstance(nest, Mapping) and not _is_sequence(nest)


def _join(path: str, key: Any) -> str:
    return f"{path}/{key}" if path else str(key)


def leaves(signature: Any, nest: Any, path: str = "") -> list[tuple[str, Any]]:
    """The leaves of a nest that is built like a signature, whichever sequence types it has.

    Args:
      signature: Nest of dicts, lists, tuples and named tuples, whose leaves may be anything else.
      nest: What is taken apart.
      path: Of both, in a larger nest.

    Returns:
      Path ("layers/0/kernel") and value of each leaf, in the order of the signature's.

    Raises:
      StructureError: They differ in more than sequence types.
    """
    if not _is_like(signature, nest):
        where = f" at '{path}'" if path else ""
        raise StructureError(f"got {_kind(nest)}{where}, expected {_kind(signature)}")
    if isinstance(signature, Mapping):
        pairs = [(key, signature[key], nest[key]) for key in sorted(signature)]
    elif _is_sequence(signature):
        keys = getattr(signature, "_fields", range(len(signature)))
        pairs = list(zip(keys, signature, nest, strict=True))
    else:
        return [(path, nest)]
    return [leaf for key, s, n in pairs for leaf in leaves(s, n, _join(path, key))]


def build(signature: Any, values: list[Any]) -> Any:
    """A nest like a signature, of as many values as that has leaves, in their order."""
    return _build(signature, iter(values))


def _build(signature: Any, values: Any) -> Any:
    if isinstance(signature, Mapping):
        made = {key: _build(signature[key], values) for key in sorted(signature)}
        return {key: made[key] for key in signature}
    if isinstance(signature, tuple) and hasattr(signature, "_fields"):
        return type(signature)(*(_build(value, values) for value in signature))
    if _is_sequence(signature):
        return type(signature)(_build(value, values) for value in signature)
    return next(values)


def specs(signature: Any) -> list[tuple[str, Any]]:
    """Path and spec of each leaf of a table's signature.

    Raises:
      StructureError: A leaf is no spec of a tensor.
    """
    pairs = leaves(signature, signature)
    for path, leaf in pairs:
        if not _signature.is_spec(leaf):
            raise StructureError(f"the leaf at '{path}' is {leaf!r}, expected the spec of a tensor")
    return pairs
