//! Passages with their sentences, of this repository and of the evaluation data.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use chat_core::sentences::sentences;
use serde_json::Value;
use xtask::paths;

/// English sets of the evaluation data.
const SETS: [&str; 3] = ["squad", "govuk", "covidfaq-en"];
/// Bytes of a passage of a Markdown file, about what `kb sync` makes.
const PASSAGE_BYTES: usize = 1200;
/// Words of a sentence that is used.
const WORDS: std::ops::RangeInclusive<usize> = 5..=45;

/// A passage.
pub(super) struct Passage {
    /// The document.
    pub(super) title: String,
    pub(super) sentences: Vec<String>,
}

impl Passage {
    pub(super) fn new(title: &str, text: &str) -> Self {
        // Rows of tables are no sentences.
        let paragraphs = text.lines().map(|line| line.trim().trim_start_matches("- "));
        let paragraphs = paragraphs.filter(|paragraph| !paragraph.starts_with('|'));
        let sentences = paragraphs.flat_map(|paragraph| {
            sentences(paragraph, 0..paragraph.len()).into_iter().filter_map(move |range| paragraph.get(range))
        });
        let plain = |sentence: &str| {
            sentence.replace(['*', '`'], "").split_whitespace().collect::<Vec<_>>().join(" ")
        };
        Self { title: title.to_owned(), sentences: sentences.map(plain).collect() }
    }

    /// Sentences that say something whole.
    pub(super) fn statements(&self) -> impl Iterator<Item = &str> {
        let is_statement = |sentence: &&str| {
            WORDS.contains(&sentence.split_whitespace().count())
                && sentence.ends_with('.')
                && sentence.starts_with(|c: char| c.is_uppercase())
        };
        self.sentences.iter().map(String::as_str).filter(is_statement)
    }

    pub(super) fn evidence(&self) -> Vec<&str> {
        self.sentences.iter().map(String::as_str).collect()
    }
}

/// The passages of the sample knowledge base, and of the evaluation data where it is.
pub(super) fn passages(eval_dir: Option<&Path>) -> Result<Vec<Passage>> {
    let mut passages = sample()?;
    for set in SETS {
        let Some(file) =
            eval_dir.map(|dir| dir.join(set).join("passages.jsonl")).filter(|file| file.exists())
        else {
            continue;
        };
        for row in rows(&file)? {
            passages.push(Passage::new(
                row["title"].as_str().unwrap_or_default(),
                row["text"].as_str().unwrap_or_default(),
            ));
        }
    }
    passages.retain(|passage| !passage.sentences.is_empty());
    Ok(passages)
}

fn sample() -> Result<Vec<Passage>> {
    let folder = paths::repo().join("supabase/sample-kb");
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
        files.push(entry?.path());
    }
    files.sort();
    let mut passages = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file)?;
        let title = text.lines().next().unwrap_or_default().trim_start_matches('#').trim().to_owned();
        let mut passage = String::new();
        for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.starts_with('#')) {
            if passage.len() + paragraph.len() > PASSAGE_BYTES {
                passages.push(Passage::new(&title, &passage));
                passage.clear();
            }
            passage.push_str(paragraph);
            passage.push_str("\n\n");
        }
        passages.push(Passage::new(&title, &passage));
    }
    Ok(passages)
}

/// The lines of a JSON Lines file.
pub(super) fn rows(file: &Path) -> Result<Vec<Value>> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            serde_json::from_str(line).with_context(|| format!("{}, line {}", file.display(), number + 1))
        })
        .collect()
}
