"""Prints what third_party/tensorflow/repository.bzl needs to know about the installed TensorFlow, as KEY=VALUE lines.

Reads the package's files without importing it: the import takes seconds and loads a gigabyte.
"""

import importlib.metadata
import importlib.util
import pathlib
import sys

DISTRIBUTIONS = ("tensorflow", "tensorflow-cpu", "tf-nightly", "tf-nightly-cpu")


def _version():
    for name in DISTRIBUTIONS:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    sys.exit(
        f"a module tensorflow, but none of the distributions {', '.join(DISTRIBUTIONS)}, in {sys.prefix}"
    )


def main():
    """Prints the description; exits with one sentence where there is no TensorFlow."""
    spec = importlib.util.find_spec("tensorflow")
    if spec is None or spec.origin is None:
        sys.exit(f"no module named tensorflow in {sys.prefix}")
    package = pathlib.Path(spec.origin).parent
    libraries = sorted(path.name for path in package.glob("libtensorflow_*.so.2"))
    if not libraries:
        sys.exit(f"no libtensorflow_framework.so.2 in {package}")
    print(f"version={_version()}")
    print(f"include={package / 'include'}")
    print(f"library_dir={package}")
    print(f"libraries={' '.join(libraries)}")
    copts = ["-DEIGEN_MAX_ALIGN_BYTES=64"]
    if (package / "include" / "tensorflow" / "core" / "public" / "release_version.h").exists():
        # Since 2.20 or so the headers expect the version numbers from the command line.
        parts = zip(("MAJOR", "MINOR", "PATCH"), _version().split("."), strict=False)
        copts += [f"-DTF_{part}_VERSION={number}" for part, number in parts] + [
            "-DTF_VERSION_SUFFIX="
        ]
    print(f"copts={' '.join(copts)}")


if __name__ == "__main__":
    main()
