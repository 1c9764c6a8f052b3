"""The TensorFlow ops."""

import types


def load_op_library() -> types.ModuleType:
    """Returns the op wrappers; ImportError that says which command helps if TensorFlow does not fit."""
    from reverb_tf._tf import op_library

    return op_library.ops()
