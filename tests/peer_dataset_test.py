"""TimestepDataset and PatternDataset beside those of an unmodified dm-reverb 0.14.0.

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
_SCRIPT = support.ROOT / "tests" / "peer_dataset_script.py"


def printed(*command: str) -> list:
    result = subprocess.run(
        [*command, str(_SCRIPT)],
        capture_output=True,
        text=True,
        timeout=support.PATIENCE,
        env={**support.environment(), "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert result.returncode == 0, result.stderr[-4000:]
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.skipif(
    not _PYTHON.exists(), reason="there is no dm-reverb to compare with: run `make peer`"
)
def test_the_same_elements():
    pytest.importorskip("reverb_tf.pattern_dataset", exc_type=ImportError)
    theirs = printed(str(_PYTHON))
    assert len(theirs) > 60
    assert printed(sys.executable, "-m", "reverb_tf.as_reverb") == theirs
