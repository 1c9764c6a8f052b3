"""Builds the shared libraries with Bazel and puts them into the package. The metadata is in pyproject.toml."""

import os
import pathlib
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
TOOLS = ("bazel", "cmake", "ninja", "protoc", "grpc_cpp_plugin", "dpkg-source")


class BazelBuild(build_ext):
    """Builds libreverb_tf_core.so, the Python binding and libreverb_tf_ops.so for the running interpreter."""

    def build_extension(self, ext):
        """Builds all three: `ext` is the binding, the others lie beside it."""
        missing = [tool for tool in TOOLS if shutil.which(tool) is None]
        if missing:
            sys.exit(
                f"building reverb_tf needs {', '.join(missing)}: run tools/install_packages.sh as root first"
            )
        target = pathlib.Path(self.get_ext_fullpath(ext.name)).resolve().parent
        target.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "REVERB_TF_PYTHON": sys.executable}
        script = ROOT / "tools" / "build_in_place.sh"
        subprocess.run([str(script), str(target)], check=True, cwd=ROOT, env=environment)


setup(
    ext_modules=[Extension("reverb_tf._reverb", sources=[])],
    cmdclass={"build_ext": BazelBuild},
)
