//! The passages that a language model may use, in a form that outlives the search.

use uuid::Uuid;

use crate::answer::{Citation, cite};
use crate::chunk::{MatchedChunk, SentenceMatch};
use crate::evidence::Strength;
use crate::passage::Passage;
use crate::sentences::{row_label, units};
use crate::statement::StatementKind;

/// A passage.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// The passage as it is cited, without quotes. Its number is set when it is first mentioned.
    pub(crate) citation: Citation,
    /// Its sentences, in order.
    pub(crate) sentences: Vec<SourceSentence>,
    /// Its sentences as plain text, one per line, as the model reads them.
    pub(crate) plain: String,
}

/// A sentence, table row or code block of a passage.
#[derive(Debug, Clone)]
pub(crate) struct SourceSentence {
    /// The first UTF-16 code unit in the excerpt.
    pub(crate) start: usize,
    /// The UTF-16 code unit after the last.
    pub(crate) end: usize,
    /// The verbatim Markdown source.
    pub(crate) text: String,
    /// The words without Markdown.
    pub(crate) plain: String,
    /// The heading, header row and list introduction above it, as plain text: what a reader of the passage knows about it.
    pub(crate) context: String,
    /// The first cell, if it is a row of a table.
    pub(crate) label: Option<String>,
}

/// The passages for which `qualifies` is true, best first.
pub(crate) fn sources(rows: &[MatchedChunk], qualifies: impl Fn(Uuid) -> bool) -> Vec<Source> {
    let passages = crate::evidence::ranked(rows);
    passages.iter().filter(|passage| qualifies(passage.chunk.chunk_id)).map(Source::new).collect()
}

impl Source {
    fn new(passage: &Passage<'_>) -> Self {
        let chunk = passage.chunk;
        let mut sentences = Vec::with_capacity(passage.sentences.len());
        let mut plain = String::new();
        let mut last_context = String::new();
        for sentence in &passage.sentences {
            let text = passage.plain_text(sentence);
            let context = passage.context_text(sentence);
            if context != last_context {
                push_line(&mut plain, &context);
                last_context.clone_from(&context);
            }
            push_line(&mut plain, &text);
            let range = cite::utf16_range(&chunk.content, &sentence.range);
            let label = match &sentence.statement {
                Some((StatementKind::Row, _)) => sentence.text.split('\t').next().map(str::to_owned),
                _ => sentence.header.map(|_| row_label(sentence.text).to_owned()),
            };
            sentences
                .push(SourceSentence { label, ..SourceSentence::new(range, sentence.text, text, context) });
        }
        Self { citation: cite::citation(chunk, Strength::Partial), sentences, plain }
    }

    /// The passage of a citation. `None` if it is longer than a passage may be.
    pub(crate) fn from_citation(citation: &Citation) -> Option<Self> {
        let content = &citation.excerpt;
        let mut chunk = MatchedChunk {
            chunk_id: citation.chunk_id,
            document_id: citation.document_id,
            document_meta: serde_json::json!({ "content_type": citation.content_type }),
            meta: serde_json::json!({ "section": citation.section }),
            similarity: citation.score,
            ..MatchedChunk::plain(content)
        };
        let mut characters = (0, 0);
        let mut character_at = |byte: usize| {
            let (from, count) = characters;
            let count = count + content.get(from..byte).unwrap_or_default().chars().count();
            characters = (byte, count);
            count
        };
        let sentences = units(content).into_iter().map(|unit| {
            let (start, end) = (character_at(unit.range.start), character_at(unit.range.end));
            SentenceMatch { start, end, similarity: citation.score, kind: None, chain: Vec::new() }
        });
        chunk.sentences = sentences.collect();
        let source = chunk.is_within_limits().then(|| Self::new(&Passage::new(&chunk)))?;
        let citation = Citation { quotes: Vec::new(), supports: Vec::new(), ..citation.clone() };
        Some(Self { citation, ..source })
    }

    /// A source of plain sentences without a document, for evaluation. Markdown headings among them are above the sentences that
    /// follow, as in a passage.
    pub(crate) fn from_sentences(texts: &[&str]) -> Self {
        let chunk = MatchedChunk::plain(&texts.join("\n"));
        let mut start = 0;
        let mut headings: Vec<(usize, &str)> = Vec::new();
        let mut sentences = Vec::with_capacity(texts.len());
        for text in texts {
            let end = start + cite::utf16_length(text);
            let heading = text.trim_start_matches('#');
            let level = text.len() - heading.len();
            if (1..=6).contains(&level) && heading.starts_with(' ') {
                headings.retain(|(above, _)| *above < level);
                headings.push((level, heading.trim()));
            }
            let context = headings.iter().map(|(_, heading)| *heading).collect::<Vec<_>>().join("\n");
            sentences.push(SourceSentence::new((start, end), text, (*text).to_owned(), context));
            start = end + 1;
        }
        Self { citation: cite::citation(&chunk, Strength::Partial), sentences, plain: chunk.content }
    }
}

impl SourceSentence {
    fn new((start, end): (usize, usize), text: &str, plain: String, context: String) -> Self {
        Self { start, end, text: text.to_owned(), plain, context, label: None }
    }
}

fn push_line(text: &mut String, line: &str) {
    if !line.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
    }
}
