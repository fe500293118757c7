#!/usr/bin/env bash
# Writes SHA256SUMS of all files of a folder, and checks it: `scripts/release/checksums.sh DIR`.
set -euo pipefail
cd "${1:?usage: checksums.sh DIR}"
rm -f SHA256SUMS
files=(*)
[[ -f "${files[0]}" ]] || { echo "error: nothing to release in $PWD" >&2; exit 1; }
sha256sum -- "${files[@]}" >SHA256SUMS
sha256sum --check --strict SHA256SUMS
