"""A structured writer beside that of an unmodified dm-reverb 0.14.0: the same configs and steps make the same items.

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
_SCRIPT = support.ROOT / "tests" / "peer_structured_script.py"
_SEEDS = range(20)


def made(*command: str) -> list:
    result = subprocess.run(
        [*command, str(_SCRIPT), *map(str, _SEEDS)],
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
def test_the_same_items_are_made():
    theirs = made(str(_PYTHON))
    ours = made(sys.executable, "-m", "reverb_tf.as_reverb")
    assert len(ours) == len(theirs) == len(_SEEDS)
    assert sum(len(table) for tables in theirs for table in tables) > 100
    for our_tables, their_tables in zip(ours, theirs, strict=True):
        for our_items, their_items in zip(our_tables, their_tables, strict=True):
            assert [columns for _, columns in our_items] == [columns for _, columns in their_items]
            assert [p for p, _ in our_items] == pytest.approx([p for p, _ in their_items])
