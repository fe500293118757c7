//! Splits a document into chunks: passages small enough to embed and to cite.
//!
//! A chunk's content is always a verbatim slice of the document's text, so a quote from it can be checked against
//! the file. Headings are not content: they become the chunk's *section* ("Refunds › Exceptions"), and a chunk never spans
//! sections. The embedded text is the section, a newline, and the content ([`headings`]), because a paragraph such as "It
//! takes five days." means little without its heading.
//!
//! Blocks (paragraphs, lists, tables, code) stay whole while they fit; one that does not is split at the next smaller
//! unit: list items or table rows, then sentences or code lines, then words, then characters. Neighbouring pieces of a
//! section are merged up to [`TARGET_TOKENS`].
//!
//! A token limit alone does not limit the size: a word of more than 100 characters is one token, however long it is, and white
//! space is none. So a chunk also has at most [`MAX_PASSAGE_BYTES`], and its section [`MAX_SECTION_BYTES`].

mod context;
mod pack;
mod split;

use std::ops::Range;
use std::sync::Arc;

use chat_core::limits::{MAX_NAME_CHARS, MAX_SECTION_BYTES, grapheme_boundary, one_line};
use extract::{Extracted, Section};

pub use chat_core::limits::MAX_PASSAGE_BYTES;
pub use context::headings;
pub(crate) use context::{shorten, with_context};
pub(crate) use pack::merge_neighbours;
pub(crate) use split::{Measure, split_words};

/// Changed whenever the same text and structure would give different chunks or sentences, so that documents are written
/// again.
pub const CHUNKER_VERSION: &str = "chunker-6";

/// Size that neighbouring pieces are merged up to, in tokens of the embedded text, `[CLS]` and `[SEP]` included.
pub const TARGET_TOKENS: usize = 200;

/// Hard limit on the embedded text: what the model reads, `[CLS]` and `[SEP]` included.
pub const MAX_TOKENS: usize = embedder::MAX_TOKENS;

/// Separates the headings of a section path.
pub const SECTION_SEPARATOR: &str = " › ";

/// Counts the tokens of a text, `[CLS]` and `[SEP]` included.
pub type CountTokens<'a> = dyn Fn(&str) -> usize + 'a;

/// One passage of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Headings above the passage, outermost first, joined by [`SECTION_SEPARATOR`]. Outermost headings are left out if the
    /// path would be longer than [`MAX_SECTION_BYTES`].
    pub section: Option<Arc<str>>,
    /// Page, counted from 1.
    pub page: Option<u32>,
    /// Its own address, if it has one.
    pub url: Option<Arc<str>>,
    /// Id on the document's page at which the page opens to show the passage.
    pub anchor: Option<Arc<str>>,
    /// Range of the content in the document's text, in bytes.
    pub range: Range<usize>,
}

/// The innermost heading of a section, which gets its own vector.
pub fn innermost_heading(section: &str) -> &str {
    section.rsplit(SECTION_SEPARATOR).next().unwrap_or(section)
}

impl Chunk {
    pub fn content<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.range.clone()).unwrap_or_default()
    }
}

/// Splits a document into chunks, in reading order; the ordinal of a chunk is its position. Deterministic.
pub fn chunks(document: &Extracted, count_tokens: &CountTokens<'_>) -> Vec<Chunk> {
    let of_section = |section| section_chunks(&document.text, section, count_tokens);
    document.sections.iter().flat_map(of_section).collect()
}

fn section_chunks(text: &str, section: &Section, count_tokens: &CountTokens<'_>) -> Vec<Chunk> {
    let path = section_path(&section.headings);
    let context = path.as_deref().and_then(|path| context::shorten(path, count_tokens));
    let measure = split::Measure::new(text, context.as_deref(), count_tokens);
    let pieces = split::pieces(&section.blocks, &measure);
    let ranges = pack::merge_neighbours(&pieces, &measure);
    let (path, url, anchor) = (
        path.map(Arc::from),
        section.url.as_deref().map(Arc::from),
        section.anchor.as_deref().map(Arc::from),
    );
    ranges
        .into_iter()
        .filter(|range| has_words(text, range))
        .map(|range| Chunk {
            section: path.clone(),
            page: section.page,
            url: url.clone(),
            anchor: anchor.clone(),
            range,
        })
        .collect()
}

/// Joins the innermost headings that fit into [`MAX_SECTION_BYTES`], at least one, each truncated if it is too long.
pub(crate) fn section_path(headings: &[String]) -> Option<String> {
    let mut path = String::new();
    let short = headings.iter().rev().map(|heading| one_line(heading, MAX_NAME_CHARS));
    for heading in short.filter(|heading| !heading.is_empty()) {
        if path.is_empty() {
            path = truncated(heading, MAX_SECTION_BYTES);
        } else if heading.len() + SECTION_SEPARATOR.len() + path.len() <= MAX_SECTION_BYTES {
            path = [heading.as_str(), path.as_str()].join(SECTION_SEPARATOR);
        } else {
            break;
        }
    }
    (!path.is_empty()).then_some(path)
}

/// Truncates the text to a number of bytes, the ellipsis included.
fn truncated(mut text: String, max_bytes: usize) -> String {
    const ELLIPSIS: &str = "…";
    if text.len() > max_bytes {
        text.truncate(grapheme_boundary(&text, max_bytes - ELLIPSIS.len()));
        text.push_str(ELLIPSIS);
    }
    text
}

/// A horizontal rule, a row of dots or a lone emoji cannot be evidence.
fn has_words(text: &str, range: &Range<usize>) -> bool {
    text.get(range.clone()).is_some_and(|text| text.chars().any(char::is_alphanumeric))
}

#[cfg(test)]
mod tests;
