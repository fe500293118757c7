//! Token ids and vectors against two reference implementations.
//!
//! `reference.json` has the ids and f32 vectors of sentence-transformers for 54 texts. For any other text the oracle is
//! candle's `BertModel` on the f32 weights. Needs the model (`cargo xtask setup`).

mod oracle;

use std::path::Path;

use embedder::{DIMENSIONS, Embedder, MAX_TOKENS, model_dir};
use oracle::Oracle;
use serde_json::Value;

const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference.json");

/// Lower bounds of the cosine between the quantised and the f32 model's vectors: of any text, and on average.
const MIN_COSINE: f64 = 0.995;
const MIN_MEAN_COSINE: f64 = 0.998;

#[test]
fn reference_texts_have_the_same_token_ids_and_nearly_the_same_vectors() {
    let items = reference_items();
    let mut embedder = load_embedder();
    let mut cosines = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let text = item["text"].as_str().unwrap();
        let ids: Vec<u32> = serde_json::from_value(item["ids"].clone()).unwrap();
        let expected: Vec<f32> = serde_json::from_value(item["embedding"].clone()).unwrap();
        assert_eq!(embedder.token_ids(text), ids, "token ids of item {index}");

        let embedding = embedder.embed(text);
        assert_eq!(embedding.tokens, item["untruncated_len"].as_u64().unwrap() as usize, "item {index}");
        assert_eq!(embedding.truncated, embedding.tokens > MAX_TOKENS, "item {index}");
        cosines.push(cosine(&embedding.vector, &expected));
    }
    assert_close(&cosines);
}

#[test]
fn texts_of_a_knowledge_base_have_nearly_the_vectors_of_the_f32_model() {
    let (mut embedder, oracle) = (load_embedder(), Oracle::load(&model_dir()));
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../supabase/sample-kb"));
    let mut cosines = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
            let expected = oracle.embed(&embedder.token_ids(paragraph));
            cosines.push(cosine(&embedder.embed(paragraph).vector, &expected));
        }
    }
    assert!(cosines.len() > 50);
    assert_close(&cosines);
}

#[test]
fn the_oracle_agrees_with_the_reference() {
    let items = reference_items();
    let oracle = Oracle::load(&model_dir());
    for (index, item) in items.iter().enumerate().step_by(5) {
        let ids: Vec<u32> = serde_json::from_value(item["ids"].clone()).unwrap();
        let expected: Vec<f32> = serde_json::from_value(item["embedding"].clone()).unwrap();
        let cosine = cosine(&oracle.embed(&ids), &expected);
        assert!(cosine > 0.999_99, "item {index}: cosine {cosine}");
    }
}

#[test]
fn truncation_keeps_cls_and_sep_and_is_reported_only_above_the_limit() {
    let mut embedder = load_embedder();
    // "hello" is one token; with [CLS] and [SEP], 254 of them fill the window exactly.
    let full = vec!["hello"; MAX_TOKENS - 2].join(" ");
    let over = vec!["hello"; MAX_TOKENS - 1].join(" ");
    assert!(!embedder.embed(&full).truncated);
    let embedding = embedder.embed(&over);
    assert!(embedding.truncated);
    assert_eq!(embedding.tokens, MAX_TOKENS + 1);
    assert_eq!(embedding.vector, embedder.embed(&full).vector);
    let ids = embedder.token_ids(&over);
    assert_eq!((ids.len(), ids[0], ids[MAX_TOKENS - 1]), (MAX_TOKENS, 101, 102));
}

fn assert_close(cosines: &[f64]) {
    let min = cosines.iter().copied().fold(1.0, f64::min);
    let mean = cosines.iter().sum::<f64>() / cosines.len() as f64;
    eprintln!("cosine to f32 over {} texts: mean {mean:.6}, minimum {min:.6}", cosines.len());
    assert!(min >= MIN_COSINE && mean >= MIN_MEAN_COSINE, "mean {mean}, minimum {min}");
}

fn reference_items() -> Vec<Value> {
    let reference: Value = serde_json::from_str(&std::fs::read_to_string(REFERENCE).unwrap()).unwrap();
    let items = reference["items"].as_array().unwrap().clone();
    assert!(!items.is_empty());
    items
}

fn load_embedder() -> Embedder {
    Embedder::from_dir(&model_dir()).expect("run `cargo xtask setup model`")
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!((a.len(), b.len()), (DIMENSIONS, DIMENSIONS));
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}
