//! Splits the Markdown source of a passage into the units that an answer may quote.
//!
//! A unit is a sentence of a paragraph or list item, a row of a table, or a whole fenced code block. Headings and the header
//! rows of tables are never units; they are the context of the units below them.

mod blocks;
mod enclosed;
mod full_stop;
mod split;
mod table;

use std::collections::BTreeMap;
use std::ops::Range;

use blocks::{Block, BlockKind};

pub(crate) use enclosed::first_open;
pub use split::sentences;
pub(crate) use table::row_label;
pub use table::{named_cells, row_text};

/// The kind of a unit, which decides how an answer lays it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitKind {
    /// A sentence of a paragraph or list item: running text.
    Sentence,
    /// A row of a table: a separate line.
    TableRow,
    /// A fenced code block with its fences: separate lines.
    Code,
    /// Several lines of unknown structure; [`units`] never returns it.
    Passage,
}

/// A unit, as byte offsets into the passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// The unit is exactly `content[range]`.
    pub range: Range<usize>,
    /// Sentence, table row or code.
    pub kind: UnitKind,
    /// The heading above it, preceded by the header row for a table row.
    pub context: Vec<Range<usize>>,
    /// Its list, if it is in a list item.
    pub list: Option<List>,
}

/// A list of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// The position of the list in the passage, from 0.
    pub number: usize,
    /// Whether its items are numbered, usually steps.
    pub is_ordered: bool,
    /// The sentence right above the list that ends with a colon. An item is incomplete without it. Only set for the first
    /// sentence of an item.
    pub introduction: Option<Range<usize>>,
}

/// All units of a passage, in order, without overlaps.
pub fn units(content: &str) -> Vec<Unit> {
    // Cached, because many items share one paragraph.
    let mut introductions = BTreeMap::new();
    let mut introduction_in = |above: Range<usize>| {
        let key = (above.start, above.end);
        introductions.entry(key).or_insert_with(|| introduction(content, above)).clone()
    };
    blocks::blocks(content)
        .into_iter()
        .flat_map(|Block { range, kind, context, list }| {
            let list = list.map(|list| List {
                number: list.number,
                is_ordered: list.is_ordered,
                introduction: list.above.and_then(&mut introduction_in),
            });
            let later = list.clone().map(|list| List { introduction: None, ..list });
            let (kind, ranges) = match kind {
                BlockKind::Prose => (UnitKind::Sentence, split::sentences(content, range)),
                BlockKind::TableRow => (UnitKind::TableRow, vec![range]),
                BlockKind::Code => (UnitKind::Code, vec![range]),
            };
            ranges.into_iter().enumerate().map(move |(position, range)| Unit {
                range,
                kind,
                context: context.clone(),
                list: if position == 0 { list.clone() } else { later.clone() },
            })
        })
        .filter(|unit| {
            content.get(unit.range.clone()).is_some_and(|text| text.contains(char::is_alphanumeric))
        })
        .collect()
}

/// The last sentence of a paragraph, if it ends with a colon.
fn introduction(content: &str, paragraph: Range<usize>) -> Option<Range<usize>> {
    let last = split::sentences(content, paragraph).pop()?;
    ends_with_colon(content.get(last.clone())?).then_some(last)
}

