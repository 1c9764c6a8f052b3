"""The writers beside those of an unmodified dm-reverb 0.14.0: the same calls, the same outcomes, but for known flaws.

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
_SCRIPT = support.ROOT / "tests" / "peer_writer_script.py"

# What is another here on purpose: (in dm-reverb, here).
_DIFFERENCES = {
    # Beyond the first step of the episode, as a list would say.
    "index -5 int": ("raises ValueError", "raises IndexError"),
}


def outcomes(*command: str) -> dict[str, str]:
    result = subprocess.run(
        [*command, str(_SCRIPT)],
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
def test_the_same_calls_have_the_same_outcomes():
    pytest.importorskip("tensorflow")
    theirs = outcomes(str(_PYTHON))
    ours = outcomes(sys.executable, "-m", "reverb_tf.as_reverb")
    assert list(ours) == list(theirs)
    assert len(ours) > 70
    for name, expected in _DIFFERENCES.items():
        assert (theirs.pop(name), ours.pop(name)) == expected
    assert ours == theirs
