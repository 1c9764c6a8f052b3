"""Runs the Python blocks of README.md as they stand, each in a fresh interpreter."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

_ROOT = pathlib.Path(__file__).resolve().parent.parent
_README = (_ROOT / "README.md").read_text(encoding="utf-8")
_BLOCKS = re.findall(r"^```python\n(.*?)^```$", _README, re.DOTALL | re.MULTILINE)


def _run(folder: pathlib.Path, code: str) -> str:
    script = folder / "quick_start.py"  # A file: tf.function reads the source of what it converts.
    script.write_text(code, encoding="utf-8")
    result = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr[-4000:]
    return result.stdout


def test_readme_has_its_blocks():
    assert len(_BLOCKS) == 5
    assert "tensorflow" not in _BLOCKS[0]
    assert "@tf.function" in _BLOCKS[1]
    assert "trajectory_writer" in _BLOCKS[2]
    assert "VariableContainer" in _BLOCKS[3]
    assert "checkpointer" in _BLOCKS[4]


def test_checkpoints(tmp_path):
    written, loaded, size = _run(tmp_path, _BLOCKS[4]).splitlines()
    assert written.partition(": ")[2] == loaded.partition(": ")[2]
    assert size == "1 item"


def test_plain_python_quick_start(tmp_path):
    lines = _run(tmp_path, _BLOCKS[0]).splitlines()
    assert len(lines) == 3
    for line in lines[:2]:
        assert re.fullmatch(r"item \d+: \(3, 4\), rewards \[\d\. \d\. \d\.\]", line)
    assert lines[2] == "8 items"


def test_plain_python_quick_start_needs_no_tensorflow(tmp_path):
    without_tensorflow = "import sys\nsys.modules['tensorflow'] = None\n"
    assert _run(tmp_path, without_tensorflow + _BLOCKS[0]).endswith("8 items\n")


def test_tf_function_quick_start_learns(tmp_path):
    pytest.importorskip("tensorflow")
    before, after = (float(line.split(": ")[1]) for line in _run(tmp_path, _BLOCKS[1]).splitlines())
    assert before > 1.0
    assert after < 0.01 * before


@pytest.mark.parametrize("command", re.findall(r"^make (\w+)", _README, re.MULTILINE))
def test_commands_are_in_the_makefile(command):
    makefile = (_ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{command}:", makefile, re.MULTILINE)


def test_variables(tmp_path):
    pytest.importorskip("tensorflow")
    assert _run(tmp_path, _BLOCKS[3]).splitlines() == [
        "updated to step 3",
        "version 3 of step 3",
        "newer than that: False",
    ]


def test_writing_in_a_graph(tmp_path):
    pytest.importorskip("tensorflow")
    items = re.fullmatch(r"(\d+) items\n", _run(tmp_path, _BLOCKS[2]))
    # A walk of n steps has n - 2 items.
    assert 4_000 < int(items.group(1)) < 8_000
