//! Compares every kernel of this machine with the committed golden vectors.
//! `tests/embedder/golden.test.mjs` compares Node.js and Chromium with them.
//!
//! After an intended change of the engine or the model, run this test with
//! `EVIDENCE_UPDATE_GOLDEN=1` to rewrite them. `training/reader/publish.sh` also rewrites those of
//! the reader.

#[path = "../tests/model/mod.rs"]
pub(crate) mod model;

use serde_json::{Value, json};

use crate::kernels::AnyKernel;
use crate::reader::packing::{Input, pack, pack_question};
use crate::{DIMENSIONS, Embedder, Embedding, MAX_TOKENS, Reader, fingerprint};

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
        assert_eq!(embedder.embed_batch(&texts), one_by_one, "{kernel:?}: a batch differs");
        golden(&texts, &one_by_one)
    };
    if std::env::var_os("EVIDENCE_UPDATE_GOLDEN").is_some() {
        let text = serde_json::to_string_pretty(&embed(AnyKernel::BASELINE)).unwrap();
        std::fs::write(GOLDEN, text + "\n").unwrap();
    }
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(GOLDEN).unwrap()).unwrap();
    for kernel in AnyKernel::available() {
        assert!(embed(kernel) == expected, "{kernel:?} differs from the golden vectors");
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
            assert_eq!(unused.clone().embed(text).vector, vector, "{kernel:?}: {} bytes", text.len());
        }
        let one_by_one: Vec<Embedding> = texts.iter().map(|text| used.embed(text)).collect();
        assert_eq!(unused.clone().embed_batch(&texts), one_by_one, "{kernel:?}: a batch");
    }
}

#[test]
fn every_kernel_returns_the_golden_scores() {
    // Of every tenth passage: the scalar kernel is slow.
    const STEP: usize = 10;
    let mut golden = model::golden_readings();
    let items = golden["items"].as_array_mut().unwrap();
    if std::env::var_os("EVIDENCE_UPDATE_GOLDEN").is_some() {
        let mut reader = reader(AnyKernel::BASELINE);
        items.iter_mut().step_by(STEP).for_each(|item| item["bits"] = bits(&mut reader, item));
        let lines: Vec<String> = items.iter().map(Value::to_string).collect();
        let (checkpoint, items) = (&golden["checkpoint"], lines.join(",\n"));
        let text = format!("{{\"checkpoint\":{checkpoint},\"items\":[\n{items}\n]}}\n");
        return std::fs::write(model::GOLDEN_READINGS, text).unwrap();
    }
    assert!(items.len() >= 100);
    items.retain(|item| !item["bits"].is_null());
    assert!(items.len() >= 10);
    for kernel in AnyKernel::available() {
        let mut reader = reader(kernel);
        for item in &*items {
            assert_eq!(bits(&mut reader, item), item["bits"], "{kernel:?}: {}", item["question"]);
        }
    }
}

#[test]
fn passages_are_packed_as_in_training() {
    let embedder = Embedder::with_kernel(model::real_file().to_vec(), AnyKernel::BASELINE).unwrap();
    let golden = model::golden_readings();
    for item in golden["items"].as_array().unwrap() {
        let (question, heading, statements) = texts_of(item);
        let question = pack_question(&embedder.tokenizer, question);
        let Input { ids, mut markers } = pack(&embedder.tokenizer, &question, heading, &statements);
        assert!(ids.len() <= MAX_TOKENS);
        assert_eq!(json!(ids), item["ids"], "{item}");
        let markers: Vec<Option<usize>> =
            statements.iter().map(|_| (!markers.is_empty()).then(|| markers.remove(0))).collect();
        assert_eq!(json!(markers), item["markers"], "{item}");
    }
}

fn reader(kernel: AnyKernel) -> Reader {
    let embedder = Embedder::with_kernel(model::real_file().to_vec(), kernel).unwrap();
    Reader::from_trusted(&embedder, model::reader_file().to_vec()).unwrap()
}

fn texts_of(item: &Value) -> (&str, &str, Vec<&str>) {
    let statements = item["statements"].as_array().unwrap();
    let statements = statements.iter().map(|statement| statement.as_str().unwrap()).collect();
    (item["question"].as_str().unwrap(), item["heading"].as_str().unwrap(), statements)
}

/// The bits of each z as hexadecimal digits.
fn bits(reader: &mut Reader, item: &Value) -> Value {
    let (question, heading, statements) = texts_of(item);
    let z = reader.read(question, heading, &statements);
    z.into_iter().map(|z| z.map(|z| format!("{:08x}", z.to_bits()))).collect()
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
