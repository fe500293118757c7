//! The passages that a language model may use, in a form that outlives the search.

use uuid::Uuid;

use crate::answer::{Citation, Quote, cite};
use crate::chunk::MatchedChunk;
use crate::evidence::Strength;
use crate::passage::Passage;
use crate::statement::{Role, StatementKind};

/// A passage.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// The passage as it is cited, without quotes. Its number is set when it is first mentioned.
    pub(crate) citation: Citation,
    /// Its statements, in order.
    pub(crate) sentences: Vec<SourceSentence>,
    /// Its statements with their chains, one per line, as the model reads them.
    pub(crate) plain: String,
}

/// A statement of a passage.
#[derive(Debug, Clone)]
pub(crate) struct SourceSentence {
    /// The first UTF-16 code unit in the excerpt.
    pub(crate) start: usize,
    /// The UTF-16 code unit after the last.
    pub(crate) end: usize,
    /// The words of the passage.
    pub(crate) text: String,
    /// The words with their whole chain.
    pub(crate) plain: String,
    /// The headings above it: what a reader of the passage knows about it.
    pub(crate) context: String,
    /// If it is a row of a table.
    pub(crate) row: Option<SourceRow>,
}

/// The subject of a row of a table.
#[derive(Debug, Clone)]
pub(crate) struct SourceRow {
    /// Its first cell.
    pub(crate) label: String,
    /// The names of its columns. Neighbouring rows with the same names are of one table.
    pub(crate) columns: String,
}

/// The passages for which `qualifies` is true, best first.
pub(crate) fn sources(rows: &[MatchedChunk], qualifies: impl Fn(Uuid) -> bool) -> Vec<Source> {
    let passages = crate::evidence::ranked(rows);
    passages.iter().filter(|passage| qualifies(passage.chunk.chunk_id)).map(Source::new).collect()
}

impl Source {
    fn new(passage: &Passage<'_>) -> Self {
        let quotes = passage.sentences.iter().map(|sentence| cite::quote(passage, sentence, 0));
        let quotes = quotes.collect();
        Self::from_citation(&Citation { quotes, ..cite::citation(passage.chunk, Strength::Partial) })
    }

    /// The quotes of a citation.
    pub(crate) fn from_citation(citation: &Citation) -> Self {
        let context = citation.passage.section.clone().unwrap_or_default();
        let sentence = |quote: &Quote| SourceSentence {
            row: SourceRow::new(quote),
            ..SourceSentence::new((quote.start, quote.end), &quote.text, quote.whole(), &context)
        };
        let sentences: Vec<_> = citation.quotes.iter().map(sentence).collect();
        let section = citation.passage.section.as_deref();
        let lines = section.into_iter().chain(citation.quotes.iter().map(Quote::whole));
        let plain = lines.collect::<Vec<_>>().join("\n");
        let citation = Citation { quotes: Vec::new(), supports: Vec::new(), ..citation.clone() };
        Self { citation, sentences, plain }
    }

    /// A source of plain sentences without a document, for evaluation. A sentence that begins with
    /// "# " is the heading of those that follow.
    pub(crate) fn from_sentences(texts: &[&str]) -> Self {
        let chunk = MatchedChunk::without_document(&texts.join("\n"));
        let mut start = 0;
        let mut heading = "";
        let mut sentences = Vec::with_capacity(texts.len());
        for text in texts {
            let end = start + cite::utf16_length(text);
            heading = text.strip_prefix("# ").map_or(heading, str::trim);
            sentences.push(SourceSentence::new((start, end), text, text, heading));
            start = end + 1;
        }
        Self { citation: cite::citation(&chunk, Strength::Partial), sentences, plain: chunk.content }
    }
}

impl SourceSentence {
    fn new((start, end): (usize, usize), text: &str, plain: &str, context: &str) -> Self {
        let (text, plain, context) = (text.to_owned(), plain.to_owned(), context.to_owned());
        Self { start, end, text, plain, context, row: None }
    }
}

impl SourceRow {
    fn new(quote: &Quote) -> Option<Self> {
        let texts = |role: Role| {
            let pieces = quote.pieces.iter().filter(|piece| piece.role == Some(role));
            pieces.map(|piece| piece.text.as_str()).collect::<Vec<_>>().join("\t")
        };
        let first = quote.text.split('\t').next().unwrap_or_default().trim();
        let label = if first.is_empty() { texts(Role::RowLabel) } else { first.to_owned() };
        (quote.kind == StatementKind::Row).then(|| Self { label, columns: texts(Role::Column) })
    }
}
