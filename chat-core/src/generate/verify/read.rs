//! A source in the form in which the sentences of an answer are compared with it.

use super::qualified::{Qualified, Text};
use super::tokens::Token;

/// A source in the form in which it is compared.
#[derive(Debug)]
pub(super) struct ReadSource {
    pub(super) sentences: Vec<ReadSentence>,
    /// Sorted stems of the document's title.
    pub(super) title: Vec<u32>,
    /// Its text and title, as `quotable` returns it.
    pub(super) quotable: String,
}

#[derive(Debug)]
pub(super) struct ReadSentence {
    pub(super) tokens: Vec<Token>,
    pub(super) qualified: Qualified,
    /// Sorted stems.
    pub(super) stems: Vec<u32>,
    /// Sorted stems of the lines above it.
    pub(super) context: Vec<u32>,
    /// Its subject, if it is a row of a table.
    pub(super) row: Option<Row>,
}

impl ReadSentence {
    pub(super) fn text(&self) -> Text<'_> {
        Text { tokens: &self.tokens, qualified: &self.qualified }
    }
}

pub(super) fn sorted_stems(tokens: &[Token]) -> Vec<u32> {
    let mut stems: Vec<u32> = tokens.iter().map(|token| token.stem).collect();
    stems.sort_unstable();
    stems.dedup();
    stems
}

/// The subject of a row of a table.
#[derive(Debug)]
pub(super) struct Row {
    /// The stems of its first cell that identify the row: those unique to it, or all of them if
    /// none is unique.
    pub(super) names: Vec<u32>,
    /// The number of the table in its passage.
    pub(super) table: usize,
}

impl Row {
    /// From the words of its first cell.
    pub(super) fn new(label: &[Token]) -> Self {
        let names = label.iter().filter(|token| token.is_content()).map(|token| token.stem).collect();
        Self { names, table: 0 }
    }

    pub(super) fn is_named(&self, claim: &[Token]) -> bool {
        claim.iter().any(|token| self.names.contains(&token.stem))
    }
}
