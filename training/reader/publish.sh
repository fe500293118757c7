#!/bin/bash
# Makes the trained reader the one of the product: publish.sh WEIGHTS.safetensors
# Writes the model file, its SHA-256 and length in the crate `embedder`, and what the tests compare with. PYTHON has torch, safetensors and
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
"${PYTHON:-python3}" training/reader/golden.py "$weights" $crate/tests/reader.json
EVIDENCE_UPDATE_GOLDEN=1 cargo test -q -p embedder --lib every_kernel_returns_the_golden_scores
