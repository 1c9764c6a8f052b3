#!/bin/bash
# Runs what needs TF-Agents, in environments of their own that it makes when they are missing: the tests in
# tests/tf_agents, and TF-Agents' own tests of what it does with `import reverb`, unmodified, on this package.
#
#   tools/tf_agents.sh 2.21 [MODULES]   .tf_agents; the package must be built (make build)
#   tools/tf_agents.sh 2.15 [MODULES]   .tf_agents-tf215; builds build/tf215
#
# MODULES are TF-Agents' tests to run instead of everything, such as tf_agents.train.learner_test.
set -euo pipefail
source "$(dirname "$0")/env.sh"

modules=(
  tf_agents.replay_buffers.reverb_utils_test
  tf_agents.replay_buffers.reverb_replay_buffer_test
  tf_agents.replay_buffers.rlds_to_reverb_test
  tf_agents.experimental.distributed.reverb_variable_container_test
  tf_agents.train.actor_test
  tf_agents.train.utils.replay_buffer_utils_test
  tf_agents.train.utils.train_utils_test
)
version="${1:-}"
shift || true

logs="$PWD/build/tf_agents/$version"
mkdir -p "$logs"
export TF_CPP_MIN_LOG_LEVEL=2
case "$version" in
  2.21)
    python="$PWD/.tf_agents/bin/python"
    make_environment .tf_agents "$REVERB_TF_PYTHON" third_party/python/tf-agents-requirements.txt \
      tf-keras==2.21.0 tf-agents==0.19.0 rlds==0.1.8
    export TF_USE_LEGACY_KERAS=1
    ;;
  2.15)  # which has Keras 2 itself
    python="$PWD/.tf_agents-tf215/bin/python"
    old_python="$(find_python311)"
    make_environment .tf_agents-tf215 "$old_python" third_party/python/tf-agents-tf215-requirements.txt
    tools/build_tf215.sh
    cd build/tf215
    ;;
  *)
    sed -n '2,9p' "$0" >&2
    exit 2
    ;;
esac

if [[ $# -gt 0 ]]; then
  modules=("$@")
else
  "$python" -m pytest -q tests/tf_agents
fi
failed=0
for module in "${modules[@]}"; do
  if "$python" -m reverb_tf.as_reverb -m "$module" &> "$logs/$module.log"; then
    echo "$module: $(grep -E '^Ran ' "$logs/$module.log")"
  else
    echo "$module FAILED: see $logs/$module.log"
    failed=1
  fi
done
exit "$failed"
