"""What is said when the TensorFlow ops cannot be loaded."""

from typing import NoReturn


def reraise_wrapped_error(error: Exception) -> NoReturn:
    """Raises `error`, as an ImportError with advice if it is about a symbol that is not defined."""
    if "undefined symbol" not in str(error):
        raise error
    raise ImportError(
        f"The ops were built for another version of TensorFlow than the one that is installed ({error}); run: "
        "pip install --force-reinstall 'reverb-tf[tensorflow]'"
    ) from error
