#!/bin/bash
# Runs the tests of the graph side with the oldest TensorFlow that is supported (tools/build_tf215.sh), 2.15.1; the newest
# one is what tools/check.sh builds with: tools/matrix.sh [ARGUMENTS OF PYTEST].
set -euo pipefail
source "$(dirname "$0")/env.sh"

tools/build_tf215.sh
cd build/tf215
if [[ $# -eq 0 ]]; then set -- tests/tf tests/conformance_test.py; fi
exec "${REVERB_TF_OLD_PYTHON:-../../.venv-tf215/bin/python}" -m pytest -q "$@"
