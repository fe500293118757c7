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
use extract::Format;
use extract::document::Document;
use files::Oversized;
use kb::passage::{MAX_TOKENS, Passage, PassageStatement, passages};
use serde_json::{Value, json};
use uuid::Uuid;

#[test]
fn oversized_documents_become_passages_within_the_limits() {
    let model = model();
    for file in files::files() {
        let (document, passages, counted) = read(&file, &model);
        let (name, text) = (file.name, &document.text);
        assert!(counted <= 8 * text.len() + 1_000_000, "{name}: {counted} bytes for {}", text.len());
        let title = document.properties.title.as_deref().unwrap_or_default();
        assert!(title.chars().count() <= MAX_NAME_CHARS, "{name}");
        for passage in &passages {
            let content = passage.content(&document);
            assert!(content.len() <= MAX_PASSAGE_BYTES, "{name}: {} bytes", content.len());
            assert!(json_bytes(content) <= 2 * MAX_PASSAGE_BYTES, "{name}");
            let section = passage.section.as_deref();
            assert!(section.is_none_or(|section| section.len() <= MAX_SECTION_BYTES), "{name}: {section:?}");
            let texts = passage.texts(content, &|text: &str| model.count_tokens(text));
            assert!(texts.iter().all(|text| model.count_tokens(text) <= MAX_TOKENS), "{name}: {content}");
            assert!(passage.statements.len() <= MAX_SENTENCES);
        }
    }
}

#[test]
fn a_question_about_an_oversized_document_is_answered() {
    let model = model();
    for file in files::files() {
        let (document, passages, _) = read(&file, &model);
        let passages: Vec<_> = passages.iter().map(|passage| (passage, passage.content(&document))).collect();
        let answer = passages.iter().position(|(_, content)| content.contains(file.answer)).expect(file.name);
        // The passage with the answer first, then as many others as a search returns.
        let start = answer.saturating_sub(MAX_MATCH_COUNT / 2);
        let around = passages.iter().skip(start).take(MAX_MATCH_COUNT - 1);
        let found = [&passages[answer]].into_iter().chain(around);
        let rows: Vec<_> =
            found.enumerate().map(|(at, (passage, content))| row(at, passage, content)).collect();
        let found: SearchRows = serde_json::from_str(&Value::Array(rows).to_string()).expect(file.name);
        assert_eq!(found.left_out, 0, "{}", file.name);
        let thresholds = EvidenceThresholds { confidence: 0.0, ..EvidenceThresholds::default() };
        let response = respond(file.question, &found.rows, None, &thresholds, true);
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

/// The document, its passages, and the number of bytes that the tokenizer read for them.
fn read(file: &Oversized, model: &Embedder) -> (Document, Vec<Passage>, usize) {
    let format = Format::from_path(Path::new(file.name)).expect(file.name);
    let document = extract::document(file.content.as_bytes(), format).expect(file.name);
    let counted = Cell::new(0);
    let counting = |text: &str| {
        counted.set(counted.get() + text.len());
        model.count_tokens(text)
    };
    let passages = passages(&document, &counting);
    (document, passages, counted.get())
}

/// A row of `match_chunks`; the first is the most similar.
fn row(at: usize, passage: &Passage, content: &str) -> Value {
    let similarity = if at == 0 { 0.8 } else { 0.5 - at as f64 / 1000.0 };
    let sentence = |statement: &PassageStatement| {
        let mut sentence = json!(statement);
        sentence["similarity"] = similarity.into();
        sentence
    };
    json!({
        "chunk_id": Uuid::from_u128(at as u128),
        "document_id": Uuid::nil(),
        "document_name": "document.md",
        "document_meta": {},
        "ordinal": at,
        "content": content,
        "meta": { "section": passage.section.as_deref() },
        "model": "minilm-1",
        "similarity": similarity,
        "sentences": passage.statements.iter().map(sentence).collect::<Value>(),
        "parts": passage.parts,
        "blocks": passage.blocks,
    })
}
