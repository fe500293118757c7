//! The same bits everywhere: compares every kernel of this machine with the committed golden vectors.
//! `tests/embedder/golden.test.mjs` compares Node.js and Chromium with them.
//!
//! The golden scores of a reader are in this file, since no reader ships.
//!
//! After an intended change of the engine or the model, run this test with `EVIDENCE_UPDATE_GOLDEN=1` to rewrite them.

#[path = "../tests/model/mod.rs"]
pub(crate) mod model;

use serde_json::{Value, json};

use crate::{DIMENSIONS, Embedder, Embedding, Reader, fingerprint, kernels::AnyKernel};

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
fn every_kernel_returns_the_golden_vectors() {
    let model = model::real_file().to_vec();
    let embed = |kernel| {
        let mut embedder = Embedder::with_kernel(model.clone(), kernel).unwrap();
        let texts = texts();
        let one_by_one: Vec<Embedding> = texts.iter().map(|text| embedder.embed(text)).collect();
        assert_eq!(embedder.embed_batch(&texts), one_by_one, "{kernel}: a batch differs");
        golden(&texts, &one_by_one)
    };
    if std::env::var_os("EVIDENCE_UPDATE_GOLDEN").is_some() {
        let text = serde_json::to_string_pretty(&embed(AnyKernel::BASELINE)).unwrap();
        std::fs::write(GOLDEN, text + "\n").unwrap();
    }
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(GOLDEN).unwrap()).unwrap();
    for kernel in AnyKernel::available() {
        assert!(embed(kernel) == expected, "{kernel} differs from the golden vectors");
    }
}

#[test]
fn a_vector_does_not_depend_on_the_texts_before() {
    // Full panels of tokens, which include two that mark the ends, and one token more.
    let texts = [0, 1, 6, 7, 14, 15, 30, 31, 62, 63].map(|words| "refund ".repeat(words));
    for kernel in AnyKernel::available() {
        let unused = Embedder::with_kernel(model::real_file().to_vec(), kernel).unwrap();
        let mut used = unused.clone();
        for text in texts.iter().rev() {
            let vector = used.embed(text).vector;
            assert_eq!(unused.clone().embed(text).vector, vector, "{kernel}: {} bytes", text.len());
        }
        let one_by_one: Vec<Embedding> = texts.iter().map(|text| used.embed(text)).collect();
        assert_eq!(unused.clone().embed_batch(&texts), one_by_one, "{kernel}: a batch");
    }
}

/// The bits of the scores that the made-up reader gives the question with each text.
const GOLDEN_SCORES: [u32; 11] = [
    0x3e70_684c,
    0x3e44_f41c,
    0xbcaf_8a00,
    0x3e57_e0b8,
    0xbe43_c2be,
    0x3f22_13be,
    0xbe81_3ce0,
    0x3e1c_b56c,
    0x3df0_9d20,
    0x3f31_2352,
    0x3f58_404e,
];

#[test]
fn every_kernel_returns_the_golden_scores_of_pairs() {
    let file = model::Model::reader().to_bytes();
    for kernel in AnyKernel::available() {
        let mut reader = Reader::with_kernel(file.clone(), kernel).unwrap();
        let question = "Can I get my money back?";
        let one_by_one: Vec<u32> =
            texts().iter().map(|text| reader.score(question, text).to_bits()).collect();
        let batch: Vec<u32> = reader.score_batch(question, &texts()).into_iter().map(f32::to_bits).collect();
        assert_eq!(batch, one_by_one, "{kernel}: a batch differs");
        assert_eq!(one_by_one, GOLDEN_SCORES, "{kernel} differs from the golden scores");
    }
}

/// Vectors as hexadecimal digits of their little-endian f32 bytes.
fn golden(texts: &[String], embeddings: &[Embedding]) -> Value {
    let items = texts.iter().zip(embeddings).map(|(text, embedding)| {
        assert_eq!(embedding.vector.len(), DIMENSIONS);
        let bytes = embedding.vector.iter().flat_map(|value| value.to_le_bytes());
        let vector: String = bytes.map(|byte| format!("{byte:02x}")).collect();
        json!({ "text": text, "tokens": embedding.tokens, "truncated": embedding.truncated, "vector": vector })
    });
    json!({ "fingerprint": fingerprint(), "items": items.collect::<Vec<_>>() })
}
