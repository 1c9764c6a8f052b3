"""Where TF-Agents cannot run, importing reverb_tf.tf_agents says in one sentence what to do."""

import importlib.util
import os
import subprocess
import sys

import pytest
import tensorflow as tf

from tests.python_api import support

_MINOR = ".".join(tf.version.VERSION.split(".")[:2])


@pytest.fixture
def error_of(tmp_path):
    """Runs code where a package `tf_agents` is that has nothing in it; returns the last line it printed."""
    package = tmp_path / "tf_agents"
    package.mkdir()
    (package / "__init__.py").write_text("")

    def run(code: str, legacy_keras: bool = False) -> str:
        path = f"{tmp_path}{os.pathsep}{support.ROOT}"
        environment = {**os.environ, "PYTHONPATH": path, "TF_USE_LEGACY_KERAS": "1"}
        if not legacy_keras:
            del environment["TF_USE_LEGACY_KERAS"]
        result = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            timeout=support.PATIENCE,
            env=environment,
        )
        return (result.stdout or result.stderr).strip().splitlines()[-1]

    return run


def test_without_tf_agents(error_of):
    error = error_of("import sys\nsys.modules['tf_agents'] = None\nimport reverb_tf.tf_agents")
    assert error.startswith(
        "ImportError: reverb_tf.tf_agents needs TF-Agents, which is not installed"
    )
    assert "pip install 'reverb-tf[tf_agents]'" in error
    assert ("--no-deps tf-agents" in error) == (sys.version_info >= (3, 12))


def test_the_alias_is_not_installed_then(error_of):
    code = """
import sys
sys.modules["tf_agents"] = None
try:
    import reverb_tf.tf_agents
except ImportError:
    print("reverb" in sys.modules)
"""
    assert error_of(code) == "False"


@pytest.mark.skipif(int(_MINOR.split(".")[1]) < 16, reason="this TensorFlow has Keras 2")
def test_with_keras_3(error_of):
    error = error_of("import reverb_tf.tf_agents")
    assert error.startswith("ImportError: TF-Agents needs Keras 2, but TensorFlow")
    assert "TF_USE_LEGACY_KERAS=1 before TensorFlow is imported" in error


@pytest.mark.skipif(
    importlib.util.find_spec("tf_keras") is not None, reason="tf-keras is installed"
)
def test_without_tf_keras(error_of):
    error = error_of("import reverb_tf.tf_agents", legacy_keras=True)
    assert error.startswith("ImportError: TF_USE_LEGACY_KERAS=1 is set, but tf-keras is not")
    assert f"pip install --no-deps 'tf-keras=={_MINOR}.*'" in error


def test_something_that_tf_agents_needs_is_missing(error_of):
    code = """
import tensorflow as tf
tf.keras = type(tf)("keras")  # Keras 2 is not the matter here
from reverb_tf import tf_agents
tf_agents.Actor
"""
    error = error_of(code)
    assert error.startswith("ImportError: TF-Agents needs the module tf_agents.train")
    assert "pip install 'reverb-tf[tf_agents]'" in error


def test_names(error_of):
    code = """
import tensorflow as tf
tf.keras = type(tf)("keras")
from reverb_tf import tf_agents
import reverb, reverb_tf
assert reverb is reverb_tf
assert set(tf_agents.__all__) <= set(dir(tf_agents))
try:
    tf_agents.Driver
except AttributeError as error:
    print(*tf_agents.__all__, error)
"""
    assert error_of(code) == (
        "Actor Learner ReverbAddEpisodeObserver ReverbAddTrajectoryObserver ReverbReplayBuffer "
        "ReverbTrajectorySequenceObserver ReverbVariableContainer rlds_to_reverb "
        "module 'reverb_tf.tf_agents' has no attribute 'Driver'"
    )