/// Whether a sentence ends with a colon, ignoring closing emphasis and brackets.
pub(crate) fn ends_with_colon(text: &str) -> bool {
    text.trim_end_matches(['*', '_', '`', '~', ')', ']', '"', ' ']).ends_with([':', '：'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(content: &str) -> Vec<&str> {
        units(content).into_iter().map(|unit| &content[unit.range]).collect()
    }

    #[test]
    fn headings_are_context_and_not_units() {
        let content =
            "# Refunds\n\nWe refund in 5 days. Ask us.\n\nShipping\n---\nWe ship daily.\n\nSize\n====\nBig.";
        assert_eq!(texts(content), ["We refund in 5 days.", "Ask us.", "We ship daily.", "Big."]);
        let headings: Vec<_> =
            units(content).iter().map(|unit| content[unit.context[0].clone()].to_owned()).collect();
        assert_eq!(headings, ["Refunds", "Refunds", "Shipping", "Size"]);
    }

    #[test]
    fn list_markers_are_not_part_of_a_unit() {
        let content =
            "You need:\n- a receipt\n* the *box*\n  1. your card\n2) proof of age. Really.\n- [x] done\n-\n";
        assert_eq!(
            texts(content),
            ["You need:", "a receipt", "the *box*", "your card", "proof of age.", "Really.", "done"]
        );
    }

    #[test]
    fn a_number_that_starts_a_wrapped_line_is_not_a_list() {
        assert_eq!(texts("It was founded in\n2024. It grew."), ["It was founded in\n2024.", "It grew."]);
    }

    #[test]
    fn table_rows_are_units_and_their_header_is_context() {
        let content =
            "Plans:\n\n| Plan | Price |\n|:-----|------:|\n| Basic | 5 € |\n| Pro | 9 € |\n\nAfter.";
        assert_eq!(texts(content), ["Plans:", "Basic | 5 €", "Pro | 9 €", "After."]);
        let row = &units(content)[1];
        assert_eq!(row.kind, UnitKind::TableRow);
        assert_eq!(&content[row.context[0].clone()], "| Plan | Price |");
    }

    #[test]
    fn list_items_have_their_list_and_the_line_that_introduces_it() {
        let content = "We care. You need:\n\n- a receipt\n- the box. Really.\n\nThen:\n1. pack it\n2. send it\n\n# Next\n\n- alone";
        let lists: Vec<_> = units(content)
            .into_iter()
            .map(|unit| {
                let list = unit.list?;
                Some((list.number, list.is_ordered, list.introduction.map(|range| &content[range])))
            })
            .collect();
        let (need, then) = (Some((0, false, Some("You need:"))), Some((1, true, Some("Then:"))));
        // "Really." is about the box and does not follow "You need:".
        let later = Some((0, false, None));
        assert_eq!(lists, [None, None, need, need, later, None, then, then, Some((2, false, None))]);
    }

    #[test]
    fn a_passage_may_start_inside_a_table() {
        assert_eq!(texts("| Pro | 9 € |\n| Max | 20 € |\n"), ["Pro | 9 €", "Max | 20 €"]);
        assert_eq!(texts("|---|---|\n| Pro | 9 € |"), ["Pro | 9 €"]);
    }

    #[test]
    fn fenced_code_is_one_unit() {
        let content = "Run it:\n\n```sh\nnpm i. Then go.\n\n# not a heading\n```\nDone.";
        assert_eq!(texts(content), ["Run it:", "```sh\nnpm i. Then go.\n\n# not a heading\n```", "Done."]);
        let open = "~~~\nnever closed. Still code.\n";
        assert_eq!(texts(open), ["~~~\nnever closed. Still code."]);
    }

    #[test]
    fn text_without_words_is_not_a_unit() {
        assert_eq!(texts("***\n\n…\n\n---\n\n<!-- note. -->\n\nReal."), ["Real."]);
        assert!(texts("").is_empty());
        assert!(texts("# Only a heading\n").is_empty());
    }

    #[test]
    fn comments_and_link_definitions_are_not_units() {
        let content = "Seen.\n\n<!-- note\nto ourselves. -->\nSeen too.\n\n- item\n  <!-- a\n  b. -->\n\n\
            [the site]: https://example.org\n\n[^1]: A footnote.";
        assert_eq!(texts(content), ["Seen.", "Seen too.", "item", "[^1]: A footnote."]);
    }

    #[test]
    fn windows_line_ends_are_not_part_of_a_unit() {
        assert_eq!(texts("# A\r\n\r\nOne.\r\n\r\n- two\r\n- three\r\n"), ["One.", "two", "three"]);
    }

    proptest! {
        #[test]
        fn units_are_ordered_trimmed_slices(content in "(?s)([#\\-*|`~> \n\r.!?a-zA-Z0-9é字。👩‍👧\"')(\\[\\]]{0,12}){0,12}") {
            let mut end = 0;
            for unit in units(&content) {
                let text = content.get(unit.range.clone()).expect("on character boundaries");
                prop_assert_eq!(text, text.trim());
                prop_assert!(!text.is_empty() && unit.range.start >= end);
                end = unit.range.end;
                for context in unit.context {
                    prop_assert!(content.get(context).is_some());
                }
            }
        }

        #[test]
        fn splitting_never_panics(content in any::<String>()) {
            for unit in units(&content) {
                prop_assert!(content.get(unit.range).is_some());
            }
        }
    }
}
