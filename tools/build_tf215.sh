#!/bin/bash
# Builds everything against the oldest TensorFlow that is supported (2.15.1, which needs Python 3.11), in a copy of the
# package and its tests, build/tf215. REVERB_TF_OLD_PYTHON is the interpreter of an environment to use; by default
# .venv-tf215 is made.
set -euo pipefail
source "$(dirname "$0")/env.sh"

if [[ -z "${REVERB_TF_OLD_PYTHON:-}" ]]; then
  python="$(find_python311)"
  make_environment .venv-tf215 "$python" third_party/python/tf215-requirements.txt
  REVERB_TF_OLD_PYTHON="$PWD/.venv-tf215/bin/python"
fi

copy=build/tf215
mkdir -p "$copy"
find "$copy" -name '*.py' -delete
git ls-files -z --cached --others --exclude-standard -- reverb_tf tests examples benchmarks pyproject.toml README.md |
  xargs -0 cp --parents -t "$copy"
# An output base of its own: a change of TensorFlow would throw the usual one's analysis away.
export REVERB_TF_PYTHON="$REVERB_TF_OLD_PYTHON"
export REVERB_TF_OUTPUT_BASE="${REVERB_TF_OUTPUT_BASE:-$REVERB_TF_CACHE/bazel-$(pwd | sha256sum | cut -c1-12)}-tf215"
tools/build_in_place.sh "$copy/reverb_tf"
