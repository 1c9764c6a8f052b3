"""The conformance scripts pass with this package for `reverb`, and with an unmodified dm-reverb 0.14.0.

The latter says that the scripts are right. It runs in an environment of its own: `make peer` creates it.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

from tests.python_api import support

_PEER = pathlib.Path(os.environ.get("REVERB_TF_PEER", support.ROOT / ".peer")) / "bin" / "python"
_SCRIPTS = sorted(path.stem for path in (support.ROOT / "tests" / "conformance").glob("*_cases.py"))

# A guard against hangs, not a claim about speed.
_PATIENCE = 300


def run(script: str, *command: str, **environment: str) -> None:
    """Runs a script and checks that it had cases, and that none failed."""
    process = subprocess.Popen(
        [*command, "-m", f"tests.conformance.{script}"],
        cwd=support.ROOT,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONFAULTHANDLER": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        output, _ = process.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # shows what its threads are doing
        output, _ = process.communicate()
        pytest.fail(f"{script} still ran after {_PATIENCE} s:\n{output[-20000:]}")
    ran = re.search(r"^Ran (\d+) tests? in", output, re.MULTILINE)
    passed = re.search(r"^OK(?: \(skipped=(\d+)\))?$", output, re.MULTILINE)
    if process.returncode or not ran or not passed:
        pytest.fail(f"{script} ended with {process.returncode}:\n{output[-20000:]}")
    assert int(ran[1]) > int(passed[1] or 0), f"{script} ran no cases:\n{output[-20000:]}"


def test_there_are_scripts():
    assert len(_SCRIPTS) >= 6


@pytest.mark.parametrize("script", _SCRIPTS)
def test_with_this_package(script):
    pytest.importorskip("reverb_tf.pattern_dataset", exc_type=ImportError)
    run(script, sys.executable, "-m", "reverb_tf.as_reverb", PYTHONPATH=str(support.ROOT))


@pytest.mark.skipif(
    not _PEER.exists(), reason="there is no dm-reverb to compare with: run `make peer`"
)
@pytest.mark.parametrize("script", _SCRIPTS)
def test_with_dm_reverb(script):
    run(script, str(_PEER), PYTHONPATH="")
