#!/bin/bash
# Makes the trained reader the one of the product: publish.sh WEIGHTS.safetensors
# Writes the model file, its SHA-256 and length in the crate `embedder`, its fingerprint in `chat-core`, its name in the npm package, and
# what the tests compare with. Then fit the constants in chat-core/src/evidence/calibration.rs again. PYTHON has torch, safetensors and
# tokenizers (README.md); MODEL is the folder of all-MiniLM-L6-v2, where `cargo xtask setup model` puts it.
set -euo pipefail
weights=$(realpath "$1")
export MODEL=${MODEL:-${XDG_CACHE_HOME:-$HOME/.cache}/evidence-chat/models/all-MiniLM-L6-v2} PYTHONDONTWRITEBYTECODE=1
cd "$(dirname "$0")/../.."
crate=embedder-wasm
file=$crate/reader/reader-int8.safetensors
mkdir -p "$(dirname "$file")"
cargo run -q -p quantize -- reader --checkpoint "$weights" --model "$MODEL/model.safetensors" --out "$file"
sha256=$(sha256sum "$file" | cut -d' ' -f1)
bytes=$(stat -c %s "$file" | sed -E ':a; s/^([0-9]+)([0-9]{3})/\1_\2/; ta')
sed -i -E "s/^(pub const READER_SHA256: .*= )\".*\";/\1\"$sha256\";/; s/^(pub const READER_BYTES: .*= ).*;/\1$bytes;/" $crate/src/files.rs
sed -i -E "s/reader-int8-[0-9a-f]{8}/reader-int8-${sha256:0:8}/" $crate/npm/package.json
packing=$(sed -n 's/^const PACKING_VERSION: &str = "\(.*\)";/\1/p' $crate/src/files.rs)
embedder=$(sed -n 's/.*assert_eq!(fingerprint(), "\(.*\)");/\1/p' $crate/src/files.rs)
fingerprint=$(printf 'reader=%s;packing=%s;embedder=%s' "$sha256" "$packing" "$embedder" | sha256sum | cut -c1-16)
sed -i -E "s/^(pub const READER: .*= )\".*\";/\1\"$fingerprint\";/" chat-core/src/evidence/calibration.rs
"${PYTHON:-python3}" training/reader/golden.py "$weights" $crate/tests/reader.json
EVIDENCE_UPDATE_GOLDEN=1 cargo test -q -p embedder --lib every_kernel_returns_the_golden_scores
