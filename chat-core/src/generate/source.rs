//! The passages that a language model may use, in a form that outlives the search.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::answer::{Citation, cite};
use crate::chunk::MatchedChunk;
use crate::evidence::Strength;
use crate::passage::Passage;
use crate::words::words;

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
    /// The stems of `plain`.
    pub(crate) words: BTreeSet<String>,
    /// The stems of `context`.
    pub(crate) context_words: BTreeSet<String>,
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
            sentences.push(SourceSentence::new(
                cite::utf16_range(&chunk.content, &sentence.range),
                sentence.text,
                text,
                context,
            ));
        }
        Self { citation: cite::citation(chunk, Strength::Partial), sentences, plain }
    }

    /// A source of plain sentences without a document, for evaluation.
    pub(crate) fn from_sentences(texts: &[&str]) -> Self {
        let chunk = MatchedChunk::plain(&texts.join("\n"));
        let mut start = 0;
        let mut sentences = Vec::with_capacity(texts.len());
        for text in texts {
            let end = start + cite::utf16_length(text);
            sentences.push(SourceSentence::new((start, end), text, (*text).to_owned(), String::new()));
            start = end + 1;
        }
        Self { citation: cite::citation(&chunk, Strength::Partial), sentences, plain: chunk.content }
    }
}

impl SourceSentence {
    fn new((start, end): (usize, usize), text: &str, plain: String, context: String) -> Self {
        Self {
            start,
            end,
            text: text.to_owned(),
            words: words(&plain).collect(),
            context_words: words(&context).collect(),
            plain,
            context,
        }
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
