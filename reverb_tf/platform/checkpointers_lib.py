"""Checkpointers: where a server writes its checkpoints and what it loads when it starts.

This release can describe checkpoints but neither write nor load them: a Server refuses a checkpointer.
"""

import abc
import os

from reverb_tf import pybind


class CheckpointerBase(metaclass=abc.ABCMeta):
    """Base class of checkpointers."""

    @abc.abstractmethod
    def internal_checkpointer(self) -> "pybind.Checkpointer":
        """Returns the native checkpointer."""


class DefaultCheckpointer(CheckpointerBase):
    """Checkpoints in a folder.

    Attributes:
      path: The folder.
      group: Always "".
      fallback_checkpoint_path: Folder of the checkpoint to load when `path` has none, or None.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        group: str = "",
        fallback_checkpoint_path: str | os.PathLike[str] | None = None,
    ):
        """Creates a checkpointer; nothing is read or written, and arguments are checked by internal_checkpointer()."""
        self.path = path
        self.group = group
        self.fallback_checkpoint_path = fallback_checkpoint_path

    def internal_checkpointer(self) -> "pybind.Checkpointer":
        """Returns the native checkpointer; ValueError or TypeError for settings that cannot work."""
        return pybind.create_default_checkpointer(
            self.path, self.group, self.fallback_checkpoint_path
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(path={self.path!r}, group={self.group!r}, "
            f"fallback_checkpoint_path={self.fallback_checkpoint_path!r})"
        )


class TempDirCheckpointer(DefaultCheckpointer):
    """Checkpoints in a new temporary folder, which is not removed."""

    def __init__(self) -> None:
        import tempfile

        super().__init__(tempfile.mkdtemp())
