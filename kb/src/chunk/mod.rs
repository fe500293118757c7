//! Cutting a document into chunks: passages small enough to embed and to cite.
//!
//! A chunk's content is always a verbatim slice of the document, so a quote taken from it can be checked against the
//! file. Headings are not content: they become the chunk's *section* ("Refunds › Exceptions"), and sections are never
//! mixed in one chunk. What is embedded is the section, a newline, and the content ([`Chunk::embedded_text`]), because
//! a paragraph such as "It takes five days." means little without its heading.
//!
//! Blocks (paragraphs, lists, tables, code) stay whole while they fit; one that does not is split at the next smaller
//! unit: list items or table rows, then sentences or code lines, then words, then characters. Neighbouring pieces of a
//! section are merged up to [`TARGET_TOKENS`].

mod block;
mod context;
mod markdown;
mod pack;
mod plain_text;
mod split;

use std::ops::Range;

use block::Section;

/// Changes whenever the same file would give other chunks or other sentences, so that documents are written again.
pub const CHUNKER_VERSION: &str = "chunker-2";

/// Size that neighbouring pieces are merged up to, in tokens of the embedded text, [CLS] and [SEP] included.
pub const TARGET_TOKENS: usize = 200;

/// Hard limit on the embedded text: what the model reads, [CLS] and [SEP] included.
pub const MAX_TOKENS: usize = embedder::MAX_TOKENS;

/// Stands between the headings of a section path.
pub const SECTION_SEPARATOR: &str = " › ";

/// Counts the tokens of a text, [CLS] and [SEP] included.
pub type CountTokens<'a> = dyn Fn(&str) -> usize + 'a;

/// How a document's text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// CommonMark with tables, footnotes and task lists.
    Markdown,
    /// Paragraphs separated by blank lines.
    PlainText,
}

impl Format {
    /// The media type kept with the document.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown",
            Self::PlainText => "text/plain",
        }
    }
}

/// A document's title and chunks, in reading order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkedDocument {
    /// Text of the first heading of level 1.
    pub title: Option<String>,
    /// The chunks; a chunk's ordinal is its position here.
    pub chunks: Vec<Chunk>,
}

/// One passage of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Headings the passage stands under, outermost first, joined by [`SECTION_SEPARATOR`].
    pub section: Option<String>,
    /// Where the content stands in the document, in bytes.
    pub range: Range<usize>,
    /// The section as embedded: shortened if it would take too much of the token limit.
    context: Option<String>,
}

impl Chunk {
    /// The passage itself.
    pub fn content<'a>(&self, document: &'a str) -> &'a str {
        document.get(self.range.clone()).unwrap_or_default()
    }

    /// What the chunk's vector is made from; at most [`MAX_TOKENS`] tokens.
    pub fn embedded_text(&self, document: &str) -> String {
        context::embedded_text(self.context.as_deref(), self.content(document))
    }
}

/// Cuts a document into chunks. The same text always gives the same chunks.
pub fn chunk_document(document: &str, format: Format, count_tokens: &CountTokens<'_>) -> ChunkedDocument {
    let (title, sections) = match format {
        Format::Markdown => markdown::outline(document),
        Format::PlainText => (None, vec![plain_text::section(document)]),
    };
    let mut chunks = Vec::new();
    for section in &sections {
        chunks.extend(chunk_section(document, section, count_tokens));
    }
    ChunkedDocument { title, chunks }
}

fn chunk_section(document: &str, section: &Section, count_tokens: &CountTokens<'_>) -> Vec<Chunk> {
    let context = context::shorten(&section.headings, count_tokens);
    let measure = split::Measure { document, context: context.as_deref(), count_tokens };
    let pieces = split::pieces(&section.blocks, &measure);
    let ranges = pack::merge_neighbours(&pieces, &measure);
    let path = context::section_path(&section.headings);
    ranges
        .into_iter()
        .filter(|range| has_words(document, range))
        .map(|range| Chunk { section: path.clone(), range, context: context.clone() })
        .collect()
}

/// A rule, a row of dots or a lone emoji cannot be evidence for anything.
fn has_words(document: &str, range: &Range<usize>) -> bool {
    document.get(range.clone()).is_some_and(|text| text.chars().any(char::is_alphanumeric))
}

#[cfg(test)]
mod tests;
