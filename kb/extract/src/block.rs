//! The structure of a document, along which it is split into chunks.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Blocks under the same headings, on the same page, with only content between them. A chunk never spans sections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Headings above it, outermost first.
    pub headings: Vec<String>,
    /// Page of a paged document, counted from 1 as a reader of the file counts.
    pub page: Option<u32>,
    /// Its own address, if it has one: a row of a table with a column of links.
    pub url: Option<String>,
    /// Id of the innermost heading that has one: the page opens at it with `#id`. Only HTML pages have ids.
    pub anchor: Option<String>,
    /// In reading order, disjoint.
    pub blocks: Vec<Block>,
}

/// A paragraph, list, list item, table, code block, …
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Determines how the block is split if it is too long for a chunk.
    pub kind: BlockKind,
    /// Byte range in the text.
    pub range: Range<usize>,
    /// The parts of a container or table, in order, within its range.
    pub children: Vec<Block>,
}

/// The kind of a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockKind {
    /// Opens a section; never content of a chunk.
    Heading {
        /// 1 is the outermost.
        level: usize,
        /// Rendered text on one line.
        text: String,
    },
    /// Not visible in the rendered document: front matter, an HTML comment.
    Hidden,
    /// Split between its children: list, list item, quote, footnote.
    Container,
    /// Split between its rows; the first child is the header row.
    Table,
    /// Split between sentences.
    Text,
    /// Split between lines: code, HTML, a table row.
    Lines,
}

impl Block {
    /// A block without children.
    pub fn leaf(kind: BlockKind, range: Range<usize>) -> Self {
        Self { kind, range, children: Vec::new() }
    }
}

/// Trims white space at the end and blank lines at the start. The first line keeps its indentation, which is significant in
/// Markdown.
pub fn trim(document: &str, range: Range<usize>) -> Range<usize> {
    let text = document.get(range.clone()).unwrap_or_default();
    let end = range.start + text.trim_end().len();
    let blank = text.len() - text.trim_start().len();
    let first_line = text.get(..blank).and_then(|space| space.rfind('\n')).map_or(0, |newline| newline + 1);
    range.start.saturating_add(first_line).min(end)..end
}
