//! A folder of evaluation data: passages, and questions that they answer or do not.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The questions of a folder, each with what is known of it.
pub(crate) struct Dataset {
    /// Number of a passage in `passages.jsonl`, from 0, by its id.
    passages: HashMap<String, usize>,
    /// Answered by one passage.
    pub(crate) answerable: Vec<Answerable>,
    /// About something else.
    pub(crate) off_topic: Vec<Question>,
    /// Made to look answerable by a passage, and not.
    pub(crate) near: Vec<Question>,
}

#[derive(Deserialize)]
struct Passage {
    id: String,
}

#[derive(Deserialize)]
pub(crate) struct Question {
    pub(crate) question: String,
}

#[derive(Deserialize)]
pub(crate) struct Answerable {
    pub(crate) question: String,
    /// Id of the passage that answers it.
    passage: String,
    /// Accepted answers, each a string of that passage.
    pub(crate) answers: Vec<String>,
}

impl Dataset {
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let passages = lines::<Passage>(&folder.join("passages.jsonl"))?;
        let near = folder.join("unanswerable_near.jsonl");
        Ok(Self {
            passages: passages
                .into_iter()
                .enumerate()
                .map(|(number, passage)| (passage.id, number))
                .collect(),
            answerable: lines(&folder.join("answerable.jsonl"))?,
            off_topic: lines(&folder.join("off_topic.jsonl"))?,
            near: if near.exists() { lines(&near)? } else { Vec::new() },
        })
    }

    /// The document that answers a question. Passage number `n` is the document `n.md`; `cargo xtask` writes them so.
    pub(crate) fn document_name(&self, question: &Answerable) -> Result<String> {
        let number = self.passages.get(&question.passage);
        let number = number.with_context(|| format!("no passage has the id {}", question.passage))?;
        Ok(format!("{number}.md"))
    }
}

fn lines<T: DeserializeOwned>(file: &Path) -> Result<Vec<T>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}, line {}", file.display(), number + 1))
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(parse).collect()
}
