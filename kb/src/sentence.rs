//! The sentences of a chunk, each of which gets its own vector.
//!
//! The vector of a chunk represents all of its text; the vector of a sentence shows which part answers a question. `chat-core`
//! defines what a sentence is (a table row and a block of code count), because answers quote the same units.

use std::ops::Range;

use chat_core::limits::MAX_SENTENCES;
use chat_core::sentences::{Unit, UnitKind, named_cells, units};

use crate::chunk::with_context;

/// A sentence, table row or code block of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Range in the chunk's content in characters (Unicode code points), as Postgres counts.
    pub range: Range<usize>,
    /// The same range in bytes.
    bytes: Range<usize>,
    /// The header row of a table row, in bytes.
    header: Option<Range<usize>>,
    /// The line that introduces the list of an item, in bytes.
    introduction: Option<Range<usize>>,
}

impl Sentence {
    /// The text to embed: the headings of its passage (`context`), because "It is free." means little without them, then the
    /// sentence. Cells of a table row get the names of their columns, and a list item the line that introduces its list.
    pub fn embedded_text(&self, context: Option<&str>, content: &str) -> String {
        let text = |range: &Range<usize>| content.get(range.clone()).unwrap_or_default();
        let own = text(&self.bytes);
        let whole = match (&self.header, &self.introduction) {
            (Some(header), _) => named_cells(text(header), own),
            (None, Some(introduction)) => format!("{} {own}", text(introduction)),
            (None, None) => own.to_owned(),
        };
        with_context(context, &whole)
    }
}

/// The first [`MAX_SENTENCES`] sentences of a chunk's content, in order and disjoint. A chunk may have none.
pub fn sentences(content: &str) -> Vec<Sentence> {
    let mut characters = Characters { content, byte: 0, before: 0 };
    let sentence = |unit: Unit| Sentence {
        range: characters.before(unit.range.start)..characters.before(unit.range.end),
        header: header_row(content, &unit),
        introduction: unit.list.as_ref().and_then(|list| list.introduction.clone()),
        bytes: unit.range,
    };
    units(content).into_iter().take(MAX_SENTENCES).map(sentence).collect()
}

/// The first context of a table row is its header row, if the chunk contains it, or else the heading above the table.
fn header_row(content: &str, unit: &Unit) -> Option<Range<usize>> {
    let is_row = |range: &&Range<usize>| content.get((*range).clone()).is_some_and(|text| text.contains('|'));
    let first = unit.context.first().filter(|_| unit.kind == UnitKind::TableRow);
    first.filter(is_row).cloned()
}

/// Counts characters from the start of a text once, for byte offsets that never decrease.
struct Characters<'a> {
    content: &'a str,
    byte: usize,
    before: usize,
}

impl Characters<'_> {
    /// Number of characters before a byte offset.
    fn before(&mut self, byte: usize) -> usize {
        self.before += self.content.get(self.byte..byte).map_or(0, |text| text.chars().count());
        self.byte = byte;
        self.before
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(content: &str) -> Vec<String> {
        sentences(content).iter().map(|sentence| sentence.embedded_text(None, content)).collect()
    }

    /// The result of `substr(content, start + 1, end - start)` in Postgres.
    fn substring(content: &str, range: &Range<usize>) -> String {
        content.chars().skip(range.start).take(range.len()).collect()
    }

    #[test]
    fn offsets_count_characters_and_not_bytes() {
        let content = "Größe 5 € 👩‍👧. Ändern? 退款需要五天。谢谢";
        let ranges: Vec<_> = sentences(content).into_iter().map(|sentence| sentence.range).collect();
        assert_eq!(ranges, [0..14, 15..22, 23..30, 30..32]);
        let slices: Vec<_> = ranges.iter().map(|range| substring(content, range)).collect();
        assert_eq!(slices, ["Größe 5 € 👩‍👧.", "Ändern?", "退款需要五天。", "谢谢"]);
    }

    #[test]
    fn a_sentence_is_embedded_after_its_headings() {
        let content = "It is free.";
        let sentence = sentences(content).remove(0);
        assert_eq!(
            sentence.embedded_text(Some("Shipping › Price"), content),
            "Shipping › Price\nIt is free."
        );
    }

    #[test]
    fn a_list_item_is_embedded_after_the_line_that_introduces_its_list() {
        assert_eq!(
            texts("You need:\n\n- a receipt\n- a box"),
            ["You need:", "You need: a receipt", "You need: a box"]
        );
    }

    #[test]
    fn cells_of_a_table_row_are_embedded_with_the_names_of_their_columns() {
        let content =
            "# Shipping\n\nWe ship. Ask us.\n\n| Way | Price |\n|---|---|\n| Air | 9 € |\n| Sea | 5 € |";
        assert_eq!(texts(content), ["We ship.", "Ask us.", "Way: Air; Price: 9 €", "Way: Sea; Price: 5 €"]);
    }

    #[test]
    fn a_heading_is_not_mistaken_for_the_header_of_a_split_table() {
        assert_eq!(texts("# Shipping\n\n| Air | 9 € |\n| Sea | 5 € |"), ["Air | 9 €", "Sea | 5 €"]);
    }

    #[test]
    fn code_is_one_sentence() {
        assert_eq!(texts("Run it:\n\n```\nfirst. then\n```"), ["Run it:", "```\nfirst. then\n```"]);
    }

    #[test]
    fn a_chunk_may_have_no_sentences() {
        assert!(sentences("# A heading alone").is_empty());
    }

    proptest! {
        #[test]
        fn every_range_contains_its_sentence(content in "(?s)([#\\-|`> \n.!?a-zé字。👩‍👧\"]{0,10}){0,10}") {
            let mut end = 0;
            for sentence in sentences(&content) {
                prop_assert!(sentence.range.start >= end && sentence.range.start < sentence.range.end);
                end = sentence.range.end;
                prop_assert_eq!(substring(&content, &sentence.range), &content[sentence.bytes]);
            }
        }
    }
}
