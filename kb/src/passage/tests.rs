use chat_core::statement::shown_text;
use extract::Format;
use proptest::prelude::*;

use super::*;

/// A token for each word, and two special ones.
fn count(text: &str) -> usize {
    text.split_whitespace().count() + 2
}

fn read(markdown: &str) -> Document {
    extract::document(markdown.as_bytes(), Format::Markdown).unwrap()
}

/// What an answer may show of each passage.
fn shown(document: &Document) -> Vec<Vec<String>> {
    let of_passage = |passage: &Passage| {
        let content = passage.content(document);
        let shown = |statement: &PassageStatement| {
            let chain: Vec<&Part> = statement.chain.iter().map(|at| &passage.parts[*at]).collect();
            shown_text(statement.kind, &content[statement.bytes.clone()], &chain)
        };
        passage.statements.iter().map(shown).collect()
    };
    passages(document, &count).iter().map(of_passage).collect()
}

fn words(count: usize) -> String {
    (0..count).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn items_of_a_list_that_begins_a_passage_keep_the_line_above_it() {
    let items: String = (0..40).map(|number| format!("- item number {number} {}\n", words(5))).collect();
    let document = read(&format!("# Insurance\n\n{}. The insurance does not cover:\n\n{items}", words(150)));
    let found = shown(&document);
    assert!(found.len() > 2);
    let items = found.iter().flatten().filter(|text| text.contains("item number"));
    assert_eq!(items.clone().count(), 40);
    assert!(items.clone().all(|text| text.starts_with("The insurance does not cover: ")), "{found:?}");
}

#[test]
fn rows_of_a_long_table_keep_the_names_of_their_columns() {
    let rows: String =
        (0..60).map(|number| format!("| Plan {number} | {number} € | {} |\n", words(6))).collect();
    let document = read(&format!("| Plan | Cancellation fee | Notes |\n|---|---|---|\n{rows}"));
    let found = shown(&document);
    assert!(found.len() > 2);
    assert_eq!(found.iter().flatten().filter(|text| text.contains("Cancellation fee: ")).count(), 60);
}

#[test]
fn the_parts_of_a_passage_are_stored_once_and_those_above_it_are_marked() {
    let items: String = (0..40).map(|number| format!("- item {number} {}\n", words(8))).collect();
    let document = read(&format!("Not covered:\n\n{items}"));
    let passages = passages(&document, &count);
    let parts: Vec<_> =
        passages.iter().map(|passage| (passage.parts.len(), passage.parts[0].is_above)).collect();
    assert_eq!(parts.first(), Some(&(1, false)));
    assert!(parts.iter().skip(1).all(|part| *part == (1, true)), "{parts:?}");
    let text = passages[1].texts(passages[1].content(&document), &count);
    assert!(text.iter().all(|text| text.starts_with("Not covered:")), "{text:?}");
}

#[test]
fn code_that_is_cut_is_not_quoted_and_stays_code() {
    let lines: String = (0..300).map(|number| format!("export STEP_{number}=a b c\n")).collect();
    let document = read(&format!("Run this:\n\n```\n{lines}```\n\nNever run it on the live server."));
    let passages = passages(&document, &count);
    assert!(passages.len() > 2);
    assert_eq!(shown(&document).concat(), ["Never run it on the live server."]);
    let kinds = |passage: &Passage| -> Vec<String> {
        let blocks = passage.blocks.as_ref().unwrap()["blocks"].as_array().unwrap().clone();
        blocks.iter().map(|block| block["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert!(passages.iter().skip(1).rev().skip(1).all(|passage| kinds(passage) == ["code"]));
}

#[test]
fn a_passage_never_spans_sections_and_has_its_place() {
    let document = read("# A\n\nOne.\n\n## B\n\nTwo.\n\n# C\n\nThree.");
    let found = passages(&document, &count);
    let places: Vec<_> = found
        .iter()
        .map(|passage| (passage.chunk.section.as_deref().unwrap(), passage.content(&document)))
        .collect();
    assert_eq!(places, [("A", "One."), ("A › B", "Two."), ("C", "Three.")]);
}

#[test]
fn rows_with_addresses_of_their_own_are_passages_of_their_own() {
    let csv = "Name,Price,Url\nBasic,9,https://example.org/b\nPro,19,https://example.org/p\n";
    let document = extract::document(csv.as_bytes(), Format::Csv).unwrap();
    let found = passages(&document, &count);
    let urls: Vec<_> = found.iter().map(|passage| passage.chunk.url.as_deref()).collect();
    assert_eq!(urls, [None, Some("https://example.org/b"), Some("https://example.org/p")]);
    assert_eq!(shown(&document).concat(), ["Basic – Price: 9", "Pro – Price: 19"]);
}

#[test]
fn the_layout_has_items_with_markers_rows_with_cells_and_marks() {
    let document = read("You **need**:\n\n1. a 😀\n   - b\n\n| x | y |\n|---|---|\n| 1 | 2 |");
    let passage = &passages(&document, &count)[0];
    assert_eq!(passage.content(&document), "You need:\n\n1. a 😀\n  - b\n\nx\ty\n1\t2");
    assert_eq!(
        passage.blocks.clone().unwrap(),
        serde_json::json!({
            "blocks": [
                { "kind": "paragraph", "start": 0, "end": 9 },
                { "kind": "item", "start": 11, "end": 18, "text": 14, "depth": 0 },
                { "kind": "item", "start": 21, "end": 24, "text": 23, "depth": 1 },
                { "kind": "row", "start": 26, "end": 29, "cells": [[26, 27], [28, 29]], "is_header": true },
                { "kind": "row", "start": 30, "end": 33, "cells": [[30, 31], [32, 33]] },
            ],
            "marks": [{ "kind": "strong", "start": 4, "end": 8 }],
        })
    );
}

proptest! {
    #[test]
    fn no_passage_has_a_statement_without_each_line_of_its_chain(
        lines in prop::collection::vec((0..3_usize, 1..60_usize), 1..40),
        lead in 1..120_usize,
    ) {
        let mut markdown = format!("{} is not covered:\n\n", words(lead));
        let mut depth = 0;
        for (number, (wanted, length)) in lines.iter().enumerate() {
            depth = (*wanted).min(depth + usize::from(number > 0));
            markdown.push_str(&format!("{}- item{number} {}\n", "  ".repeat(depth), words(*length)));
        }
        let document = read(&markdown);
        let whole = statements(&document);
        let mut quoted = 0;
        for passage in passages(&document, &count) {
            prop_assert!(count(passage.content(&document)) <= MAX_TOKENS);
            for statement in &passage.statements {
                let range = passage.chunk.range.start + statement.bytes.start..passage.chunk.range.start + statement.bytes.end;
                let original = whole.iter().find(|other| other.range == range).unwrap();
                let chain: Vec<&str> = statement.chain.iter().map(|at| passage.parts[*at].text.as_str()).collect();
                let expected: Vec<&str> = original.chain.iter().map(|link| document.slice(&link.range)).collect();
                prop_assert_eq!(chain, expected);
                quoted += 1;
            }
        }
        let quotable = whole.iter().filter(|statement| statement.is_quotable).count();
        prop_assert!(quoted <= quotable);
    }
}
