"""The checkpointers, and the one that a server has by default."""

from reverb_tf.platform.checkpointers_lib import (
    CheckpointerBase,
    DefaultCheckpointer,
    TempDirCheckpointer,
)

__all__ = ["CheckpointerBase", "DefaultCheckpointer", "TempDirCheckpointer", "default_checkpointer"]


def default_checkpointer(group: str | None = None) -> CheckpointerBase:
    """Returns a checkpointer of a new temporary folder; `group` is not used."""
    del group
    return TempDirCheckpointer()
