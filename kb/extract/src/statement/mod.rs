//! The statements of a document: what can be quoted, each with the chain of what gives it its meaning.
//!
//! A chain is made of ranges of the same text, so it survives the cutting into chunks and goes over pages. Joining too much costs a longer
//! quote and joining too little a false one: in doubt a part belongs to the chain, and where even that is unknown, the statement cannot be
//! quoted.

mod conditions;
mod paragraph;
mod short_lines;
mod table;
mod walker;
mod words;

use std::ops::Range;

use chat_core::statement::{Part, Role, StatementKind, shown_text};

use crate::document::Document;

/// A sentence, row or block of code of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Bytes of the document's text. A numbered item includes its number.
    pub range: Range<usize>,
    /// The kind of the statement.
    pub kind: StatementKind,
    /// Outermost first.
    pub chain: Vec<Link>,
    /// True if an answer may show it: not a question, a line that announces others, a list of
    /// links, or a piece whose context is unknown.
    pub is_quotable: bool,
}

/// A part of a chain, as a range of the document's text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Link {
    /// Why it belongs to the statement.
    pub role: Role,
    /// Bytes of the document's text.
    pub range: Range<usize>,
    /// The cell that a column names.
    pub cell: Option<usize>,
    /// Characters of the document's text before it.
    characters: usize,
}

impl Link {
    /// The part with its words.
    pub fn part(&self, document: &Document) -> Part {
        Part {
            role: self.role,
            text: document.slice(&self.range).to_owned(),
            start: self.characters,
            cell: self.cell,
            is_above: false,
        }
    }

    fn new(role: Role, range: &Range<usize>) -> Self {
        Self { role, range: range.clone(), cell: None, characters: 0 }
    }
}

impl Statement {
    /// The chain with its words.
    pub fn parts(&self, document: &Document) -> Vec<Part> {
        self.chain.iter().map(|link| link.part(document)).collect()
    }
}

/// All statements of a document, in reading order, disjoint.
pub fn statements(document: &Document) -> Vec<Statement> {
    let mut statements = walker::read(document);
    // Characters are counted once for all links.
    let mut links: Vec<&mut Link> =
        statements.iter_mut().flat_map(|statement| &mut statement.chain).collect();
    links.sort_by_key(|link| link.range.start);
    let (mut byte, mut characters) = (0, 0);
    for link in links {
        characters += document.slice(&(byte..link.range.start)).chars().count();
        byte = link.range.start;
        link.characters = characters;
    }
    statements
}

/// The statements as answers show them, on one line each, with "✗" before those that no answer shows.
pub fn shown(document: &Document) -> Vec<String> {
    let shown = |statement: &Statement| {
        let parts = statement.parts(document);
        let text = document.slice(&statement.range);
        let text = shown_text(statement.kind, text, &parts.iter().collect::<Vec<_>>());
        let words: Vec<&str> = text.split_whitespace().collect();
        format!("{}{}", if statement.is_quotable { "" } else { "✗ " }, words.join(" "))
    };
    statements(document).iter().map(shown).collect()
}

fn is_within(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    inner.start >= outer.start && inner.end <= outer.end
}

#[cfg(test)]
mod tests;
