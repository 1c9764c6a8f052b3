#!/bin/bash
# Installs the Debian packages of tools/packages.txt that are missing (and python3's venv and headers where python3 is
# Debian's). Does nothing, quickly, where all are there. Needs root only when something is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=($(grep -v '^#' tools/packages.txt))
python="$(command -v python3 || true)"
if [[ -z "$python" || "$(readlink -f "$python")" == /usr/bin/* ]]; then
  wanted+=(python3 python3-venv python3-dev)
fi

installed="$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)"
missing=()
for package in "${wanted[@]}"; do
  grep -qx "$package installed" <<< "$installed" || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

echo "installing Debian packages: ${missing[*]}"
if [[ "$(id -u)" -ne 0 ]]; then
  echo "these packages are missing, and installing them needs root: apt-get install ${missing[*]}" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -o Acquire::Retries=3 update
apt-get -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}" > /dev/null
