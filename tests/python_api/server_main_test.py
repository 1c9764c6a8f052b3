"""The reverb_server command."""

import signal
import subprocess
import sys

import pytest

import reverb_tf as reverb
from tests.python_api import support

_TABLE = """
tables {
  table_name: "t"
  sampler { prioritized { priority_exponent: 0.5 } }
  remover { fifo: true }
  max_size: 10
  rate_limiter { samples_per_insert: 1 min_size_to_sample: 1 min_diff: -1e9 max_diff: 1e9 }
}
"""


def start(*flags: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "reverb_tf.server_executable.server_main", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=support.environment(),
    )


def end(process: subprocess.Popen) -> tuple[int, str, str]:
    out, error = process.communicate(timeout=support.PATIENCE)
    return process.returncode, out, error


def test_it_serves_until_it_is_interrupted():
    process = start(f"--config={_TABLE}", "--host=127.0.0.1")
    line = process.stdout.readline()
    port = int(line.rsplit(" ", 1)[1])
    client = reverb.Client(f"127.0.0.1:{port}")
    client.insert([1], {"t": 2.0}, timeout=support.PATIENCE)
    info = client.server_info(support.PATIENCE)["t"]
    assert (info.max_size, info.current_size) == (10, 1)
    assert info.sampler_options.prioritized.priority_exponent == 0.5
    process.send_signal(signal.SIGINT)
    assert end(process) == (130, "", "")


@pytest.mark.parametrize("host", ["127.0.0.1", "[::]"])
def test_a_port_that_is_taken(host):
    with reverb.Server([reverb.Table.queue("q", 1)], host=host) as server:
        code, out, error = end(start(f"--config=port: {server.port} {_TABLE}", f"--host={host}"))
    assert (code, out, error.count("\n")) == (1, "", 1)
    assert str(server.port) in error and error.startswith("reverb_server: ")


@pytest.mark.parametrize(
    "config, text",
    [
        ("", "at least one table"),
        ("tables {", "1:8"),
        ("table { }", "table"),
        (_TABLE + _TABLE, "distinct"),
        (_TABLE.replace("fifo: true", "fifo: false"), "selector"),
        (_TABLE.replace("fifo: true", ""), "selector"),
        (_TABLE.replace("max_size: 10", ""), "max_size"),
        (_TABLE.replace("max_size: 10", "max_size: 5000000000"), "max_size"),
        (_TABLE + "port: 70000", "70000"),
    ],
)
def test_configurations_that_cannot_work(config, text):
    code, out, error = end(start(f"--config={config}"))
    assert (code, out, error.count("\n")) == (1, "", 1)
    assert text in error


def test_help_of_the_console_script(tmp_path):
    script = tmp_path / "reverb_server"
    script.write_text(
        "import sys\nfrom reverb_tf.server_executable.server_main import app_run_main\nsys.exit(app_run_main())\n"
    )
    result = subprocess.run(
        [sys.executable, str(script), "--help"],
        capture_output=True,
        text=True,
        env=support.environment(),
        timeout=support.PATIENCE,
    )
    assert "--config" in result.stdout and "--[no]" not in result.stdout.split("--config")[0]
    project = (support.ROOT / "pyproject.toml").read_text()
    assert 'reverb_server = "reverb_tf.server_executable.server_main:app_run_main"' in project


def test_bad_command_lines():
    code, _, error = end(start())
    assert code != 0 and "--config" in error and "Traceback" not in error
    code, out, error = end(start(f"--config={_TABLE}", "more"))
    assert code != 0 and "more" in out + error and "Traceback" not in error
