"""Loads the op library, once.

`libreverb_tf_ops.so` works with one minor version of TensorFlow. It carries the version that it was built for as text,
which is read from the file before the file is loaded, so that another TensorFlow is answered with one sentence.
"""

import functools
import mmap
import pathlib
import re
import types

from reverb_tf._tf.tf_import import import_tensorflow

_LIBRARY = pathlib.Path(__file__).resolve().parent.parent / "libreverb_tf_ops.so"
_MARKER = re.compile(rb"reverb_tf ops built for TensorFlow ([^;]{1,64});")


def built_for(library: pathlib.Path) -> str:
    """Returns the TensorFlow version that `library` was built for, for example "2.21.0".

    Raises:
      ImportError: there is no such file, or it is not an op library of this package.
    """
    try:
        with (
            library.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            match = _MARKER.search(content)
            version = match.group(1).decode() if match else None  # While the file is mapped.
    except (OSError, ValueError) as error:
        raise ImportError(
            f"The op library {library} cannot be read ({error}); reinstall with: "
            "pip install --force-reinstall 'reverb-tf[tensorflow]'"
        ) from error
    if version is None:
        raise ImportError(f"{library} is not an op library of reverb_tf.")
    return version


def _minor(version: str) -> tuple[str, ...]:
    return tuple(version.split(".")[:2])


def mismatch_text(built: str, installed: str) -> str:
    """Returns the sentence that says which versions disagree and which command settles it."""
    minor = ".".join(_minor(built))
    return (
        f"The ops of reverb_tf were built for TensorFlow {built}, but TensorFlow {installed} is installed; "
        f"run: pip install 'tensorflow=={minor}.*'"
    )


def check_version(library: pathlib.Path = _LIBRARY) -> types.ModuleType:
    """Returns the module `tensorflow`.

    Raises:
      ImportError: TensorFlow is missing or has another minor version than the library was built for.
    """
    tf = import_tensorflow("The graph side of reverb_tf")
    built, installed = built_for(library), tf.version.VERSION
    if _minor(built) != _minor(installed):
        raise ImportError(mismatch_text(built, installed))
    return tf


def load(library: pathlib.Path) -> types.ModuleType:
    """Loads `library` and returns the module of its op wrappers.

    Raises:
      ImportError: TensorFlow is missing or has another minor version than the library was built for, or the library
        cannot be loaded.
    """
    tf = check_version(library)
    built, installed = built_for(library), tf.version.VERSION
    try:
        return tf.load_op_library(str(library))
    except tf.errors.OpError as error:
        if "undefined symbol" in str(error):
            raise ImportError(mismatch_text(built, installed) + f" ({error.message})") from error
        raise ImportError(
            f"The op library of reverb_tf cannot be loaded: {error.message}"
        ) from error


@functools.cache
def ops() -> types.ModuleType:
    """Returns the op wrappers of this package's library: `reverb_client`, `reverb_client_sample`, ...

    Raises:
      ImportError: see `load`.
    """
    return load(_LIBRARY)
