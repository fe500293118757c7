//! Passages with headings, and questions that one of them answers.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

pub(super) struct Dataset {
    pub(super) passages: Vec<Passage>,
    pub(super) answerable: Vec<Question>,
    /// Off-topic questions.
    pub(super) off_topic: Vec<String>,
}

pub(super) struct Passage {
    /// Outermost first.
    pub(super) headings: Vec<String>,
    pub(super) text: String,
}

pub(super) struct Question {
    pub(super) text: String,
    /// Index of the passage that answers it.
    pub(super) passage: usize,
}

impl Dataset {
    /// Passages of articles, whose only heading is the title of the article.
    pub(super) fn from_evaluation_set(folder: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Line {
            id: String,
            title: String,
            text: String,
        }
        #[derive(Deserialize)]
        struct Answerable {
            question: String,
            passage: String,
        }
        #[derive(Deserialize)]
        struct OffTopic {
            question: String,
        }

        let passages: Vec<Line> = lines(&folder.join("passages.jsonl"))?;
        let answerable =
            lines(&folder.join("answerable.jsonl"))?.into_iter().map(|Answerable { question, passage }| {
                let number = passages.iter().position(|candidate| candidate.id == passage);
                let passage = number.with_context(|| format!("no passage has the id {passage}"))?;
                Ok(Question { text: question, passage })
            });
        let answerable = answerable.collect::<Result<_>>()?;
        let off_topic = lines(&folder.join("off_topic.jsonl"))?;
        Ok(Self {
            answerable,
            off_topic: off_topic.into_iter().map(|OffTopic { question }| question).collect(),
            passages: passages
                .into_iter()
                .map(|Line { title, text, .. }| Passage { headings: vec![title], text })
                .collect(),
        })
    }

    /// Sections of Markdown pages, whose headings are the title of the page and their own.
    pub(super) fn from_pages(folder: &Path, questions: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Line {
            question: String,
            page: String,
            section: String,
        }

        let mut passages = Vec::new();
        let mut pages = Vec::new();
        let mut files: Vec<_> = fs::read_dir(folder)
            .with_context(|| format!("cannot read {}", folder.display()))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        files.sort();
        for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "md")) {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let sections = sections(&fs::read_to_string(file)?);
            pages.extend(std::iter::repeat_n(name, sections.len()));
            passages.extend(sections);
        }
        let answerable = lines(questions)?.into_iter().map(|Line { question, page, section }| {
            let is_it = |(of, passage): (&String, &Passage)| {
                *of == page && passage.headings.last().is_some_and(|heading| *heading == section)
            };
            let number = pages.iter().zip(&passages).position(is_it);
            let passage = number.with_context(|| format!("{page}.md has no section {section:?}"))?;
            Ok(Question { text: question, passage })
        });
        Ok(Self { answerable: answerable.collect::<Result<_>>()?, passages, off_topic: Vec::new() })
    }
}

/// The text below each heading of a page that has no code blocks.
fn sections(page: &str) -> Vec<Passage> {
    let mut headings: Vec<String> = Vec::new();
    let mut passages: Vec<Passage> = Vec::new();
    for line in page.lines() {
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        if level > 0 {
            headings.truncate(level - 1);
            headings.push(line[level..].trim().to_owned());
            passages.push(Passage { headings: headings.clone(), text: String::new() });
        } else if let Some(passage) = passages.last_mut() {
            passage.text.push_str(line);
            passage.text.push('\n');
        }
    }
    for passage in &mut passages {
        passage.text = passage.text.trim().to_owned();
    }
    passages.retain(|passage| !passage.text.is_empty());
    passages
}

fn lines<T: DeserializeOwned>(file: &Path) -> Result<Vec<T>> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}, line {}", file.display(), number + 1))
    };
    text.lines().enumerate().map(parse).collect()
}
