"""Replay and data transport for machine learning.

A Server holds Tables of experience; a Client inserts into them and samples from them; a TrajectoryWriter writes steps
and items made of them. TFClient, TimestepDataset and TrajectoryDataset do the same inside TensorFlow graphs, and
PatternDataset makes items of a dataset of steps; those need TensorFlow, nothing else does.
"""

from typing import TYPE_CHECKING, Any

from reverb_tf import (
    client,
    errors,
    item_selectors,
    platform,
    pybind,
    rate_limiters,
    replay_sample,
    reverb_types,
    server,
    trajectory_writer,
    writer,
)
from reverb_tf import item_selectors as selectors
from reverb_tf._alias import install_as_reverb
from reverb_tf.client import Client
from reverb_tf.errors import DeadlineExceededError, ReverbError
from reverb_tf.platform.default import checkpointers
from reverb_tf.replay_sample import ReplaySample, SampleInfo
from reverb_tf.server import Server, Table
from reverb_tf.tensor_spec import BoundedTensorSpec, TensorSpec
from reverb_tf.trajectory_writer import TrajectoryColumn, TrajectoryWriter
from reverb_tf.writer import Writer

if TYPE_CHECKING:
    from reverb_tf import structured_writer
    from reverb_tf import structured_writer as structured
    from reverb_tf.checkpoints import CheckpointReader, checkpoint_reader
    from reverb_tf.pattern_dataset import PatternDataset
    from reverb_tf.reverb_dataset import ReverbDataset
    from reverb_tf.tf_client import TFClient
    from reverb_tf.tf_trajectory_writer import TFTrajectoryWriter
    from reverb_tf.timestep_dataset import TimestepDataset
    from reverb_tf.trajectory_dataset import TrajectoryDataset
    from reverb_tf.variable_container import VariableContainer
    from reverb_tf.variables import variable_table

__all__ = [
    "BoundedTensorSpec",
    "CheckpointReader",
    "Client",
    "DeadlineExceededError",
    "PatternDataset",
    "ReplaySample",
    "ReverbDataset",
    "ReverbError",
    "SampleInfo",
    "Server",
    "TFClient",
    "TFTrajectoryWriter",
    "Table",
    "TensorSpec",
    "TimestepDataset",
    "TrajectoryColumn",
    "TrajectoryDataset",
    "TrajectoryWriter",
    "VariableContainer",
    "Writer",
    "checkpoint_reader",
    "checkpointers",
    "client",
    "errors",
    "install_as_reverb",
    "item_selectors",
    "platform",
    "pybind",
    "rate_limiters",
    "replay_sample",
    "reverb_types",
    "selectors",
    "server",
    "structured",
    "structured_writer",
    "trajectory_writer",
    "variable_table",
    "writer",
]

# What is loaded when it is first touched: it needs TensorFlow or protobuf. Names, and the modules they are in.
_LAZY_NAMES = {
    "CheckpointReader": "checkpoints",
    "PatternDataset": "pattern_dataset",
    "ReverbDataset": "reverb_dataset",
    "TFClient": "tf_client",
    "TFTrajectoryWriter": "tf_trajectory_writer",
    "TimestepDataset": "timestep_dataset",
    "TrajectoryDataset": "trajectory_dataset",
    "VariableContainer": "variable_container",
    "checkpoint_reader": "checkpoints",
    "variable_table": "variables",
}
_LAZY_MODULES = {*_LAZY_NAMES.values(), "cc", "server_executable", "structured_writer"}


def __getattr__(name: str) -> Any:
    import importlib

    if name == "structured":
        name = "structured_writer"
    if name in _LAZY_MODULES:
        return importlib.import_module(f"reverb_tf.{name}")
    if name in _LAZY_NAMES:
        return getattr(importlib.import_module(f"reverb_tf.{_LAZY_NAMES[name]}"), name)
    raise AttributeError(f"module 'reverb_tf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_LAZY_MODULES})
