"""What configs of structured writers are made of: nodes of patterns, conditions, priorities."""

import operator
from collections.abc import Callable
from typing import Any

from reverb_tf._native import _reverb
from reverb_tf.proto import patterns_pb2

_Condition = patterns_pb2.Condition


class ReferenceNode:
    """A leaf of a reference step: indexing it gives the node of a pattern."""

    def __init__(self, flat_source_index: int):
        self._flat_source_index = flat_source_index

    def __getitem__(self, key: int | slice) -> patterns_pb2.PatternNode:
        node = patterns_pb2.PatternNode(flat_source_index=self._flat_source_index)
        if isinstance(key, int):
            node.stop = key
        elif isinstance(key, slice):
            for name in ("start", "stop", "step"):
                value = getattr(key, name)
                if value is not None:
                    setattr(node, name, operator.index(value))
        else:
            raise ValueError(f"a pattern is made by an int or a slice, got {key!r}")
        return node

    def __repr__(self) -> str:
        return f"column {self._flat_source_index} of a reference step, without an index"


def map_structure(structure: Any, make_leaf: Callable[[int], Any]) -> Any:
    """A nest like `structure` with make_leaf(i) in place of leaf number i."""
    shape = _reverb.Structure(structure)
    return shape.rebuild([make_leaf(i) for i in range(len(shape))])


class Condition:
    """What a condition compares. Comparing one with an int (`==`, `!=`, `>=`, `>`, `<=`, `<`) gives the condition.

    `x % n` may be compared by `==` and `!=`; it is never negative.
    """

    __hash__ = None  # type: ignore[assignment]  # == makes a condition

    def __init__(self, left: _Condition, modulus: int | None = None):
        """Use the static methods instead."""
        self._left = left
        self._modulus = modulus

    @staticmethod
    def step_index() -> "Condition":
        """Steps of the episode before this one."""
        return Condition(_Condition(step_index=True))

    @staticmethod
    def steps_since_applied() -> "Condition":
        """Steps since the config made an item last, or since the writer was created; this step counts."""
        return Condition(_Condition(steps_since_applied=True))

    @staticmethod
    def is_end_episode() -> _Condition:
        """Holds in end_episode() only. This is a condition; do not compare it."""
        return _Condition(is_end_episode=True, eq=1)

    @staticmethod
    def data(step_structure: Any) -> Any:
        """Values of the newest step: integers or bools of one element. A condition on anything else never holds.

        Args:
          step_structure: Nest like the steps that will be appended.

        Returns:
          The same nest with something to be compared at each leaf.
        """
        return map_structure(step_structure, lambda i: Condition(_Condition(flat_source_index=i)))

    def __mod__(self, modulus: int) -> "Condition":
        if self._modulus is not None:
            raise ValueError("% can be used once in a condition")
        return Condition(self._left, operator.index(modulus))

    def __eq__(self, value: int) -> _Condition:  # type: ignore[override]
        value = operator.index(value)
        if self._modulus is None:
            return self._compare(eq=value)
        return self._compare(mod_eq=_Condition.ModuloEq(mod=self._modulus, eq=value))

    def __ne__(self, value: int) -> _Condition:  # type: ignore[override]
        return _inverse(self == value)

    def __ge__(self, value: int) -> _Condition:
        value = operator.index(value)
        if self._modulus is not None:
            raise ValueError("after %, a condition can only be compared by == and !=")
        return self._compare(ge=value)

    def __gt__(self, value: int) -> _Condition:
        return self >= operator.index(value) + 1

    def __lt__(self, value: int) -> _Condition:
        return _inverse(self >= value)

    def __le__(self, value: int) -> _Condition:
        return _inverse(self > value)

    def _compare(self, **comparison: Any) -> _Condition:
        condition = _Condition(**comparison)
        condition.MergeFrom(self._left)
        return condition


def _inverse(condition: _Condition) -> _Condition:
    condition.inverse = True
    return condition


def constant_priority_fn(value: float) -> patterns_pb2.Priority:
    """Every item gets the priority `value`."""
    return patterns_pb2.Priority(constant_fn=patterns_pb2.Priority.ConstantPriorityFn(value=value))


def td_error(
    max_priority_weight: float, step_structure: Any, get_field_from_step_fn: Callable[[Any], Any]
) -> patterns_pb2.Priority:
    """Computes priorities of TD errors that are in the steps.

    With the absolute values that the pattern selects of the field (its last node that does), the priority is
    `max_priority_weight * max + (1 - max_priority_weight) * mean`; 0.0 if the pattern does not use the field.

    Args:
      max_priority_weight: Usually from 0 to 1.
      step_structure: Nest like the steps that will be appended.
      get_field_from_step_fn: Takes such a nest and returns the leaf with the TD error: one number of dtype float64,
        float32, int32 or int64.

    Returns:
      The priority, for create_config().

    Raises:
      TypeError: The function does not return one leaf.
    """
    index = get_field_from_step_fn(map_structure(step_structure, lambda i: i))
    if not isinstance(index, int):
        raise TypeError(
            f"get_field_from_step_fn must return one leaf of its argument, got {index!r}"
        )
    return patterns_pb2.Priority(
        td_error=patterns_pb2.Priority.TDError(
            max_priority_weight=max_priority_weight, flat_source_index=index
        )
    )
