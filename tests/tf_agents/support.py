"""What the tests with TF-Agents in them share."""

import importlib.util
import os

import pytest


def tf_agents():
    """The module reverb_tf.tf_agents; skips the test file where TF-Agents is not installed."""
    if importlib.util.find_spec("tf_agents") is None:
        pytest.skip("TF-Agents is not installed: run `make tf-agents`", allow_module_level=True)
    if importlib.util.find_spec("tf_keras") is not None:
        # It decides when TensorFlow is imported, which the conftest.py has done.
        assert os.environ.get("TF_USE_LEGACY_KERAS") == "1", "TF_USE_LEGACY_KERAS=1 is not set"
    from reverb_tf import tf_agents

    return tf_agents
