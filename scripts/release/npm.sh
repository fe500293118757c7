#!/usr/bin/env bash
# Publishes the packed npm packages with provenance: `scripts/release/npm.sh DIR [--dry-run]`.
# Packages of a release depend on each other's exact versions, so each comes after what it depends on: otherwise it could not be
# installed in the meantime. A version that is already published is skipped, so a failed release can be run again.
set -euo pipefail
dir=$(cd "${1:?usage: npm.sh DIR [--dry-run]}" && pwd)
options=(--access public --ignore-scripts)
if [[ "${2:-}" == --dry-run ]]; then
  # Provenance needs the identity of a workflow run.
  options+=(--dry-run)
else
  options+=(--provenance)
fi
cd "$(dirname "$0")/../.."
version=$(scripts/release/version.sh)
tag=latest
[[ "$version" != *-* ]] || tag=next

names=$(node packages/build/names.mjs)
# Before the first is published.
for name in $names; do
  tarball=$dir/$(tr / - <<<"${name#@}")-$version.tgz
  [[ -f "$tarball" ]] || { echo "error: $tarball is missing" >&2; exit 1; }
done
for name in $names; do
  if [[ "${2:-}" != --dry-run ]] && npm view "$name@$version" version >/dev/null 2>&1; then
    echo "$name@$version is already published"
    continue
  fi
  npm publish "$dir/$(tr / - <<<"${name#@}")-$version.tgz" "${options[@]}" --tag "$tag"
done
