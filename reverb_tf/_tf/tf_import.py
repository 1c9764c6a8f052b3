"""TensorFlow, or one sentence that says how to get it."""

import types


def import_tensorflow(what: str) -> types.ModuleType:
    """Returns the module `tensorflow`.

    Args:
      what: the name that needs it, for the error text.

    Raises:
      ImportError: TensorFlow is not installed.
    """
    try:
        import tensorflow
    except ModuleNotFoundError as error:
        if error.name != "tensorflow":
            raise
        raise ImportError(
            f"{what} needs TensorFlow, which is not installed; run: pip install 'reverb-tf[tensorflow]'",
            name="tensorflow",
        ) from None
    return tensorflow
