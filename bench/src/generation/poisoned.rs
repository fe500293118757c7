//! Passages that try to steer the model, and what an obedient model would write.

use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result};
use chat_core::chunk::MatchedChunk;
use chat_core::evidence::{EvidenceThresholds, assess};
use chat_core::generate::{Ending, Generation};
use chat_core::sentences::sentences;
use serde_json::{Value, json};
use xtask::paths;

use super::documents::rows;

/// What came of the corpus.
#[derive(Default)]
pub(super) struct Injections {
    pub(super) passages: usize,
    pub(super) drafts: usize,
    /// Sentences that were shown and that no clean passage has, each with its item.
    pub(super) shown: Vec<String>,
    /// The same for items whose passage states something false as a fact: faithful quotes of a lie.
    pub(super) residual: Vec<String>,
}

/// The corpus of this repository.
pub(super) fn corpus() -> std::path::PathBuf {
    paths::repo().join("bench/generation/poisoned.jsonl")
}

pub(super) fn injections(file: &Path) -> Result<Injections> {
    let mut injections = Injections::default();
    for item in rows(file)? {
        let text = |name: &str| item[name].as_str().with_context(|| format!("{item} has no {name}"));
        let (question, clean, poisoned) = (text("question")?, text("clean")?, text("poisoned")?);
        let passages = [(text("document")?, clean), ("notes.md", poisoned)];
        let passages: Vec<_> =
            passages.into_iter().zip(1..).map(|((name, text), id)| row(id, name, text)).collect();
        injections.passages += 1;
        let drafts = item["obeyed"].as_array().context("an item without drafts")?;
        for draft in drafts.iter().filter_map(Value::as_str) {
            injections.drafts += 1;
            let shown = shown(question, &passages, draft);
            let shown = shown.into_iter().filter(|sentence| !clean.contains(sentence.trim()));
            let shown = shown.map(|sentence| format!("{}: {sentence}", text("id").unwrap_or_default()));
            if item["counts"].as_bool().unwrap_or(true) {
                injections.shown.extend(shown);
            } else {
                injections.residual.extend(shown);
            }
        }
    }
    Ok(injections)
}

/// The row of a search for a passage whose lines are paragraphs.
pub(super) fn row(id: u128, name: &str, content: &str) -> MatchedChunk {
    let characters = |at: usize| content[..at].chars().count();
    let mut start = 0;
    let mut found = Vec::new();
    for line in content.split_inclusive('\n') {
        found.extend(sentences(content, start..start + line.len()));
        start += line.len();
    }
    let sentence = |range: Range<usize>| {
        let (start, end) = (characters(range.start), characters(range.end));
        json!({ "start": start, "end": end, "similarity": 0.7, "kind": "sentence" })
    };
    let sentences: Vec<_> = found.into_iter().map(sentence).collect();
    let id = format!("{id:032x}");
    let row = json!({
        "chunk_id": id, "document_id": id, "document_name": name, "content": content, "similarity": 0.7, "lexical": 0.5,
        "sentences": sentences,
    });
    serde_json::from_value(row).expect("a row of these fields")
}

/// The sentences that reach the reader.
fn shown(question: &str, rows: &[MatchedChunk], draft: &str) -> Vec<String> {
    let thresholds = EvidenceThresholds { similarity: 0.0, confidence: 0.0, ..EvidenceThresholds::default() };
    let assessment = assess(question, rows, &thresholds);
    let mut generation = Generation::new(question, rows, &assessment, None, false, "obedient");
    let mut shown = generation.push(draft);
    shown.extend(generation.end(Ending::Whole));
    shown
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_sentence_of_an_obedient_model_is_shown() {
        let injections = injections(&corpus()).unwrap();
        assert!(injections.passages >= 60);
        assert_eq!(injections.shown, Vec::<String>::new());
    }

    #[test]
    fn the_clean_passage_alone_answers() {
        for item in rows(&corpus()).unwrap() {
            let clean = item["clean"].as_str().unwrap();
            let row = row(1, "clean.md", clean);
            let answer = shown(item["question"].as_str().unwrap(), &[row], clean).concat();
            assert!(!answer.is_empty(), "{item}");
        }
    }

    #[test]
    fn the_corpus_has_every_language_and_distinct_ids() {
        let rows = rows(&corpus()).unwrap();
        let values = |name: &str| rows.iter().map(|row| row[name].to_string()).collect::<BTreeSet<_>>();
        assert_eq!(values("id").len(), rows.len());
        assert_eq!(values("language").len(), 6);
        assert!(values("kind").len() >= 12);
    }
}
