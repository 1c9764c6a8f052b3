#!/bin/bash
# Makes .peer, an environment with dm-reverb 0.14.0 (the library that reverb_tf takes over from), for the interoperability
# tests and benchmarks. It needs Python 3.11. Does nothing where it is up to date.
set -euo pipefail
source "$(dirname "$0")/env.sh"

requirements=third_party/python/peer-requirements.txt
stamp=.peer/.stamp
key="$(sha256sum < "$requirements")"
[[ -x .peer/bin/python && "$(cat "$stamp" 2>/dev/null)" == "$key" ]] && exit 0

python=""
for name in python3.11 python3 /usr/bin/python3 "$HOME"/.pyenv/versions/3.11*/bin/python3; do
  if "$name" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
    python="$name"
    break
  fi
done
if [[ -z "$python" ]]; then
  echo "dm-reverb 0.14.0 needs Python 3.11, and there is none on PATH" >&2
  exit 1
fi
echo "making .peer with $("$python" --version) and dm-reverb 0.14.0"
rm -rf .peer
"$python" -m venv .peer
.peer/bin/python -m pip install -q --disable-pip-version-check --no-input -r "$requirements"
.peer/bin/python -c 'import reverb; reverb.Table.queue("t", 1)' > /dev/null
echo "$key" > "$stamp"
