"""The Python API beside that of an unmodified dm-reverb 0.14.0: the same calls, the same outcomes, but for known flaws.

dm-reverb runs in an environment of its own: `make peer` creates it.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from tests.python_api import support

_PYTHON = pathlib.Path(os.environ.get("REVERB_TF_PEER", support.ROOT / ".peer")) / "bin" / "python"

# What is another here on purpose: what is in the outcomes of dm-reverb, and of this package.
_API_DIFFERENCES = {
    # Errors that say what was given instead of what Python stumbled over.
    "Table {'extensions': [3]}": ("raises AttributeError", "raises TypeError"),
    "Server of [3]": ("raises AttributeError", "raises TypeError"),
    "mutate {'updates': [1]}": ("raises AttributeError", "raises TypeError"),
    "insert []": ("raises RuntimeError", "raises ValueError"),
    # Other byte orders are stored as what they mean.
    "insert np.arange(3, dtype='>i4')": ("16777216", "[0, 1, 2]"),
    # Timeouts are seconds, not only whole ones.
    "server_info 5.0": ("raises TypeError", "['f', 'p', 'u']"),
    # Options of two kinds are not equal.
    "other options": ("raises TypeError", "False"),
}
_WRITER_DIFFERENCES = {
    # Beyond the first step of the episode, as a list would say.
    "index -5 int": ("raises ValueError", "raises IndexError"),
}


def outcomes(script: str, *command: str) -> dict[str, str]:
    result = subprocess.run(
        [*command, str(support.ROOT / "tests" / script)],
        capture_output=True,
        text=True,
        timeout=support.PATIENCE,
        env={**support.environment(), "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert result.returncode == 0, result.stderr[-4000:]
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert len({name for name, _ in lines}) == len(lines)
    return dict(lines)


@pytest.mark.skipif(
    not _PYTHON.exists(), reason="there is no dm-reverb to compare with: run `make peer`"
)
@pytest.mark.parametrize(
    "script, at_least, differences",
    [
        ("peer_api_script.py", 180, _API_DIFFERENCES),
        ("peer_writer_script.py", 70, _WRITER_DIFFERENCES),
    ],
)
def test_the_same_calls_have_the_same_outcomes(script, at_least, differences):
    pytest.importorskip("tensorflow")
    theirs = outcomes(script, str(_PYTHON))
    ours = outcomes(script, sys.executable, "-m", "reverb_tf.as_reverb")
    assert list(ours) == list(theirs)
    assert len(ours) > at_least
    for name, (expected_there, expected_here) in differences.items():
        assert expected_there in theirs.pop(name)
        assert expected_here in ours.pop(name)
    assert ours == theirs
