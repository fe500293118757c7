#!/usr/bin/env bash
# Builds kb for a target and packs it, with its model and its reader as an archive and without them as an npm package:
#   scripts/release/kb.sh TARGET MODEL_FILE OUT [--binary FILE]
# --binary packs a program that is already built.
set -euo pipefail
usage="usage: kb.sh TARGET MODEL_FILE OUT [--binary FILE]"
target=${1:?$usage} model=${2:?$usage} out=${3:?$usage}
mkdir -p "$out"
out=$(cd "$out" && pwd)
model=$(cd "$(dirname "$model")" && pwd)/$(basename "$model")

if [[ "${4:-}" == --binary ]]; then
  binary=$(cd "$(dirname "${5:?$usage}")" && pwd)/$(basename "$5")
  cd "$(dirname "$0")/../.."
else
  cd "$(dirname "$0")/../.."
  # Users download it: symbols are half of its size.
  CARGO_PROFILE_RELEASE_STRIP=symbols cargo build --locked --release --package kb --bin kb --target "$target"
  binary=${CARGO_TARGET_DIR:-target}/$target/release/kb
fi
version=$(scripts/release/version.sh)
program=kb
if [[ "$target" == *windows* ]]; then
  program=kb.exe
  [[ "$binary" == *.exe ]] || binary=$binary.exe
fi

name=kb-$version-$target
staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
mkdir "$staging/$name"
cp "$binary" "$staging/$name/$program"
cp "$model" "$staging/$name/all-MiniLM-L6-v2-int8.safetensors"
cp embedder-wasm/reader/reader-int8.safetensors "$staging/$name"
cp LICENSE LICENSE-APACHE LICENSE-MIT "$staging/$name"
node tools/third-party.mjs kb "$target" >"$staging/$name/THIRD-PARTY.md"
cat >"$staging/$name/README.txt" <<END
kb $version, the command line for the knowledge base of Evidence Chat.

Set EVIDENCE_MODEL_DIR to this folder, which holds the model and the reader, and run: kb --help
Guide: https://github.com/evidence-chat/evidence-chat/blob/v$version/docs/admin.md
The model is all-MiniLM-L6-v2 by the sentence-transformers project, Apache-2.0, with quantised weights. The reader is four of its
layers, trained further.
END

# Only a program for this machine can be tried.
if [[ "$(rustc -vV | sed -n 's/^host: //p')" == "$target" ]]; then
  EVIDENCE_MODEL_DIR="$staging/$name" "$staging/$name/$program" embed "How do I get a refund?" |
    node -e 'const { vector } = JSON.parse(require("fs").readFileSync(0, "utf8")); if (vector.length !== 384) throw new Error("no vector");'
  echo "the packed program embeds a text"
else
  echo "not run: this machine is not $target"
fi
tar -czf "$out/$name.tar.gz" -C "$staging" "$name"
ls -l "$out/$name.tar.gz"
tarball=$(node packages/build/pack.mjs "$out" --kb "$target=$staging/$name/$program" --only none)
ls -l "$tarball"
