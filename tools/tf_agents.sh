#!/bin/bash
# Runs what needs TF-Agents in .tf_agents, an environment of its own that it makes when it is missing: the tests in
# tests/tf_agents, and TF-Agents' own tests of what it does with `import reverb`, unmodified, on this package.
# The package must be built (make build).
set -euo pipefail
source "$(dirname "$0")/env.sh"

requirements=third_party/python/tf-agents-requirements.txt
without_dependencies=(tf-keras==2.21.0 tf-agents==0.19.0 rlds==0.1.8)
stamp=.tf_agents/.stamp
key="$( (cat "$requirements"; echo "${without_dependencies[@]}"; readlink -f "$REVERB_TF_PYTHON") | sha256sum)"
if [[ "$(cat "$stamp" 2> /dev/null)" != "$key" ]]; then
  echo "making .tf_agents with ${without_dependencies[*]}"
  rm -rf .tf_agents
  "$REVERB_TF_PYTHON" -m venv .tf_agents
  .tf_agents/bin/python -m pip install -q --disable-pip-version-check --no-input -r "$requirements"
  .tf_agents/bin/python -m pip install -q --disable-pip-version-check --no-input --no-deps "${without_dependencies[@]}"
  echo "$key" > "$stamp"
fi

export TF_USE_LEGACY_KERAS=1 TF_CPP_MIN_LOG_LEVEL=2
.tf_agents/bin/python -m pytest -q tests/tf_agents "$@"

own_tests=(
  tf_agents.replay_buffers.reverb_utils_test
  tf_agents.replay_buffers.reverb_replay_buffer_test
  tf_agents.replay_buffers.rlds_to_reverb_test
  tf_agents.experimental.distributed.reverb_variable_container_test
  tf_agents.train.actor_test
  tf_agents.train.utils.replay_buffer_utils_test
  tf_agents.train.utils.train_utils_test
)
logs=build/tf_agents
mkdir -p "$logs"
failed=0
for module in "${own_tests[@]}"; do
  if .tf_agents/bin/python -m reverb_tf.as_reverb -m "$module" &> "$logs/$module.log"; then
    echo "$module: $(grep -E '^Ran ' "$logs/$module.log")"
  else
    echo "$module FAILED: see $logs/$module.log"
    failed=1
  fi
done
exit "$failed"
