#!/bin/bash
# Makes .peer, an environment with dm-reverb 0.14.0 (the library that reverb_tf takes over from), for the interoperability
# tests and benchmarks. It needs Python 3.11. Does nothing where it is up to date.
set -euo pipefail
source "$(dirname "$0")/env.sh"

python="$(find_python311)"
make_environment .peer "$python" third_party/python/peer-requirements.txt
