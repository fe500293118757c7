//! The same bits everywhere: every kernel of this machine against the committed golden vectors, which
//! `tests/embedder/golden.test.mjs` holds against Node.js and Chromium.
//!
//! After a change of the engine or the model on purpose, `EVIDENCE_UPDATE_GOLDEN=1` with this test writes them anew.

use std::path::Path;

use serde_json::{Value, json};

use crate::{DIMENSIONS, Embedder, Embedding, MODEL_FILE, fingerprint, kernels::Instructions};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden.json");

fn texts() -> Vec<String> {
    let passage = "Returns are free within 30 days of delivery. Send the item back in its original packaging, with the \
                   receipt; the refund reaches your account 3–5 working days after we have checked it. ";
    let mut texts: Vec<String> = [
        "",
        "refund",
        "Can I get my money back?",
        "¿Dónde está mi pedido nº 4711?",
        "返品はいつまで可能ですか。 配送料は無料ですか。",
        "ΑΒΓ naïve coöperation — 50 % off, 10:30–11:45, user@example.org",
        "fn main() { println!(\"{:?}\", vec![1, 2, 3].iter().sum::<i32>()); }",
    ]
    .map(str::to_owned)
    .into();
    texts.extend([1, 2, 4, 12].map(|times| passage.repeat(times)));
    texts
}

#[test]
fn every_kernel_gives_the_golden_vectors() {
    let dir = std::env::var_os("EVIDENCE_MODEL_DIR").expect("EVIDENCE_MODEL_DIR; `cargo xtask test` sets it");
    let model = std::fs::read(Path::new(&dir).join(MODEL_FILE)).expect("the model file");
    let embed = |instructions| {
        let mut embedder = Embedder::with_instructions(model.clone(), instructions).unwrap();
        let texts = texts();
        let one_by_one: Vec<Embedding> = texts.iter().map(|text| embedder.embed(text)).collect();
        assert_eq!(embedder.embed_batch(&texts), one_by_one, "{instructions}: a batch differs");
        golden(&texts, &one_by_one)
    };
    if std::env::var_os("EVIDENCE_UPDATE_GOLDEN").is_some() {
        let text = serde_json::to_string_pretty(&embed(Instructions::Scalar)).unwrap();
        std::fs::write(GOLDEN, text + "\n").unwrap();
    }
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(GOLDEN).unwrap()).unwrap();
    for instructions in Instructions::available() {
        assert!(embed(instructions) == expected, "{instructions} differs from the golden vectors");
    }
}

/// Vectors as the hexadecimal digits of their little-endian f32 bytes.
fn golden(texts: &[String], embeddings: &[Embedding]) -> Value {
    let items = texts.iter().zip(embeddings).map(|(text, embedding)| {
        assert_eq!(embedding.vector.len(), DIMENSIONS);
        let bytes = embedding.vector.iter().flat_map(|value| value.to_le_bytes());
        let vector: String = bytes.map(|byte| format!("{byte:02x}")).collect();
        json!({ "text": text, "tokens": embedding.tokens, "truncated": embedding.truncated, "vector": vector })
    });
    json!({ "fingerprint": fingerprint(), "items": items.collect::<Vec<_>>() })
}
