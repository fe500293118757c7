#!/usr/bin/env bash
# Builds the container image from the released archives of kb, and pushes it:
#   scripts/release/image.sh IMAGE DIR [--dry-run]
# DIR holds kb-VERSION-{x86_64,aarch64}-unknown-linux-gnu.tar.gz. Writes the digest to DIGEST_FILE, if that is set.
# --dry-run prepares the build context and prints the command.
set -euo pipefail
usage="usage: image.sh IMAGE DIR [--dry-run]"
image=${1:?$usage}
dir=$(cd "${2:?$usage}" && pwd)
cd "$(dirname "$0")/../.."
version=$(scripts/release/version.sh)

context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
mkdir -p "$context/model" "$context/licenses"
for pair in amd64:x86_64 arm64:aarch64; do
  archive=$dir/kb-$version-${pair#*:}-unknown-linux-gnu.tar.gz
  folder=$context/kb/linux/${pair%:*}
  mkdir -p "$folder"
  tar -xzf "$archive" -C "$folder" --strip-components=1
  mv "$folder"/*.safetensors "$context/model/"
  mv "$folder"/LICENSE* "$folder/THIRD-PARTY.md" "$context/licenses/"
  rm "$folder/README.txt"
  [[ -x "$folder/kb" ]] || { echo "error: $archive has no program kb" >&2; exit 1; }
done
cp scripts/release/Dockerfile "$context"

metadata=$context/metadata.json
# A pre-release does not become the image that people get without naming a version.
tags=(--tag "$image:$version")
[[ "$version" == *-* ]] || tags+=(--tag "$image:latest")
build=(docker buildx build --platform "linux/amd64,linux/arm64" --push --provenance=false "${tags[@]}"
  --label "org.opencontainers.image.source=https://github.com/evidence-chat/evidence-chat"
  --label "org.opencontainers.image.version=$version"
  --label "org.opencontainers.image.licenses=MIT OR Apache-2.0"
  --metadata-file "$metadata" "$context")
if [[ "${3:-}" == --dry-run ]]; then
  (cd "$context" && find . -type f -exec ls -l {} +)
  echo "${build[@]}"
  exit
fi
docker buildx create --use --name evidence-chat >/dev/null 2>&1 || docker buildx use evidence-chat
"${build[@]}"
digest=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"))["containerimage.digest"]' "$metadata")
echo "$image@$digest"
[[ -z "${DIGEST_FILE:-}" ]] || echo "digest=$digest" >>"$DIGEST_FILE"
