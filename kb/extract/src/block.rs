//! The structure a document is cut along.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Blocks that stand under the same headings, on the same page, with nothing between them that is not content. A chunk
/// never reaches over the border of a section.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Outermost first.
    pub headings: Vec<String>,
    /// Page of a paged document, counted from 1 as a reader of the file counts.
    pub page: Option<u32>,
    /// Address of this part, where it has one of its own: a row of a table with a column of links.
    pub url: Option<String>,
    /// In reading order, disjoint.
    pub blocks: Vec<Block>,
}

/// A paragraph, list, list item, table, code block, …
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// What it is, which decides how it is split if it is too long for a chunk.
    pub kind: BlockKind,
    /// Bytes of the text.
    pub range: Range<usize>,
    /// The parts of a container or table, in order, within its range.
    pub children: Vec<Block>,
}

/// What a block is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockKind {
    /// Opens a section; never content of a chunk.
    Heading {
        /// 1 is the outermost.
        level: usize,
        /// As a reader sees it, on one line.
        text: String,
    },
    /// Not shown to a reader of the rendered document: front matter, an HTML comment.
    Hidden,
    /// Splits between its children: list, list item, quote, footnote.
    Container,
    /// Splits between its rows; the first child is the header row.
    Table,
    /// Splits between sentences.
    Text,
    /// Splits between lines: code, HTML, a table row.
    Lines,
}

impl Block {
    /// A block without parts.
    pub fn leaf(kind: BlockKind, range: Range<usize>) -> Self {
        Self { kind, range, children: Vec::new() }
    }
}

/// Without white space at the end and without blank lines at the start; the first line keeps its indentation, which
/// means something in Markdown.
pub fn trim(document: &str, range: Range<usize>) -> Range<usize> {
    let text = document.get(range.clone()).unwrap_or_default();
    let end = range.start + text.trim_end().len();
    let blank = text.len() - text.trim_start().len();
    let first_line = text.get(..blank).and_then(|space| space.rfind('\n')).map_or(0, |newline| newline + 1);
    range.start.saturating_add(first_line).min(end)..end
}
