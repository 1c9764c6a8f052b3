#!/bin/bash
# Builds everything against the oldest TensorFlow that is supported (2.15.1, which needs Python 3.11), in a copy of the
# tree, and runs the tests of the graph side with it: tools/matrix.sh [ARGUMENTS OF PYTEST]. The newest one is what
# tools/check.sh builds with. REVERB_TF_OLD_PYTHON is the interpreter of an environment to use; by default .venv-tf215 is
# made.
set -euo pipefail
source "$(dirname "$0")/env.sh"

old_python="${REVERB_TF_OLD_PYTHON:-}"
if [[ -z "$old_python" ]]; then
  requirements=third_party/python/tf215-requirements.txt
  stamp=.venv-tf215/.stamp
  key="$(sha256sum < "$requirements")"
  if [[ "$(cat "$stamp" 2> /dev/null)" != "$key" ]]; then
    echo "making .venv-tf215 with TensorFlow 2.15.1"
    rm -rf .venv-tf215
    python3.11 -m venv .venv-tf215
    .venv-tf215/bin/python -m pip install -q --disable-pip-version-check --no-input -r "$requirements"
    echo "$key" > "$stamp"
  fi
  old_python="$PWD/.venv-tf215/bin/python"
fi

copy=build/tf215
mkdir -p "$copy"
find "$copy" -name '*.py' -delete
git ls-files -z --cached --others --exclude-standard -- reverb_tf tests examples benchmarks pyproject.toml README.md |
  xargs -0 cp --parents -t "$copy"
# An output base of its own: a change of TensorFlow would throw the usual one's analysis away.
export REVERB_TF_PYTHON="$old_python"
export REVERB_TF_OUTPUT_BASE="${REVERB_TF_OUTPUT_BASE:-$REVERB_TF_CACHE/bazel-$(pwd | sha256sum | cut -c1-12)}-tf215"
tools/build_in_place.sh "$copy/reverb_tf"
cd "$copy"
if [[ $# -eq 0 ]]; then set -- tests/tf; fi
"$old_python" -m pytest -q "$@"
