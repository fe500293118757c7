//! The structure a document is cut along.

use std::ops::Range;

/// Blocks that stand under the same headings with nothing between them that is not content.
#[derive(Debug)]
pub(super) struct Section {
    /// Outermost first.
    pub(super) headings: Vec<String>,
    pub(super) blocks: Vec<Block>,
}

/// A paragraph, list, list item, table, code block, …
#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: BlockKind,
    /// Bytes of the document.
    pub(super) range: Range<usize>,
    pub(super) children: Vec<Block>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Heading {
        level: usize,
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
    pub(super) fn leaf(kind: BlockKind, range: Range<usize>) -> Self {
        Self { kind, range, children: Vec::new() }
    }
}

/// Without white space at the end and without blank lines at the start; the first line keeps its indentation, which
/// means something in Markdown.
pub(super) fn trim(document: &str, range: Range<usize>) -> Range<usize> {
    let text = document.get(range.clone()).unwrap_or_default();
    let end = range.start + text.trim_end().len();
    let blank = text.len() - text.trim_start().len();
    let first_line = text.get(..blank).and_then(|space| space.rfind('\n')).map_or(0, |newline| newline + 1);
    range.start.saturating_add(first_line).min(end)..end
}
