#!/usr/bin/env bash
# Makes the GitHub release of a tag from all files of a folder: `scripts/release/github.sh TAG DIR NOTES_FILE [--dry-run]`.
# A release that exists gets the files again, so a failed run can be repeated.
set -euo pipefail
usage="usage: github.sh TAG DIR NOTES_FILE [--dry-run]"
tag=${1:?$usage} dir=${2:?$usage} notes=${3:?$usage}
dry=${4:-}
# macOS has only shasum.
sum=(sha256sum)
command -v sha256sum >/dev/null || sum=(shasum -a 256)

(cd "$dir" && "${sum[@]}" --check --strict --quiet SHA256SUMS)
[[ -s "$notes" ]] || { echo "error: no release notes in $notes" >&2; exit 1; }
files=("$dir"/*)
if [[ "$dry" != --dry-run ]] && gh release view "$tag" >/dev/null 2>&1; then
  gh release upload "$tag" --clobber "${files[@]}"
else
  options=(--verify-tag --title "Evidence Chat ${tag#v}" --notes-file "$notes")
  [[ "$tag" != *-* ]] || options+=(--prerelease)
  create=(gh release create "$tag" "${options[@]}" "${files[@]}")
  if [[ "$dry" == --dry-run ]]; then echo "${create[@]}"; else "${create[@]}"; fi
fi
