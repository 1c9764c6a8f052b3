#!/bin/bash
# Makes or updates .venv, the Python environment of this checkout, from third_party/python/requirements.txt. Does nothing
# where it is up to date.
set -euo pipefail
source "$(dirname "$0")/env.sh"

python="$(find_python)"
version="$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
requirements=third_party/python/requirements.txt
constraints="third_party/python/constraints-$version.txt"
stamp=.venv/.stamp
key="$( (echo "$version"; cat "$requirements" "$constraints" 2>/dev/null || true) | sha256sum)"
[[ -x .venv/bin/python && "$(cat "$stamp" 2>/dev/null)" == "$key" ]] && exit 0

echo "making .venv with Python $version"
if [[ ! -x .venv/bin/python || "$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')" != "$version" ]]; then
  rm -rf .venv
  "$python" -m venv .venv
fi
arguments=(-r "$requirements")
[[ -e "$constraints" ]] && arguments+=(-c "$constraints")
.venv/bin/python -m pip install -q --disable-pip-version-check --no-input "${arguments[@]}"
echo "$key" > "$stamp"
