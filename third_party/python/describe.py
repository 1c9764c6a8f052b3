"""Prints what third_party/python/repository.bzl needs to know about this interpreter, as KEY=VALUE lines."""

import importlib.util
import pathlib
import sys
import sysconfig


def main():
    """Prints the description; exits with one sentence where nanobind is missing."""
    spec = importlib.util.find_spec("nanobind")
    if spec is None or spec.origin is None:
        sys.exit(
            f"no module named nanobind in {sys.prefix}: pip install -r third_party/python/build-requirements.txt"
        )
    include = pathlib.Path(sysconfig.get_path("include"))
    if not (include / "Python.h").exists():
        sys.exit(f"no Python.h in {include}: install the interpreter's headers (python3-dev)")
    try:
        import numpy
    except ImportError:
        sys.exit(
            f"no module named numpy in {sys.prefix}: pip install -r third_party/python/build-requirements.txt"
        )
    print(f"include={include}")
    print(f"numpy_include={numpy.get_include()}")
    print(f"nanobind={pathlib.Path(spec.origin).parent}")
    print(f"ext_suffix={sysconfig.get_config_var('EXT_SUFFIX')}")


if __name__ == "__main__":
    main()
