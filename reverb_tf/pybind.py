"""The names of the native layer that dm-reverb exports. They are the classes that this package itself uses.

What ends the process in dm-reverb (a limiter of 0 samples for an insert, can_sample(0), ...) raises ValueError here.
"""

import dataclasses
import os
from typing import Literal

from reverb_tf import _arguments
from reverb_tf._native import _reverb
from reverb_tf.chunker_options import (
    AutoTunedChunkerOptions,
    ChunkerOptions,
    ConstantChunkerOptions,
)
from reverb_tf.item_selectors import (
    FifoSelector,
    HeapSelector,
    ItemSelector,
    LifoSelector,
    PrioritizedSelector,
    UniformSelector,
    selector_from_options,
)
from reverb_tf.rate_limiters import InternalRateLimiter as RateLimiter

Client = _reverb.Client
Sampler = _reverb.Sampler
Server = _reverb.Server
StructuredWriter = _reverb.StructuredWriter
Table = _reverb.Table
TrajectoryWriter = _reverb.TrajectoryWriter
WeakCellRef = _reverb.WeakCellRef
Writer = _reverb.Writer

__all__ = [
    "AutoTunedChunkerOptions",
    "Checkpointer",
    "ChunkerOptions",
    "Client",
    "ConstantChunkerOptions",
    "FifoSelector",
    "HeapSelector",
    "ItemSelector",
    "LifoSelector",
    "PrioritizedSelector",
    "RateLimiter",
    "Sampler",
    "Server",
    "StructuredWriter",
    "Table",
    "TableExtension",
    "TrajectoryWriter",
    "UniformSelector",
    "WeakCellRef",
    "Writer",
    "create_default_checkpointer",
    "selector_from_proto",
]


def selector_from_proto(options: bytes) -> ItemSelector:
    """Returns the selector of a serialized KeyDistributionOptions message; ValueError if it describes none."""
    from google.protobuf import message

    from reverb_tf.proto import schema_pb2

    try:
        parsed = schema_pb2.KeyDistributionOptions.FromString(options)
    except message.DecodeError as e:
        raise ValueError(f"These bytes are no KeyDistributionOptions message: {e}") from None
    return selector_from_options(parsed)


class TableExtension:
    """Base class of native table extensions. This release has none, so nothing can be created."""

    def __init__(self) -> None:
        raise TypeError("A TableExtension cannot be created: this release has no table extensions")


@dataclasses.dataclass(frozen=True)
class Checkpointer:
    """Where checkpoints are kept; made by create_default_checkpointer(), which says what the attributes mean."""

    path: str
    fallback_checkpoint_path: str | None
    format: str
    keep: int
    every: float | None
    must_restore: bool


def create_default_checkpointer(
    name: str | os.PathLike[str],
    group: str = "",
    fallback_checkpoint_path: str | os.PathLike[str] | None = None,
    *,
    format: Literal["incremental", "reverb"] = "incremental",
    keep: int = 1,
    every: float | None = None,
    must_restore: bool = False,
) -> Checkpointer:
    """Describes checkpoints in a folder. Nothing is read or written.

    Args:
      name: The folder.
      group: "": there are no groups here.
      fallback_checkpoint_path: Folder of the checkpoint to load when `name` has none.
      format: "incremental" or "reverb", see DefaultCheckpointer.
      keep: >= 1, so many of the newest checkpoints are kept.
      every: Seconds between checkpoints, > 0, or None.
      must_restore: Whether a server refuses to start without a checkpoint to load.

    Raises:
      ValueError: An empty path, a group, or a value that is not as said above.
      TypeError: A path or group that is no text, or another argument of the wrong type.
    """
    if not isinstance(group, str):
        raise TypeError(f"group must be a str, got {group!r}")
    if group:
        raise ValueError(f"group must be empty, got {group!r}: checkpoints have no groups here")
    if format not in ("incremental", "reverb"):
        raise ValueError(f"format must be 'incremental' or 'reverb', got {format!r}")
    if every is not None:
        every = _arguments.real(every, "every")
        if not 0 < every < float("inf"):
            raise ValueError(f"every must be > 0 seconds or None, got {every!r}")
    fallback = fallback_checkpoint_path
    return Checkpointer(
        path=_folder(name),
        fallback_checkpoint_path=None if fallback is None else _folder(fallback),
        format=format,
        keep=_arguments.count(keep, "keep"),
        every=every,
        must_restore=bool(must_restore),
    )


def _folder(path: str | os.PathLike[str]) -> str:
    folder = os.fsdecode(path)
    if not folder:
        raise ValueError("The path of a checkpoint must not be empty")
    return folder
