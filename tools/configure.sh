#!/bin/bash
# Writes .bazelrc.local: where Bazel's disk cache is, and how many jobs. Called by the other scripts; quick.
set -euo pipefail
cd "$(dirname "$0")/.."
cache="${REVERB_TF_CACHE:-$HOME/.cache/reverb_tf}"
text="build --disk_cache=$cache/bazel-disk
build --jobs=${REVERB_TF_JOBS:-$(nproc)}"
if [[ "$(cat .bazelrc.local 2>/dev/null)" != "$text" ]]; then
  echo "$text" > .bazelrc.local
fi
