#!/usr/bin/env bash
# Writes SHA256SUMS of all files of a folder, and checks it: `scripts/release/checksums.sh DIR`.
set -euo pipefail
cd "${1:?usage: checksums.sh DIR}"
rm -f SHA256SUMS
files=(*)
[[ -f "${files[0]}" ]] || { echo "error: nothing to release in $PWD" >&2; exit 1; }
# macOS has only shasum.
sum=(sha256sum)
command -v sha256sum >/dev/null || sum=(shasum -a 256)
"${sum[@]}" -- "${files[@]}" >SHA256SUMS
"${sum[@]}" --check SHA256SUMS
