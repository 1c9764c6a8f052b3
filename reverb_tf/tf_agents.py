"""TF-Agents on this package.

    from reverb_tf import tf_agents as reverb_agents
    observer = reverb_agents.ReverbAddTrajectoryObserver(...)

Importing this module makes `import reverb` mean this package in the whole process (see `install_as_reverb`) and checks
that TF-Agents can run. TF-Agents itself is imported when one of its names is first used. docs/tf_agents.md says which
versions go together.

Raises:
  ImportError: TF-Agents is missing, or TensorFlow is, or is another than the ops were built for, or would use Keras 3.
  RuntimeError: something has imported dm-reverb before.
"""

import importlib
import importlib.util
import sys
from typing import Any

from reverb_tf._alias import install_as_reverb
from reverb_tf._tf import op_library

_REPLAY = "tf_agents.replay_buffers"
_MODULES = {
    "Actor": "tf_agents.train.actor",
    "Learner": "tf_agents.train.learner",
    "ReverbAddEpisodeObserver": f"{_REPLAY}.reverb_utils",
    "ReverbAddTrajectoryObserver": f"{_REPLAY}.reverb_utils",
    "ReverbReplayBuffer": f"{_REPLAY}.reverb_replay_buffer",
    "ReverbTrajectorySequenceObserver": f"{_REPLAY}.reverb_utils",
    "ReverbVariableContainer": "tf_agents.experimental.distributed.reverb_variable_container",
    "rlds_to_reverb": f"{_REPLAY}.rlds_to_reverb",
}
__all__ = list(_MODULES)

_INSTALL = "pip install 'reverb-tf[tf_agents]'"


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"TF-Agents needs the module {error.name}, which is not installed; run: {_INSTALL}",
            name=error.name,
        ) from error


def _check_installed() -> None:
    if importlib.util.find_spec("tf_agents") is None:
        # Of the Pythons after 3.11, none can build the pygame that TF-Agents' metadata asks for.
        more = " && pip install --no-deps tf-agents==0.19.0" if sys.version_info >= (3, 12) else ""
        raise ImportError(
            f"reverb_tf.tf_agents needs TF-Agents, which is not installed; run: {_INSTALL}{more}",
            name="tf_agents",
        )


def _check_keras(tf: Any) -> None:
    """TF-Agents is written for Keras 2, which since TensorFlow 2.16 is tf-keras."""
    minor = ".".join(tf.version.VERSION.split(".")[:2])
    try:
        keras = getattr(tf.keras, "__version__", "2")  # tf-keras has none there
    except ImportError:
        raise ImportError(
            "TF_USE_LEGACY_KERAS=1 is set, but tf-keras is not installed; "
            f"run: pip install --no-deps 'tf-keras=={minor}.*'",
            name="tf_keras",
        ) from None
    if int(keras.split(".")[0]) > 2:
        raise ImportError(
            f"TF-Agents needs Keras 2, but TensorFlow {tf.version.VERSION} uses Keras {keras}: set the environment "
            "variable TF_USE_LEGACY_KERAS=1 before TensorFlow is imported "
            f"(and, where tf-keras is missing, run: pip install --no-deps 'tf-keras=={minor}.*').",
            name="tf_keras",
        )


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _import(_MODULES[name])
    return module if name == "rlds_to_reverb" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_check_installed()
_check_keras(op_library.check_version())
install_as_reverb()
