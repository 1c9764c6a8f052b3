#!/bin/bash
# Builds the three shared libraries and puts them into reverb_tf/, so that the package runs from the checkout.
# libreverb_tf_ops.so is left out where TensorFlow is not installed.
set -euo pipefail
source "$(dirname "$0")/env.sh"

target="${1:-reverb_tf}"
export REVERB_TF_TENSORFLOW_VERSION="$(tensorflow_version)"
targets=(//:libreverb_tf_core.so //:_reverb.so)
if [[ "$REVERB_TF_TENSORFLOW_VERSION" == none ]]; then
  echo "TensorFlow is not installed for $REVERB_TF_PYTHON: libreverb_tf_ops.so is not built" >&2
else
  targets+=(//:libreverb_tf_ops.so)
fi
python3 third_party/native/build.py > /dev/null  # Bazel would do it, silently
run_bazel build "${targets[@]}"

suffix="$("$REVERB_TF_PYTHON" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')"
binaries="$(run_bazel info bazel-bin 2> /dev/null)"
for label in "${targets[@]}"; do
  name="${label#//:}"
  file="$target/${name/_reverb.so/_reverb$suffix}"
  # Through a rename: a process that has the old one mapped keeps it.
  if ! cmp -s "$binaries/$name" "$file"; then
    cp "$binaries/$name" "$file.new"
    chmod 755 "$file.new"
    mv "$file.new" "$file"
  fi
done
