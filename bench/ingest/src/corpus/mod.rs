//! A folder of Markdown files, the same on every run: English words by Zipf's law in sentences, paragraphs, lists and
//! tables under headings; about ten passages a file.

mod document;
mod site;
mod words;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use chat_core::statement::shown_text;
use extract::Format;
use serde_json::{Value, json};

use document::Document;
use words::{Random, Words};

const FILES_PER_FOLDER: u32 = 50;
/// Of every 100 files, the first is edited, the second moved and the third removed.
const CHANGE_EVERY: u32 = 100;

pub(crate) struct Corpus {
    words: Words,
}

impl Corpus {
    pub(crate) fn new(model: &Path) -> Result<Self> {
        Ok(Self { words: Words::from_vocabulary(&model.join("tokenizer.json"))? })
    }

    pub(crate) fn write(&self, folder: &Path, files: u32) -> Result<()> {
        for number in 0..files {
            write(&folder.join(path(number)), &self.document(number).to_markdown())?;
        }
        Ok(())
    }

    /// `{"changed": …, "moved": …, "removed": …}`, each a number of files.
    pub(crate) fn change(&self, folder: &Path, files: u32) -> Result<Value> {
        let (mut changed, mut moved, mut removed) = (0, 0, 0);
        for number in 0..files {
            let file = folder.join(path(number));
            match number % CHANGE_EVERY {
                0 => {
                    let mut random = Random::new(u64::from(files + number));
                    let text = fs::read_to_string(&file)?;
                    write(&file, &format!("{text}\n{}\n", self.words.sentence(&mut random)))?;
                    changed += 1;
                }
                1 => {
                    let target = folder.join("moved").join(path(number));
                    fs::create_dir_all(target.parent().context("no folder")?)?;
                    fs::rename(&file, target)?;
                    moved += 1;
                }
                2 => {
                    fs::remove_file(&file)?;
                    removed += 1;
                }
                _ => {}
            }
        }
        Ok(json!({ "changed": changed, "moved": moved, "removed": removed }))
    }

    /// Writes the pages of a large site, and the path and the content hash of each to `list`.
    pub(crate) fn write_site(&self, folder: &Path, pages: u32, list: impl io::Write) -> Result<()> {
        site::write_pages(&self.words, folder, pages, list)
    }

    /// Edits one page of a hundred of such a site and returns their number.
    pub(crate) fn change_site(&self, folder: &Path, pages: u32) -> Result<u32> {
        site::change_pages(&self.words, folder, pages)
    }

    /// Writes paragraphs separated by blank lines.
    pub(crate) fn write_long_text(&self, file: &Path, megabytes: u32) -> Result<()> {
        let mut output =
            BufWriter::new(File::create(file).with_context(|| format!("cannot write {}", file.display()))?);
        let mut random = Random::new(0);
        let mut written = 0;
        while written < megabytes as usize * 1_000_000 {
            let paragraph = self.words.paragraph(&mut random, 100) + "\n\n";
            output.write_all(paragraph.as_bytes())?;
            written += paragraph.len();
        }
        Ok(output.flush()?)
    }

    /// The texts that kb embeds for the first passages of the corpus: each with its headings and, if `with_sentences`, followed
    /// by its sentences.
    pub(crate) fn texts(&self, passages: usize, with_sentences: bool) -> Vec<String> {
        let sections = (0..).flat_map(|number| self.document(number).sections).take(passages);
        let texts = |section: document::Section| {
            let sentences = if with_sentences { statements(&section.body) } else { Vec::new() };
            std::iter::once(format!("{}\n{}", section.headings.join(" › "), section.body)).chain(sentences)
        };
        sections.flat_map(texts).collect()
    }

    fn document(&self, number: u32) -> Document {
        Document::new(&self.words, &mut Random::new(u64::from(number)))
    }
}

/// What can be quoted of a text in Markdown, as answers show it.
fn statements(markdown: &str) -> Vec<String> {
    let document = extract::document(markdown.as_bytes(), Format::Markdown).unwrap_or_default();
    let statements = extract::statement::statements(&document);
    let shown = |statement: &extract::statement::Statement| {
        let parts = statement.parts(&document);
        let text = document.slice(&statement.range);
        shown_text(statement.kind, text, &parts.iter().collect::<Vec<_>>())
    };
    statements.iter().filter(|statement| statement.is_quotable).map(shown).collect()
}

fn path(number: u32) -> PathBuf {
    format!("folder-{:03}/document-{number:05}.md", number / FILES_PER_FOLDER).into()
}

fn write(file: &Path, text: &str) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}
