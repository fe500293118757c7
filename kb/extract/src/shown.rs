//! What tests compare: the statements of a document as answers show them.

use chat_core::statement::shown_text;

use crate::document::Document;
use crate::statement::{Statement, statements};

/// On one line each, with "✗" before those that no answer shows.
pub(crate) fn shown(document: &Document) -> Vec<String> {
    let shown = |statement: &Statement| {
        let parts = statement.parts(document);
        let text = document.slice(&statement.range);
        let text = shown_text(statement.kind, text, &parts.iter().collect::<Vec<_>>());
        let words: Vec<&str> = text.split_whitespace().collect();
        format!("{}{}", if statement.is_quotable { "" } else { "✗ " }, words.join(" "))
    };
    statements(document).iter().map(shown).collect()
}
