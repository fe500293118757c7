#!/usr/bin/env bash
# Publishes the packed npm packages with provenance: `scripts/release/npm.sh DIR [--dry-run]`.
# The widget depends on exactly the embedder's version, so the embedder comes first: otherwise the widget could not be
# installed in the meantime. A version that is already published is skipped, so a failed release can be run again.
set -euo pipefail
dir=${1:?usage: npm.sh DIR [--dry-run]}
options=(--access public --ignore-scripts)
if [[ "${2:-}" == --dry-run ]]; then
  # Provenance needs the identity of a workflow run.
  options+=(--dry-run)
else
  options+=(--provenance)
fi

for name in embedder writer widget; do
  tarballs=("$dir"/evidence-chat-"$name"-*.tgz)
  [[ ${#tarballs[@]} -eq 1 && -f "${tarballs[0]}" ]] || { echo "error: not one $name tarball in $dir" >&2; exit 1; }
  tarball=$(cd "$dir" && pwd)/$(basename "${tarballs[0]}")
  version=$(tar -xzOf "$tarball" package/package.json | node -p 'JSON.parse(require("fs").readFileSync(0, "utf8")).version')
  tag=latest
  [[ "$version" != *-* ]] || tag=next
  if [[ "${2:-}" != --dry-run ]] && npm view "@evidence-chat/$name@$version" version >/dev/null 2>&1; then
    echo "@evidence-chat/$name@$version is already published"
    continue
  fi
  npm publish "$tarball" "${options[@]}" --tag "$tag"
done
