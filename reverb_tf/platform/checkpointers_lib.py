"""Checkpointers: where a server writes its checkpoints and what it loads when it starts."""

import abc
import os
from typing import Literal

from reverb_tf import pybind


class CheckpointerBase(metaclass=abc.ABCMeta):
    """Base class of checkpointers.

    Attributes:
      on_exit: Whether Server.wait() writes a checkpoint when Ctrl-C or SIGTERM ends it.
    """

    on_exit = False

    @abc.abstractmethod
    def internal_checkpointer(self) -> "pybind.Checkpointer":
        """Returns the native checkpointer."""


class DefaultCheckpointer(CheckpointerBase):
    """Checkpoints in a folder.

    A server loads the newest complete checkpoint before it serves. Its tables keep the settings they are made with; the
    items, their priorities and counters, and what the rate limiters have counted come from the checkpoint. Each
    difference in settings is named in one warning.

    A checkpoint holds all tables as of one moment, and the server goes on to serve while it is written. It counts once
    it is complete on disk: a crash at any time leaves the one before. Only checkpoints written by this package are ever
    deleted.

    Attributes:
      path: The folder.
      group: Always "".
      fallback_checkpoint_path: Folder of the checkpoint to load when `path` has none, or None.
      format: "incremental" or "reverb".
      keep: How many checkpoints are kept.
      every: Seconds between checkpoints, or None.
      on_exit: Whether Server.wait() writes a checkpoint when Ctrl-C or SIGTERM ends it.
      must_restore: Whether a server refuses to start without a checkpoint to load.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        group: str = "",
        fallback_checkpoint_path: str | os.PathLike[str] | None = None,
        *,
        format: Literal["incremental", "reverb"] = "incremental",
        keep: int = 1,
        every: float | None = None,
        on_exit: bool = False,
        must_restore: bool = False,
    ):
        """Creates a checkpointer; nothing is read or written, and arguments are checked by internal_checkpointer().

        Args:
          path: Folder of checkpoints, made when it is missing, or one checkpoint in such a folder, which is then
            loaded.
          group: "": there are no groups here.
          fallback_checkpoint_path: A checkpoint, or a folder of them, to load when `path` has none. It must have one.
          format: "incremental": steps that an earlier checkpoint has are not written again. "reverb": complete
            folders that dm-reverb reads. Both are loaded, whatever is said here.
          keep: >= 1, so many of the newest checkpoints are kept.
          every: Seconds, > 0: a checkpoint is written so often. None: only when Client.checkpoint() or
            Server.checkpoint() asks for it.
          on_exit: Server.wait() writes a checkpoint when Ctrl-C or SIGTERM ends it.
          must_restore: Starting without a checkpoint to load is an error.
        """
        self.path = path
        self.group = group
        self.fallback_checkpoint_path = fallback_checkpoint_path
        self.format = format
        self.keep = keep
        self.every = every
        self.on_exit = on_exit
        self.must_restore = must_restore

    def internal_checkpointer(self) -> "pybind.Checkpointer":
        """Returns the native checkpointer; ValueError or TypeError for settings that cannot work."""
        return pybind.create_default_checkpointer(
            self.path,
            self.group,
            self.fallback_checkpoint_path,
            format=self.format,
            keep=self.keep,
            every=self.every,
            must_restore=self.must_restore,
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(path={self.path!r}, group={self.group!r}, "
            f"fallback_checkpoint_path={self.fallback_checkpoint_path!r})"
        )


class TempDirCheckpointer(DefaultCheckpointer):
    """Checkpoints in a new temporary folder. It is made by the first of them and not removed."""

    def __init__(self) -> None:
        import tempfile
        import uuid

        super().__init__(os.path.join(tempfile.gettempdir(), f"reverb_tf_{uuid.uuid4().hex}"))
