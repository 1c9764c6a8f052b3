#!/bin/bash
# The one command that says whether the tree is good.
#
#   tools/check.sh                  format, lint, layering, build, symbols, thread-safety, C++ and Python tests
#   tools/check.sh asan|tsan|ubsan  the C++ tests under a sanitizer (dependencies instrumented too, built on first use)
#   tools/check.sh bench            builds and runs the benchmarks
#   tools/check.sh lint|build|cc|python|symbols|clang   one part of the default
#
# Takes what is built and what has passed from the caches: a second run does no needless work.
set -euo pipefail
source "$(dirname "$0")/env.sh"

say() { echo "== $*"; }

check_lint() {
  say "format and lint"
  git ls-files -z --cached --others --exclude-standard -- '*.h' '*.cc' | xargs -0 -r clang-format --dry-run --Werror
  "$REVERB_TF_PYTHON" -m ruff check --quiet .
  "$REVERB_TF_PYTHON" -m ruff format --quiet --check --diff .
  "$REVERB_TF_PYTHON" tools/layering_test.py
  compgen -G 'proto/*.proto' > /dev/null && tools/generate_protos.sh --check
}

check_build() {
  say "build"
  tools/build_in_place.sh
}

check_symbols() {
  say "symbols"
  "$REVERB_TF_PYTHON" tools/check_symbols.py reverb_tf
}

check_cc() {
  say "C++ tests"
  run_bazel test --keep_going --test_tag_filters=-manual --build_tests_only "$@" -- //cc/...
}

check_clang() {
  say "thread-safety analysis"
  local libraries
  libraries="$(run_bazel query 'kind(cc_library, //cc/core/... + //cc/wire/... + //cc/checkpoint/... + //cc/server/... + //cc/client/...)' 2> /dev/null)"
  # shellcheck disable=SC2086
  run_bazel --suffix -clang build --config=clang --keep_going -- $libraries
}

check_python() {
  say "Python tests"
  "$REVERB_TF_PYTHON" -m pytest -q "$@"
}

# The Python tests, unless they have passed on exactly these files, libraries and environments.
check_python_once() {
  local key
  key="$( (
    git ls-files -z --cached --others --exclude-standard | grep -z -E '\.(py|toml|md|txt)$' | xargs -0 sha256sum
    sha256sum reverb_tf/*.so
    cat .venv/.stamp .peer/.stamp "$(readlink -f "$REVERB_TF_PYTHON")" 2> /dev/null || true
  ) | sha256sum | cut -c1-32)"
  if [[ -e ".stamps/python-$key" ]]; then
    say "Python tests: passed before on the same files"
    return
  fi
  check_python
  mkdir -p .stamps
  rm -f .stamps/python-*
  touch ".stamps/python-$key"
}

check_sanitizer() {
  say "C++ tests with $1"
  local folder="$PWD/tools/sanitizers"
  run_bazel --suffix "-$1" test --keep_going --config="$1" --build_tests_only \
    --test_env="LSAN_OPTIONS=suppressions=$folder/lsan.supp:print_suppressions=0" \
    --test_env="TSAN_OPTIONS=suppressions=$folder/tsan.supp:halt_on_error=1:second_deadlock_stack=1" \
    -- //cc/core/... //cc/checkpoint/... //cc/wire/... //cc/server/... //cc/client/...
}

check_bench() {
  say "benchmarks"
  local target
  for target in $(run_bazel query 'attr(tags, "benchmark", //cc/... + //benchmarks/...)' 2> /dev/null); do
    run_bazel run "$target"
  done
}

case "${1:-all}" in
  all)
    check_lint
    check_build
    check_symbols
    check_cc
    check_clang
    check_python_once
    say "all checks passed"
    ;;
  asan | tsan | ubsan) check_sanitizer "$1" ;;
  bench) check_bench ;;
  lint | build | cc | python | symbols | clang) check="check_$1"; shift; "$check" "$@" ;;
  *) sed -n '2,9p' "$0" >&2; exit 2 ;;
esac
