//! Token ids and vectors against the reference implementation (sentence-transformers).
//!
//! Needs the model (`cargo xtask setup`) and the reference set, `../shared/bench-peer/reference.json` beside the
//! checkout; without the reference set the test says that it was skipped.

use std::path::{Path, PathBuf};

use embedder::{DIMENSIONS, Embedder, MAX_TOKENS};
use serde_json::Value;

const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/bench-peer/reference.json");

#[test]
fn every_reference_text_has_the_same_token_ids_and_vector() {
    let Some(items) = reference_items() else { return };
    let embedder = load_embedder();
    for (index, item) in items.iter().enumerate() {
        let text = item["text"].as_str().unwrap();
        let ids: Vec<u32> = serde_json::from_value(item["ids"].clone()).unwrap();
        let expected: Vec<f64> = serde_json::from_value(item["embedding"].clone()).unwrap();
        assert_eq!(embedder.token_ids(text), ids, "token ids of item {index}");

        let embedding = embedder.embed(text).unwrap();
        assert_eq!(embedding.token_count, item["untruncated_len"].as_u64().unwrap() as usize, "item {index}");
        assert_eq!(embedding.truncated, embedding.token_count > MAX_TOKENS, "item {index}");
        let cosine = cosine(&embedding.vector, &expected);
        assert!(cosine >= 0.99999, "item {index}: cosine {cosine}");
    }
}

#[test]
fn vectors_are_unit_length_and_repeatable() {
    let embedder = load_embedder();
    for text in ["", "hello", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 and \u{0} control", &"long ".repeat(2000)] {
        let first = embedder.embed(text).unwrap();
        assert_eq!(first.vector.len(), DIMENSIONS);
        let norm = first.vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((norm - 1.0).abs() < 1e-5, "norm {norm} of {text:?}");
        assert_eq!(first, embedder.embed(text).unwrap());
    }
}

#[test]
fn truncation_keeps_cls_and_sep_and_is_reported_only_past_the_limit() {
    let embedder = load_embedder();
    // "hello" is one token; with [CLS] and [SEP], 254 of them fill the window exactly.
    let full = vec!["hello"; MAX_TOKENS - 2].join(" ");
    let over = vec!["hello"; MAX_TOKENS - 1].join(" ");
    assert!(!embedder.embed(&full).unwrap().truncated);
    let embedding = embedder.embed(&over).unwrap();
    assert!(embedding.truncated);
    assert_eq!(embedding.token_count, MAX_TOKENS + 1);
    let ids = embedder.token_ids(&over);
    assert_eq!((ids.len(), ids[0], ids[MAX_TOKENS - 1]), (MAX_TOKENS, 101, 102));
}

#[test]
fn a_damaged_model_file_is_refused() {
    let dir = model_dir();
    let mut model = std::fs::read(dir.join(embedder::MODEL_FILE)).unwrap();
    let tokenizer = std::fs::read(dir.join(embedder::TOKENIZER_FILE)).unwrap();
    let last = model.len() - 1;
    model[last] ^= 1;
    let error = Embedder::new(model, &tokenizer).err().expect("a flipped bit must be refused");
    assert!(error.to_string().contains("model.safetensors is not the expected file"), "{error}");
}

fn reference_items() -> Option<Vec<Value>> {
    let Ok(text) = std::fs::read_to_string(REFERENCE) else {
        eprintln!("SKIPPED: no reference set at {REFERENCE}");
        return None;
    };
    let reference: Value = serde_json::from_str(&text).unwrap();
    let items = reference["items"].as_array().unwrap().clone();
    assert!(!items.is_empty());
    Some(items)
}

fn load_embedder() -> Embedder {
    Embedder::from_dir(&model_dir()).unwrap()
}

fn model_dir() -> PathBuf {
    let dir = std::env::var_os("EVIDENCE_MODEL_DIR").expect("EVIDENCE_MODEL_DIR; `cargo xtask test` sets it");
    Path::new(&dir).to_path_buf()
}

fn cosine(a: &[f32], b: &[f64]) -> f64 {
    let dot: f64 = a.iter().zip(b).map(|(x, y)| f64::from(*x) * y).sum();
    let norm = |sum: f64| sum.sqrt();
    let a_norm = norm(a.iter().map(|x| f64::from(*x).powi(2)).sum());
    let b_norm = norm(b.iter().map(|y| y * y).sum());
    dot / (a_norm * b_norm)
}
