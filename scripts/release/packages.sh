#!/usr/bin/env bash
# Builds and packs the npm packages: `scripts/release/packages.sh OUT [--prebuilt]`.
# OUT gets the tarballs, the model file and the SBOM of each product. --prebuilt packs what dist/ already contains.
set -euo pipefail
out=${1:?usage: packages.sh OUT [--prebuilt]}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/../.."

if [[ "${2:-}" == --prebuilt ]]; then
  echo "packing what dist/ contains; no SBOM"
else
  cargo xtask build web worker
  cargo xtask sbom --out "$out"
fi

model=$(node -p 'require("./embedder-wasm/npm/package.json").exports["./model"].slice("./dist/".length)')
reader=$(node -p 'require("./embedder-wasm/npm/package.json").exports["./reader"].slice("./dist/".length)')
# kb reads the uncompressed file.
gunzip -c "embedder-wasm/npm/dist/$model" >"$out/all-MiniLM-L6-v2-int8.safetensors"

plugins=(integrations/docusaurus integrations/starlight integrations/vitepress)
for package in embedder-wasm/npm writer/npm web "${plugins[@]}"; do
  # Runs the package's own check (`prepack`), which refuses a stale or incomplete build.
  npm pack --loglevel=error --pack-destination "$out" "./$package"
done
# The programs that users run with npx; scripts/release/kb.sh packs the one of each platform.
node packages/build/pack.mjs "$out"

# A package without its program, its model or its licence must not be published.
require() {
  local tarball=$1 file
  shift
  for file in "$@"; do
    tar -tzf "$tarball" "package/$file" >/dev/null || { echo "error: $tarball lacks $file" >&2; exit 1; }
  done
}
require "$out"/evidence-chat-embedder-*.tgz dist/index.js dist/worker.js dist/embedder_bg.wasm \
  dist/embedder_relaxed_bg.wasm "dist/$model" "dist/$reader" dist/LICENSE-APACHE dist/LICENSE-MIT dist/THIRD-PARTY.md
require "$out"/evidence-chat-writer-*.tgz dist/index.js dist/wllama.js dist/wllama.wasm dist/verifier_bg.wasm \
  dist/index.d.ts dist/LICENSE-APACHE dist/LICENSE-MIT dist/THIRD-PARTY.md THIRD-PARTY.md
require "$out"/evidence-chat-widget-*.tgz dist/evidence-chat.js dist/index.js dist/client.js dist/types/index.d.ts \
  dist/integrity.json LICENSE-APACHE LICENSE-MIT THIRD-PARTY.md
for plugin in docusaurus starlight vitepress; do
  require "$out/evidence-chat-$plugin"-*.tgz src/index.js src/index.d.ts LICENSE-APACHE LICENSE-MIT
done
require "$out"/evidence-chat-mcp-*.tgz bin.mjs src/server.mjs LICENSE-APACHE LICENSE-MIT
require "$out"/evidence-chat-[0-9]*.tgz bin.mjs dist/edge-chat/build/index.js dist/edge-chat/build/index_bg.wasm \
  dist/edge-chat/assets/evidence-chat.js dist/edge-chat/assets/_headers dist/edge-chat/assets/writer/THIRD-PARTY.md \
  dist/wrangler.toml dist/supabase/seed.sql dist/web/dist/demo/index.html dist/web/dist/demo/THIRD-PARTY.md \
  LICENSE-APACHE LICENSE-MIT THIRD-PARTY.md
for tarball in "$out"/*.tgz; do
  [[ "$tarball" != */evidence-chat-embedder-* ]] || continue
  if tar -tzf "$tarball" | grep '\.safetensors'; then
    echo "error: the model belongs to the embedder's tarball alone, not to $tarball" >&2
    exit 1
  fi
done
ls -l "$out"
