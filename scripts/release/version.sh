#!/usr/bin/env bash
# Prints the version of the workspace: `scripts/release/version.sh`.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$(sed -n '/^\[workspace\.package\]$/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
[[ -n "$version" ]] || { echo "error: [workspace.package] of Cargo.toml has no version" >&2; exit 1; }
echo "$version"
