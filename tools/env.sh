# Sourced by the other scripts: where things are. Sets REVERB_TF_CACHE, REVERB_TF_PYTHON and BAZEL; changes to the root.
# Environment that is looked at:
#   REVERB_TF_CACHE        native dependencies, downloads and Bazel's disk cache (default ~/.cache/reverb_tf)
#   REVERB_TF_PYTHON       the interpreter to build for and test with (default: .venv of this checkout)
#   REVERB_TF_OUTPUT_BASE  Bazel's output base (default: Bazel's own choice)
#   REVERB_TF_JOBS         parallel compilations (default: the number of cores)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export REVERB_TF_CACHE="${REVERB_TF_CACHE:-$HOME/.cache/reverb_tf}"
export REVERB_TF_PYTHON="${REVERB_TF_PYTHON:-$PWD/.venv/bin/python}"
export REVERB_TF_JOBS="${REVERB_TF_JOBS:-$(nproc)}"

# first_python CONDITION NAMES...: prints the first of the interpreters whose version v, (major, minor), fulfils it.
first_python() {
  local condition="$1" name
  shift
  for name in "$@"; do
    if "$name" -c "import sys; v = sys.version_info[:2]; sys.exit(not ($condition))" 2>/dev/null; then
      command -v "$name"
      return
    fi
  done
  echo "this needs a python3 of version v with $condition, and there is none on PATH" >&2
  return 1
}

find_python() {
  first_python "(3, 10) <= v <= (3, 13)" python3 python3.11 python3.12 python3.13 python3.10 /usr/bin/python3
}

# The last that dm-reverb 0.14.0 and TensorFlow 2.15 run on.
find_python311() {
  first_python "v == (3, 11)" python3.11 python3 /usr/bin/python3 "$HOME"/.pyenv/versions/3.11*/bin/python3
}

# run_bazel [--suffix SUFFIX] COMMAND ARGS...: Bazel with this checkout's settings; SUFFIX names an output base beside
# the usual one.
run_bazel() {
  local startup=() suffix=""
  if [[ "$1" == --suffix ]]; then
    suffix="$2"
    shift 2
  fi
  if [[ -n "${REVERB_TF_OUTPUT_BASE:-}" ]]; then
    startup=("--output_base=$REVERB_TF_OUTPUT_BASE$suffix")
  elif [[ -n "$suffix" ]]; then  # a configuration of its own: switching would throw the other's analysis away
    startup=("--output_base=$REVERB_TF_CACHE/bazel-$(pwd | sha256sum | cut -c1-12)$suffix")
  fi
  tools/configure.sh
  local command="$1"
  shift
  bazel "${startup[@]}" "$command" "$@"
}

# Prints the version of the installed TensorFlow, or "none".
tensorflow_version() {
  "$REVERB_TF_PYTHON" third_party/tensorflow/describe.py 2>/dev/null | sed -n 's/^version=//p' | grep . || echo none
}

# make_environment FOLDER PYTHON REQUIREMENTS [PACKAGES]: a virtual environment with what the file lists, then the packages
# without what they ask for. Does nothing where it is up to date.
make_environment() {
  local folder="$1" python="$2" requirements="$3" key
  shift 3
  key="$( (cat "$requirements"; echo "$@"; readlink -f "$python") | sha256sum)"
  [[ "$(cat "$folder/.stamp" 2> /dev/null)" == "$key" ]] && return
  echo "making $folder with $("$python" --version) from $requirements"
  rm -rf "$folder"
  "$python" -m venv "$folder"
  local pip=("$folder/bin/python" -m pip install -q --disable-pip-version-check --no-input)
  "${pip[@]}" -r "$requirements"
  if [[ $# -gt 0 ]]; then "${pip[@]}" --no-deps "$@"; fi
  echo "$key" > "$folder/.stamp"
}
