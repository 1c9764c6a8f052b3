"""Nests as `tf.data` wants them."""

from typing import Any


def lists_to_tuples(nest: Any) -> Any:
    """Replaces lists by tuples at every level: `tf.data` takes a list for a tensor."""
    if isinstance(nest, list):
        return tuple(lists_to_tuples(value) for value in nest)
    if isinstance(nest, tuple):
        values = [lists_to_tuples(value) for value in nest]
        return type(nest)(*values) if hasattr(nest, "_fields") else tuple(values)
    if isinstance(nest, dict):
        result = nest.copy()
        result.update((key, lists_to_tuples(value)) for key, value in nest.items())
        return result
    return nest
