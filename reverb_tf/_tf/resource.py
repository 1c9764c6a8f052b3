"""Handles of resources that belong to a Python object."""

import uuid
import weakref
from collections.abc import Callable
from typing import Any

from reverb_tf._tf.tf_import import import_tensorflow

tf = import_tensorflow("What reverb_tf has for graphs (TFClient, TFTrajectoryWriter)")

from tensorflow.python.eager import context  # noqa: E402


def _destroy(handle: Any) -> None:
    """Lets go of an eager resource; ops in flight keep it until they end.

    The garbage collector may call this anywhere, also inside TensorFlow while it adds an op to the graph of a function
    and holds that graph's lock. So it runs at once, and is no op of whatever graph is the default one.
    """
    try:
        with context.eager_mode():
            tf.raw_ops.DestroyResourceOp(resource=handle, ignore_lookup_error=True)
    except Exception:  # noqa: BLE001 - the interpreter or TensorFlow's context may be half gone
        pass


def make(
    owner: Any, kind: str, server_address: str, shared_name: str | None, op: Callable[[str], Any]
) -> Any:
    """Makes a resource that lives as long as `owner`, or as its graph, or (with a shared name) as the process.

    Args:
      owner: the object that holds the handle.
      kind: what it is, for its name.
      server_address: of the server that it is for.
      shared_name: of the resource among those for the same server; none if it is the owner's alone.
      op: makes the resource under the shared name that it gets, and returns its handle.
    """
    if shared_name:
        # TensorFlow knows resources by name alone, and programs give those for all their servers one name.
        return op(f"{shared_name}@{server_address}")
    if not tf.executing_eagerly():
        return op("")
    # In eager mode a resource without a name lives as long as a cache of kernels, which TensorFlow may clear.
    handle = op(f"reverb_tf_{kind}_{uuid.uuid4().hex}")
    weakref.finalize(owner, _destroy, handle).atexit = False
    return handle
