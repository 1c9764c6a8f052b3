#!/bin/bash
# Formats C++ and Python as tools/check.sh wants it: tools/format.sh [FOLDER...], default everything.
set -euo pipefail
source "$(dirname "$0")/env.sh"
folders=("${@:-.}")
git ls-files -z --cached --others --exclude-standard -- "${folders[@]}" | { grep -z -E '\.(h|cc)$' || true; } |
  xargs -0 -r clang-format -i
"$REVERB_TF_PYTHON" -m ruff check --quiet --select I --fix "${folders[@]}"
"$REVERB_TF_PYTHON" -m ruff format --quiet "${folders[@]}"
