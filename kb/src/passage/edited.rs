//! Passages whose text somebody wrote in the dashboard.

use std::ops::Range;

use chat_core::limits::{MAX_CHAIN_PARTS, MAX_PARTS_BYTES, MAX_SENTENCES};
use chat_core::statement::{Part, StatementKind};
use extract::Format;
use extract::statement::statements;
use serde_json::json;

use super::{Characters, PassageStatement, jsonb_bytes};

/// The statements of a passage, and the parts of their chains, from its text alone. It is read as a text file. What is above the
/// passage holds for all of it.
pub(crate) fn read_edited(content: &str, above: Vec<Part>) -> (Vec<PassageStatement>, Vec<Part>) {
    let Ok(document) = extract::document(content.as_bytes(), Format::PlainText) else {
        return (Vec::new(), above);
    };
    let mut parts = above;
    let above = parts.len();
    let places = places(&document.text, content);
    let mut characters = Characters { content, byte: 0, before: 0 };
    let mut found = Vec::new();
    for statement in statements(&document).into_iter().filter(|statement| statement.is_quotable) {
        let Some(range) = original(&statement.range, &document.text, &places) else { continue };
        let written = content.get(range.clone()).unwrap_or_default();
        let read = document.slice(&statement.range);
        // A row and code are shown with their white space.
        let is_same = match statement.kind {
            StatementKind::Sentence => written.split_whitespace().eq(read.split_whitespace()),
            StatementKind::Row | StatementKind::Code => written == read,
        };
        if !is_same || found.len() == MAX_SENTENCES {
            continue;
        }
        let own = statement.parts(&document);
        let size = jsonb_bytes(&json!(parts)) + jsonb_bytes(&json!(own));
        if above + own.len() > MAX_CHAIN_PARTS || size > MAX_PARTS_BYTES {
            continue;
        }
        let mut chain: Vec<usize> = (0..above).collect();
        for part in own {
            let known = parts.iter().position(|other| *other == part);
            chain.push(known.unwrap_or_else(|| {
                parts.push(part);
                parts.len() - 1
            }));
        }
        found.push(PassageStatement {
            start: characters.before(range.start),
            end: characters.before(range.end),
            kind: statement.kind,
            chain,
        });
    }
    (found, parts)
}

/// Where each letter of the text that was read is in the text that was written, in bytes of both. Reading changes white space and
/// leaves out invisible characters.
fn places(read: &str, written: &str) -> Vec<(usize, usize)> {
    let mut written = written.char_indices();
    let letters = read.char_indices().filter(|(_, letter)| !letter.is_whitespace());
    letters.map_while(|(at, letter)| Some((at, written.find(|(_, other)| *other == letter)?.0))).collect()
}

/// The range in the text that was written.
fn original(range: &Range<usize>, read: &str, places: &[(usize, usize)]) -> Option<Range<usize>> {
    let first = places.partition_point(|(at, _)| *at < range.start);
    let last = places.partition_point(|(at, _)| *at < range.end).checked_sub(1)?;
    let (at, end) = places.get(last)?;
    let length = read.get(*at..)?.chars().next()?.len_utf8();
    Some(places.get(first)?.1..end + length)
}

#[cfg(test)]
mod tests {
    use chat_core::statement::{Role, shown_text};

    use super::*;

    fn above(text: &str) -> Part {
        Part { role: Role::LeadIn, text: text.to_owned(), start: 7, cell: None, is_above: true }
    }

    fn shown(content: &str, above: Vec<Part>) -> Vec<String> {
        let (statements, parts) = read_edited(content, above);
        let of = |statement: &PassageStatement| {
            let length = statement.end - statement.start;
            let text: String = content.chars().skip(statement.start).take(length).collect();
            let chain: Vec<&Part> = statement.chain.iter().map(|at| &parts[*at]).collect();
            shown_text(statement.kind, &text, &chain)
        };
        statements.iter().map(of).collect()
    }

    #[test]
    fn what_is_above_an_edited_passage_holds_for_all_of_it() {
        let content = "- Theft of\n  bicycles\n- Größe 5 € 👩‍👧";
        assert_eq!(
            shown(content, vec![above("Not covered:")]),
            ["Not covered: Theft of bicycles", "Not covered: Größe 5 € 👩‍👧"]
        );
    }

    #[test]
    fn an_edited_passage_has_chains_of_its_own() {
        let content = "We ship to:\r\n\r\n- France\r\n- Spain\r\n";
        let (statements, parts) = read_edited(content, Vec::new());
        assert_eq!(parts.len(), 1, "{parts:?}");
        assert_eq!(shown(content, Vec::new()), ["We ship to: France", "We ship to: Spain"]);
        assert!(statements.iter().all(|statement| statement.kind == StatementKind::Sentence));
    }

    #[test]
    fn one_line_is_a_statement() {
        assert_eq!(shown("Open from 9 to 5", Vec::new()), ["Open from 9 to 5"]);
        assert_eq!(shown("Open from 9. Not on Sundays", Vec::new()).len(), 2);
    }

    #[test]
    fn nothing_that_reads_otherwise_than_it_is_written_can_be_quoted() {
        assert!(shown("\u{0}\u{0}", Vec::new()).is_empty());
        assert_eq!(shown("soft\u{ad}ly.", Vec::new()), Vec::<String>::new());
    }
}
