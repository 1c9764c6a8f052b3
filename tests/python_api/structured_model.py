"""What a structured writer does, in plain Python: lists of all steps, and slices of them."""

import dataclasses
import statistics
from typing import Any

import numpy as np


@dataclasses.dataclass
class Item:
    table: str
    priority: float
    columns: list[Any]  # nested lists


class Model:
    """Follows a StructuredWriter. Values are numpy arrays or None (absent)."""

    def __init__(self, configs):
        self._configs = configs
        self._history = [max(self._age(node) for node in config.flat) for config in configs]
        self._steps = []  # since buffers were cleared; a list of values each
        self._step_index = -1
        self._step_is_open = False
        self._used = {node.flat_source_index for config in configs for node in config.flat}
        for config in configs:
            self._used.update(
                condition.flat_source_index
                for condition in config.conditions
                if condition.WhichOneof("left") == "flat_source_index"
            )
        self._total = 0  # steps ever
        self._since = [0] * len(configs)
        self._counted = [0] * len(configs)  # the step, counted from 1, that is in `since`
        self._applied = [0] * len(configs)  # the step, counted from 1, that it was applied at

    @staticmethod
    def _age(node):
        return -node.start if node.HasField("start") else -node.stop

    def can_append(self, values) -> bool:
        """Whether no used column is set twice in a step."""
        return not self._step_is_open or all(
            values[i] is None or self._steps[-1][i] is None for i in self._used
        )

    def append(self, values, partial_step) -> list[Item]:
        if self._step_is_open:
            self._steps[-1] = [
                old if new is None else new
                for old, new in zip(self._steps[-1], values, strict=True)
            ]
        else:
            self._steps.append(list(values))
            self._step_index += 1
            self._total += 1
        self._step_is_open = partial_step
        return self._evaluate(False)

    def end_episode(self, clear_buffers) -> list[Item]:
        items = self._evaluate(True) if self._step_index >= 0 else []
        self._step_index = -1
        self._step_is_open = False
        if clear_buffers:
            self._steps = []
        return items

    def _evaluate(self, at_end):
        newest = self._steps[-1]
        if all(newest[i] is None for i in self._used):
            return []
        items = []
        for i, config in enumerate(self._configs):
            if self._applied[i] == self._total:
                continue
            if self._counted[i] != self._total:
                self._counted[i] = self._total
                self._since[i] += 1
            if len(self._steps) < self._history[i]:
                continue
            if not all(self._holds(c, self._since[i], at_end) for c in config.conditions):
                continue
            columns = [self._select(node) for node in config.flat]
            if any(value is None for column in columns for value in column):
                continue
            self._applied[i] = self._total
            self._since[i] = 0
            items.append(
                Item(
                    config.table,
                    self._priority(config, columns),
                    [
                        np.stack(column).tolist() if node.HasField("start") else column[0].tolist()
                        for node, column in zip(config.flat, columns, strict=True)
                    ],
                )
            )
        return items

    def _select(self, node):
        steps = [step[node.flat_source_index] for step in self._steps]
        if not node.HasField("start"):
            return [steps[node.stop]]
        return steps[slice(node.start, node.stop or None, node.step or None)]

    def _holds(self, condition, since, at_end):
        left = {
            "step_index": self._step_index,
            "steps_since_applied": since,
            "buffer_length": min(len(self._steps), max(self._history)),
            "is_end_episode": int(at_end),
            "flat_source_index": self._steps[-1][condition.flat_source_index],
        }[condition.WhichOneof("left")]
        if isinstance(left, np.ndarray):
            if left.size != 1 or left.dtype.kind not in "iub":
                return False
            left = int(left.item())
        if left is None:
            return False
        result = {
            "eq": left == condition.eq,
            "ge": left >= condition.ge,
            "mod_eq": left % (condition.mod_eq.mod or 1) == condition.mod_eq.eq,
        }[condition.WhichOneof("cmp")]
        return result != condition.inverse

    def _priority(self, config, columns):
        if config.priority.WhichOneof("priority_fn") == "constant_fn":
            return config.priority.constant_fn.value
        td_error = config.priority.td_error
        values = None
        for node, column in zip(config.flat, columns, strict=True):
            if node.flat_source_index == td_error.flat_source_index:
                values = [abs(float(value.item())) for value in column]
        if values is None:
            return 0.0
        weight = td_error.max_priority_weight
        return weight * max(values) + (1 - weight) * statistics.fmean(values)
