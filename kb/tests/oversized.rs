//! Documents that are large but have few tokens: each is split within the limits, and none makes a question fail.

#[path = "../extract/tests/support/oversized.rs"]
mod files;

use std::cell::Cell;
use std::path::Path;

use chat_core::chunk::SearchRows;
use chat_core::evidence::EvidenceThresholds;
use chat_core::limits::{
    MAX_MATCH_COUNT, MAX_NAME_CHARS, MAX_PASSAGE_BYTES, MAX_SECTION_BYTES, MAX_SENTENCES,
    WORST_CASE_EVENT_BYTES, WORST_CASE_OUTCOME_BYTES, json_bytes,
};
use chat_core::outcome::Outcome;
use chat_core::{Verdict, respond};
use embedder::Embedder;
use extract::{Extracted, Format, extract};
use files::Oversized;
use kb::chunk::{Chunk, MAX_TOKENS, chunks, headings};
use kb::sentence::sentences;
use serde_json::{Value, json};
use uuid::Uuid;

#[test]
fn oversized_documents_become_passages_within_the_limits() {
    let model = model();
    for file in files::files() {
        let (extracted, chunks, counted) = read(&file, &model);
        let (name, text) = (file.name, &extracted.text);
        assert!(counted <= 8 * text.len() + 1_000_000, "{name}: {counted} bytes for {}", text.len());
        let title = extracted.properties.title.as_deref().unwrap_or_default();
        assert!(title.chars().count() <= MAX_NAME_CHARS, "{name}");
        for chunk in &chunks {
            let content = chunk.content(text);
            assert!(content.len() <= MAX_PASSAGE_BYTES, "{name}: {} bytes", content.len());
            assert!(json_bytes(content) <= 2 * MAX_PASSAGE_BYTES, "{name}");
            let section = chunk.section.as_deref();
            assert!(section.is_none_or(|section| section.len() <= MAX_SECTION_BYTES), "{name}: {section:?}");
            let context = headings(section, &|text: &str| model.count_tokens(text)).unwrap_or_default();
            assert!(model.count_tokens(&format!("{context}\n{content}")) <= MAX_TOKENS, "{name}: {content}");
            assert!(sentences(content).len() <= MAX_SENTENCES);
        }
        let words = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
        let blocks = extracted.sections.iter().flat_map(|section| &section.blocks);
        let of_blocks: usize = blocks.map(|block| words(&text[block.range.clone()])).sum();
        let of_chunks: usize = chunks.iter().map(|chunk| words(chunk.content(text))).sum();
        assert_eq!(of_chunks, of_blocks, "{name}: letters were lost");
    }
}

#[test]
fn a_question_about_an_oversized_document_is_answered() {
    let model = model();
    for file in files::files() {
        let (extracted, chunks, _) = read(&file, &model);
        let passages: Vec<_> = chunks.iter().map(|chunk| (chunk, chunk.content(&extracted.text))).collect();
        let answer = passages.iter().position(|(_, content)| content.contains(file.answer)).expect(file.name);
        // The passage with the answer first, then as many others as a search returns.
        let start = answer.saturating_sub(MAX_MATCH_COUNT / 2);
        let around = passages.iter().skip(start).take(MAX_MATCH_COUNT - 1);
        let found = [&passages[answer]].into_iter().chain(around);
        let rows: Vec<_> = found.enumerate().map(|(at, (chunk, content))| row(at, chunk, content)).collect();
        let found: SearchRows = serde_json::from_str(&Value::Array(rows).to_string()).expect(file.name);
        assert_eq!(found.left_out, 0, "{}", file.name);
        let thresholds = EvidenceThresholds { confidence: 0.0, ..EvidenceThresholds::default() };
        let response = respond(file.question, &found.rows, &thresholds, true);
        let Verdict::Answer(composed) = response.verdict else {
            panic!("{}: {:?}", file.name, response.assessment)
        };
        let outcome = Outcome::answer(composed, Uuid::max(), Uuid::max());
        assert!(outcome.text().contains(file.answer), "{}: {}", file.name, outcome.text());
        assert!(serde_json::to_string(&outcome).unwrap().len() <= WORST_CASE_OUTCOME_BYTES);
        for event in outcome.opening_events() {
            assert!(event.encode().unwrap().len() <= WORST_CASE_EVENT_BYTES);
        }
    }
}

fn model() -> Embedder {
    Embedder::from_dir(&embedder::model_dir()).expect("the model; run `cargo xtask setup model`")
}

/// The document, its chunks, and the number of bytes that the tokenizer read for them.
fn read(file: &Oversized, model: &Embedder) -> (Extracted, Vec<Chunk>, usize) {
    let format = Format::from_path(Path::new(file.name)).expect(file.name);
    let extracted = extract(file.content.as_bytes(), format).expect(file.name);
    let counted = Cell::new(0);
    let counting = |text: &str| {
        counted.set(counted.get() + text.len());
        model.count_tokens(text)
    };
    let chunks = chunks(&extracted, &counting);
    (extracted, chunks, counted.get())
}

/// A row of `match_chunks`; the first is the most similar.
fn row(at: usize, chunk: &Chunk, content: &str) -> Value {
    let similarity = if at == 0 { 0.8 } else { 0.5 - at as f64 / 1000.0 };
    let sentence = |sentence: kb::sentence::Sentence| json!({ "start": sentence.range.start, "end": sentence.range.end, "similarity": similarity });
    json!({
        "chunk_id": Uuid::from_u128(at as u128),
        "document_id": Uuid::nil(),
        "document_name": "document.md",
        "document_meta": {},
        "ordinal": at,
        "content": content,
        "meta": { "section": chunk.section.as_deref() },
        "model": "minilm-1",
        "similarity": similarity,
        "sentences": sentences(content).into_iter().map(sentence).collect::<Value>(),
    })
}
