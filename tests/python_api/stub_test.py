"""The native module's type stub says what the module has."""

import subprocess
import sys

import pytest

from tests.python_api import support

pytest.importorskip("nanobind")
pytest.importorskip("ruff")


def test_the_stub_is_current(tmp_path):
    # If this fails: python -m nanobind.stubgen -q -m reverb_tf._reverb -o reverb_tf/_reverb.pyi, then tools/format.sh.
    made = tmp_path / "_reverb.pyi"
    for command in (
        ["nanobind.stubgen", "-q", "-m", "reverb_tf._reverb", "-o", str(made)],
        ["ruff", "format", "-q", "--config", str(support.ROOT / "pyproject.toml"), str(made)],
    ):
        subprocess.run(
            [sys.executable, "-m", *command],
            check=True,
            env=support.environment(),
            timeout=support.PATIENCE,
        )
    assert made.read_text() == (support.ROOT / "reverb_tf" / "_reverb.pyi").read_text()
