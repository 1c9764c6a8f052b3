"""How the libraries load: in any order with TensorFlow, and with one sentence when they cannot."""

import pathlib
import subprocess
import sys

import pytest
import tensorflow as tf

import reverb_tf
from reverb_tf._tf import op_library

LIBRARY = pathlib.Path(reverb_tf.__file__).parent / "libreverb_tf_ops.so"

ROUND_TRIP = """
server = reverb_tf.Server(tables=[reverb_tf.Table.queue('q', 10)])
client = reverb_tf.Client(f'localhost:{server.port}')
client.insert([1], {'q': 1.0})
graph_client = reverb_tf.TFClient(client.server_address)
assert graph_client.sample('q', tf.int64).data == 1
graph_client.insert([2], tf.constant(['q']), tf.constant([1.0], tf.float64))
assert next(client.sample('q'))[0].data[0] == 2
server.stop()
print('done')
"""


def run(code: str) -> subprocess.CompletedProcess:
    root = pathlib.Path(reverb_tf.__file__).parent.parent
    return subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize(
    "imports",
    [
        "import reverb_tf\nimport tensorflow as tf",
        "import tensorflow as tf\nimport reverb_tf",
        # The core library is in use before TensorFlow comes.
        "import reverb_tf\ns = reverb_tf.Server(tables=[reverb_tf.Table.queue('q', 1)])\n"
        "reverb_tf.Client(f'localhost:{s.port}').server_info(timeout=10)\ns.stop()\n"
        "import tensorflow as tf",
    ],
    ids=["before", "after", "used before"],
)
def test_loading_before_and_after_tensorflow(imports):
    result = run(imports + ROUND_TRIP)
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith("done\n")


def test_importing_the_package_does_not_import_tensorflow():
    result = run("import sys, reverb_tf\nassert 'tensorflow' not in sys.modules")
    assert result.returncode == 0, result.stderr


def test_without_tensorflow_one_sentence_says_what_to_do():
    code = """
import sys
sys.modules['tensorflow'] = None
import reverb_tf
for name in 'TFClient TFTrajectoryWriter PatternDataset TimestepDataset TrajectoryDataset VariableContainer'.split():
    try:
        getattr(reverb_tf, name)
    except ImportError as error:
        print(error)
"""
    result = run(code)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    names = (
        "TFClient",
        "TFTrajectoryWriter",
        "PatternDataset",
        "TimestepDataset",
        "TrajectoryDataset",
    )
    for name, line in zip((*names, "VariableContainer"), lines, strict=True):
        assert name in line
        assert "pip install 'reverb-tf[tensorflow]'" in line


def test_the_library_says_what_it_was_built_for():
    assert op_library.built_for(LIBRARY) == tf.version.VERSION


def test_another_tensorflow_is_answered_with_both_versions_and_the_command(tmp_path):
    marker = b"reverb_tf ops built for TensorFlow "
    content = LIBRARY.read_bytes()
    start = content.index(marker) + len(marker)
    end = content.index(b";", start)
    other = tmp_path / "libreverb_tf_ops.so"
    other.write_bytes(content[:start] + b"9.87.0"[: end - start] + content[end:])
    with pytest.raises(ImportError) as error:
        op_library.load(other)
    text = str(error.value)
    assert "9.87.0" in text
    assert tf.version.VERSION in text
    assert "pip install 'tensorflow==9.87.*'" in text


def test_a_file_that_is_no_op_library(tmp_path):
    other = tmp_path / "libreverb_tf_ops.so"
    with pytest.raises(ImportError, match="cannot be read"):
        op_library.load(other)
    other.write_bytes(b"something else")
    with pytest.raises(ImportError, match="not an op library"):
        op_library.load(other)
    other.write_bytes(f"reverb_tf ops built for TensorFlow {tf.version.VERSION};".encode())
    with pytest.raises(ImportError, match="cannot be loaded"):
        op_library.load(other)


def test_undefined_symbols_name_both_versions(tmp_path):
    """A library that an incompatible TensorFlow would refuse: one symbol of TensorFlow renamed."""
    content = LIBRARY.read_bytes()
    symbol = b"_ZN10tensorflow"
    index = content.index(symbol)
    other = tmp_path / "libreverb_tf_ops.so"
    other.write_bytes(content[:index] + b"_ZN10tensorfl0w" + content[index + len(symbol) :])
    (tmp_path / "libreverb_tf_core.so").symlink_to(LIBRARY.with_name("libreverb_tf_core.so"))
    with pytest.raises(ImportError) as error:
        op_library.load(other)
    text = str(error.value)
    assert "were built for TensorFlow" in text
    assert "pip install" in text
