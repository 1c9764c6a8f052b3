"""The benchmark runs on this library; what it finds is not tested."""

import json
import sys

import pytest

from benchmarks import cases, compare, variables

pytest.importorskip("tensorflow")

# Those whose tables fill in a moment.
_ROWS = sorted(cases.ROWS.keys() - {"dataset_large", "batches_large"})


def test_every_row_runs(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    figures = tmp_path / "figures.json"
    options = ["--ours", sys.executable, "--reference", str(tmp_path / "none")]
    short = ["--rounds", "1", "--seconds", "0.05", "--json", str(figures)]
    assert compare.main([*_ROWS, *options, *short]) == 0
    results = json.loads(figures.read_text())
    assert len(results) == len(_ROWS)
    assert all(result["reverb_tf"]["median"]["value"] > 0 for result in results)
    printed = capsys.readouterr()
    assert "reverb is not measured" in printed.err
    for name in _ROWS:
        assert cases.ROWS[name].title in printed.out


def test_unknown_row_is_refused(capsys):
    with pytest.raises(SystemExit):
        compare.main(["no_such_row"])
    assert "no such row: no_such_row" in capsys.readouterr().err


def test_variables_beside_the_limits_of_the_machine(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    monkeypatch.setattr(variables, "_SECONDS", 0.05)
    options = ["--ours", sys.executable, "--reference", str(tmp_path / "none")]
    assert variables.main([*options, "--rounds", "1", "--seconds", "0.05"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "loopback" in lines[-7]
    assert all("% of memcpy" in line and "% of loopback" in line for line in lines[-6:])
