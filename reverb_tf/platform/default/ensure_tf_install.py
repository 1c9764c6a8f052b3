"""Whether TensorFlow can be used."""


def ensure_tf_version() -> None:
    """Imports TensorFlow; ImportError that says which command helps if it is missing or of another minor version."""
    from reverb_tf._tf import op_library

    op_library.check_version()
