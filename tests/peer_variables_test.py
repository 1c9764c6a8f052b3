"""Variables between this package and an unmodified dm-reverb 0.14.0, with whose `TFClient` TF-Agents moves them.

dm-reverb runs in an environment of its own: `make peer` creates it.
"""

import json
import os
import pathlib
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import reverb_tf as reverb
from tests.python_api import support

_PYTHON = pathlib.Path(os.environ.get("REVERB_TF_PEER", support.ROOT / ".peer")) / "bin" / "python"

pytestmark = pytest.mark.skipif(
    not _PYTHON.exists(), reason="there is no dm-reverb to talk to: run `make peer`"
)

tf = pytest.importorskip("tensorflow")


class Peer:
    """A process that serves a table of variables, pushes and pulls, all with dm-reverb."""

    def __init__(self, log: Any):
        script = support.ROOT / "tests" / "peer_variables_script.py"
        self._process = subprocess.Popen(
            [str(_PYTHON), str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**support.environment(), "TF_CPP_MIN_LOG_LEVEL": "3"},
        )
        self.address = f"127.0.0.1:{self._read()}"

    def _read(self) -> Any:
        line = self._process.stdout.readline()
        assert line, "the peer has ended"
        return json.loads(line)

    def ask(self, *command: Any) -> Any:
        """Sends a command and waits for the answer."""
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return self._read()

    def stop(self):
        """Ends the process."""
        self._process.stdin.close()
        try:
            self._process.wait(support.PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    with (tmp_path_factory.mktemp("peer") / "log").open("w") as log:
        made = Peer(log)
        yield made
        made.stop()


SIGNATURE = {
    "layers": [(tf.TensorSpec([300, 400], tf.float32), tf.TensorSpec([400], tf.float32))] * 3,
    "names": tf.TensorSpec([2], tf.string),
    "step": tf.TensorSpec([], tf.int64),
}
SHAPES = [[300, 400], [400]] * 3 + [[2], []]


def values(number: int) -> Any:
    """Variables that all say `number`."""

    def value(spec):
        if spec.dtype == tf.string:
            return np.full(spec.shape, str(number).encode(), object)
        return np.full(spec.shape, number, spec.dtype.as_numpy_dtype)

    return tf.nest.map_structure(value, SIGNATURE)


def numbers(nest: Any) -> set[float]:
    return {float(x) for leaf in tf.nest.flatten(nest) for x in np.asarray(leaf).flat}


def test_variables_on_our_server(peer):
    server = reverb.Server([reverb.variable_table(SIGNATURE)])
    try:
        address = f"127.0.0.1:{server.port}"
        container = reverb.VariableContainer(address)
        container.push(values(1))
        assert peer.ask("pull", address) == [[1.0], SHAPES]
        peer.ask("push", address, 2)
        assert numbers(container.pull()) == {2}
        version, pulled = container.wait_for(2)
        assert (int(version), numbers(pulled)) == (2, {2})
    finally:
        server.stop()


def test_variables_on_their_server(peer):
    container = reverb.VariableContainer(peer.address)
    push = tf.function(lambda: container.push(values(3)))
    push()
    assert peer.ask("pull", peer.address) == [[3.0], SHAPES]
    peer.ask("push", peer.address, 4)
    assert numbers(tf.function(container.pull)()) == {4}
    variables = tf.nest.map_structure(lambda value: tf.Variable(value), values(0))
    container.update(variables)
    assert numbers(variables) == {4}


def test_their_server_counts_no_versions(peer):
    container = reverb.VariableContainer(peer.address)
    container.push(values(5))
    for call in (
        lambda: container.wait_for(1),
        lambda: container.pull_if_newer(0),
        lambda: container.update_if_newer(values(0), 0),
    ):
        with pytest.raises(tf.errors.UnimplementedError, match="does not count versions"):
            call()
    # The same from the ops, which learn it from what arrives.
    ops = reverb.cc.ops.gen_reverb_ops
    client = reverb.TFClient(peer.address)
    common = {
        "handle": client.handle,
        "table": "variables",
        "Toutput_list": [leaf.dtype for leaf in tf.nest.flatten(SIGNATURE)],
        "output_shapes": SHAPES,
    }
    with pytest.raises(tf.errors.UnimplementedError, match="does not count versions"):
        ops.reverb_variable_pull(**common, min_version=1, timeout_ms=-1)
    with pytest.raises(tf.errors.UnimplementedError, match="does not count versions"):
        ops.reverb_variable_pull_if_newer(**common, version=0, defaults=[])
