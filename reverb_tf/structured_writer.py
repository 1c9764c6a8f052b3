"""Writes steps, and makes items of them by patterns that are given once.

A pattern is a nest of slices of a reference step, which has the structure of the data:

    step = create_reference_step({"observation": None, "reward": None})
    config = create_config(
        pattern={"observations": step["observation"][-3:], "last_reward": step["reward"][-1]},
        table="replay",
        conditions=[Condition.step_index() % 2 == 0],
    )
    writer = client.structured_writer([config])

After each append, every config whose conditions hold makes an item. Negative indices count from the newest step.
"""

import math
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

from reverb_tf import _signature, _writing, errors
from reverb_tf._native import _reverb
from reverb_tf._pattern_parts import (
    Condition,
    ReferenceNode,
    constant_priority_fn,
    map_structure,
    td_error,
)
from reverb_tf.proto import patterns_pb2

__all__ = [
    "Condition",
    "ConditionProto",
    "Config",
    "Pattern",
    "PatternTransform",
    "ReferenceStep",
    "StructuredWriter",
    "constant_priority_fn",
    "create_config",
    "create_reference_step",
    "infer_signature",
    "pattern_from_transform",
    "td_error",
    "unpack_pattern",
]

Config = patterns_pb2.StructuredWriterConfig
ConditionProto = patterns_pb2.Condition

# A nest of PatternNode messages.
Pattern = Any
# A nest whose leaves become PatternNode messages when they are indexed.
ReferenceStep = Any
PatternTransform = Callable[[ReferenceStep], Pattern]

_COLUMN = re.compile(r" for column (\d+)\. ")


class StructuredWriter:
    """Writes steps to a server, and the items that configs make of them.

    Use Client.structured_writer() to create one. A writer is for one thread at a time.

    A `with` block flushes at its end. A writer that is dropped flushes for one second at most, and logs if items are
    lost then.
    """

    def __init__(self, cpp_writer: Any):
        """Wraps the native writer."""
        self._writer = cpp_writer

    def __enter__(self) -> "StructuredWriter":
        return self

    def __exit__(self, exc_type: type[BaseException] | None, exc: Any, traceback: Any) -> None:
        _writing.flush_at_exit(self.flush, exc_type)

    @property
    def step_is_open(self) -> bool:
        """Whether the last append was partial and the episode has not ended since."""
        return self._writer.step_is_open

    def append(
        self, data: Any, *, partial_step: bool = False, timeout: float | None = None
    ) -> None:
        """Appends one step and makes the items that are due then.

        Args:
          data: Nest of arrays (or what numpy makes arrays of) with the structure of the first step; None for a field
            that is absent. The dtype and shape of a field must not change. Fields that no config uses are ignored.
          partial_step: The next append adds fields to this step, which must not be set yet, instead of starting
            another. Items are made after each part; each config makes at most one of a step.
          timeout: Seconds that this may wait because too much is unconfirmed; None: no limit.

        Raises:
          ValueError: The structure, a dtype or a shape changed, or a value of which a td_error priority should be
            computed is not one finite number of dtype float64, float32, int32 or int64. Nothing was appended.
          TypeError: A leaf cannot be stored. Nothing was appended.
          FailedPreconditionError: A field is set twice in a step. Nothing was appended.
          DeadlineExceededError: The step was appended if there was room before; the next call makes the items that are
            missing.
          ReverbError: The stream to the server has failed for good.
        """
        try:
            self._writer.append(data, bool(partial_step), timeout)
        except (ValueError, errors.FailedPreconditionError) as e:
            raise self._with_path(e) from None

    def flush(
        self,
        block_until_num_items: int = 0,
        timeout_ms: int | None = None,
        *,
        timeout: float | None = None,
    ) -> None:
        """Sends everything and waits for confirmations.

        Args:
          block_until_num_items: >= 0, how many items may still be unconfirmed when this returns.
          timeout_ms: Milliseconds; None: no limit, 0: do not wait.
          timeout: Seconds, instead of `timeout_ms`.

        Raises:
          ValueError: An argument is negative.
          DeadlineExceededError: More items were still unconfirmed after that time. They stay queued.
        """
        block_until_num_items = operator.index(block_until_num_items)
        if block_until_num_items < 0:
            raise ValueError(f"block_until_num_items must be >= 0, got {block_until_num_items}")
        self._writer.flush_within(block_until_num_items, _seconds(timeout_ms, timeout))

    def end_episode(
        self,
        clear_buffers: bool = True,
        timeout_ms: int | None = None,
        *,
        timeout: float | None = None,
    ) -> None:
        """Makes the items that are due at the end of an episode, flushes, then begins a new episode.

        Args:
          clear_buffers: Patterns do not reach back into steps before this; else they may.
          timeout_ms: Milliseconds; None: no limit, 0: do not wait.
          timeout: Seconds, instead of `timeout_ms`.

        Raises:
          ValueError: An argument is negative.
          DeadlineExceededError: Items were still unconfirmed after that time. The episode goes on.
        """
        self._writer.end_episode_within(bool(clear_buffers), _seconds(timeout_ms, timeout))

    def _with_path(self, error: Exception) -> Exception:
        """The error with ` for column 3.` extended by the path of column 3."""
        found = _COLUMN.search(str(error))
        paths = self._writer.paths()
        if found is None or int(found.group(1)) >= len(paths):
            return error
        end = found.end(1)
        return type(error)(
            f"{str(error)[:end]} (path={paths[int(found.group(1))]}){str(error)[end:]}"
        )


