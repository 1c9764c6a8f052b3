"""The names of the native layer that dm-reverb exports. They are the classes that this package itself uses.

What ends the process in dm-reverb (a limiter of 0 samples for an insert, can_sample(0), ...) raises ValueError here.
"""

import os

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


class Checkpointer:
    """Where checkpoints are kept. Immutable; made by create_default_checkpointer().

    Attributes:
      path: Folder, as a str.
      fallback_checkpoint_path: Folder of the checkpoint to load when `path` has none, or None.
    """

    __slots__ = ("path", "fallback_checkpoint_path")

    path: str
    fallback_checkpoint_path: str | None

    def __init__(self, path: str, fallback_checkpoint_path: str | None):
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "fallback_checkpoint_path", fallback_checkpoint_path)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Checkpointer cannot be changed")

    def __repr__(self) -> str:
        return (
            f"Checkpointer(path={self.path!r}, "
            f"fallback_checkpoint_path={self.fallback_checkpoint_path!r})"
        )


def create_default_checkpointer(
    name: str | os.PathLike[str],
    group: str = "",
    fallback_checkpoint_path: str | os.PathLike[str] | None = None,
) -> Checkpointer:
    """Describes checkpoints in a folder. Nothing is read or written.

    Args:
      name: The folder.
      group: "": there are no groups here.
      fallback_checkpoint_path: Folder of the checkpoint to load when `name` has none.

    Raises:
      ValueError: An empty path, or a group.
      TypeError: A path or group that is no text.
    """
    if not isinstance(group, str):
        raise TypeError(f"group must be a str, got {group!r}")
    if group:
        raise ValueError(f"group must be empty, got {group!r}: checkpoints have no groups here")
    fallback = fallback_checkpoint_path
    return Checkpointer(_folder(name), None if fallback is None else _folder(fallback))


def _folder(path: str | os.PathLike[str]) -> str:
    folder = os.fsdecode(path)
    if not folder:
        raise ValueError("The path of a checkpoint must not be empty")
    return folder