def _seconds(timeout_ms: int | None, timeout: float | None) -> float | None:
    _writing.check_timeouts(timeout_ms, timeout)
    return timeout if timeout_ms is None else timeout_ms / 1000


def create_reference_step(step_structure: Any) -> ReferenceStep:
    """Makes what patterns are cut from.

    Args:
      step_structure: Nest like the steps that will be appended; its leaves may be anything.

    Returns:
      The same nest. `leaf[i]` selects one step, without a leading axis, and `leaf[a:b:c]` several; other indices raise
      ValueError. Whether the numbers make sense is found out when the writer is created.
    """
    return map_structure(step_structure, ReferenceNode)


def pattern_from_transform(step_structure: Any, transform: PatternTransform) -> Pattern:
    """Returns `transform(create_reference_step(step_structure))`."""
    return transform(create_reference_step(step_structure))


def create_config(
    pattern: Pattern,
    table: str,
    conditions: Sequence[ConditionProto] = (),
    priority: patterns_pb2.Priority | None = None,
) -> Config:
    """Describes items to be made.

    Args:
      pattern: Nest of nodes cut from a reference step: the structure of the items.
      table: Name of the table that the items go to.
      conditions: Of `Condition`; all must hold.
      priority: Of `constant_priority_fn` or `td_error`; None: 1.0.

    Returns:
      The config, for Client.structured_writer().

    Raises:
      TypeError: A leaf of `pattern` is no node, or a condition was not compared with anything.
      ValueError: `pattern` has containers that a table's signature cannot have.
    """
    nodes = _reverb.flatten(pattern)
    for node in nodes:
        if not isinstance(node, patterns_pb2.PatternNode):
            raise TypeError(
                f"leaves of a pattern are leaves of a reference step with an index, got {node!r}"
            )
    for condition in conditions:
        if not isinstance(condition, ConditionProto):
            raise TypeError(f"a condition is a comparison of a Condition, got {condition!r}")
    return Config(
        flat=nodes,
        pattern_structure=_signature.encode(map_structure(pattern, lambda _: None)),
        table=table,
        priority=constant_priority_fn(1.0) if priority is None else priority,
        conditions=conditions,
    )


def unpack_pattern(config: Config) -> Pattern:
    """Returns the pattern of a config; a flat sequence of nodes if the config does not have its structure."""
    if not config.HasField("pattern_structure"):
        return config.flat
    return _reverb.Structure(_signature.decode(config.pattern_structure)).rebuild(config.flat)


def infer_signature(configs: Sequence[Config], step_spec: Any) -> Any:
    """Says what the items of some configs look like: the signature of their table.

    Args:
      configs: At least one. All have the same structure and table.
      step_spec: Nest like the steps, whose leaves have a `shape` and a `dtype`.

    Returns:
      Nest of specs (of TensorFlow where that is in use) with the structure of the pattern, named by their paths. A
      leading dimension that differs between configs is None.

    Raises:
      ValueError: There are no configs; structures or tables differ; or the configs make columns of different dtypes, or
        of shapes that differ in more than the leading dimension.
    """
    if not configs:
        raise ValueError("At least one config must be provided.")
    first = configs[0]
    if any(
        config.pattern_structure != first.pattern_structure or len(config.flat) != len(first.flat)
        for config in configs
    ):
        raise ValueError("All configs must have exactly the same pattern_structure.")
    tables = sorted({config.table for config in configs})
    if len(tables) > 1:
        raise ValueError(
            "All configs must target the same table but provided configs included "
            f"{', '.join(tables)}."
        )
    sources = _reverb.flatten(step_spec)
    structure = unpack_pattern(first)
    specs = []
    for i, (path, _) in enumerate(_reverb.flatten_with_path(structure)):
        specs.append(_merge(path, [_node_spec(config.flat[i], sources) for config in configs]))
    return _reverb.Structure(structure).rebuild(specs)


def _node_spec(node: patterns_pb2.PatternNode, sources: list[Any]) -> Any:
    """The spec of what a node selects of a step with these specs."""
    if not 0 <= node.flat_source_index < len(sources):
        raise ValueError(
            f"a config uses column {node.flat_source_index}, but step_spec has {len(sources)} leaves"
        )
    source = sources[node.flat_source_index]
    dims = _signature.dims_of(source.shape)
    if node.HasField("start") and dims is not None:
        dims = (math.ceil((node.stop - node.start) / (node.step or 1)), *dims)
    return _signature.make_spec(dims, source.dtype)


def _merge(path: tuple[Any, ...], specs: list[Any]) -> Any:
    """The spec that all of `specs` satisfy."""
    dtypes = [spec.dtype for spec in specs]
    if any(dtype != dtypes[0] for dtype in dtypes):
        raise ValueError(
            f"Configs produce trajectories with multiple dtypes at {path}. Got {dtypes}."
        )
    shapes = [_signature.dims_of(spec.shape) for spec in specs]
    merged = shapes[0]
    if any(shape != merged for shape in shapes):
        rests = [shape and (len(shape), *shape[1:]) for shape in shapes]
        if any(rest != rests[0] for rest in rests):
            raise ValueError(
                f"Configs produce trajectories with incompatible shapes at {path}. Got {shapes}."
            )
        merged = (None, *merged[1:])
    return _signature.make_spec(merged, dtypes[0], "/".join(str(step) for step in path))
