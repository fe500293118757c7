use std::cell::Cell;
use std::sync::OnceLock;

use chat_core::limits::{MAX_PASSAGE_BYTES, MAX_SECTION_BYTES};
use chat_core::statement::shown_text;
use embedder::Embedder;
use extract::Format;
use proptest::prelude::*;

use super::*;

/// A token for each word, and two special ones.
fn count(text: &str) -> usize {
    text.split_whitespace().count() + 2
}

/// The tokenizer of the model, because passages depend on how it treats long words and white space.
fn count_tokens(text: &str) -> usize {
    static MODEL: OnceLock<Embedder> = OnceLock::new();
    let load =
        || Embedder::from_dir(&embedder::model_dir()).expect("the model; run `cargo xtask setup model`");
    MODEL.get_or_init(load).count_tokens(text)
}

fn read(markdown: &str) -> Document {
    read_as(markdown, Format::Markdown)
}

fn read_as(text: &str, format: Format) -> Document {
    extract::document(text.as_bytes(), format).unwrap()
}

/// The result of `substr(content, start + 1, end - start)` in Postgres.
fn words_of(content: &str, statement: &PassageStatement) -> String {
    content.chars().skip(statement.start).take(statement.end - statement.start).collect()
}

fn contents(document: &Document) -> Vec<&str> {
    passages(document, &count_tokens).iter().map(|passage| passage.content(document)).collect()
}

/// The statements of each passage that an answer may show.
fn shown(document: &Document) -> Vec<Vec<String>> {
    let of_passage = |passage: &Passage| {
        let content = passage.content(document);
        let shown = |statement: &PassageStatement| {
            let chain: Vec<&Part> = statement.chain.iter().map(|at| &passage.parts[*at]).collect();
            shown_text(statement.kind, &words_of(content, statement), &chain)
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
        .map(|passage| (passage.section.as_deref().unwrap(), passage.content(&document)))
        .collect();
    assert_eq!(places, [("A", "One."), ("A › B", "Two."), ("C", "Three.")]);
}

#[test]
fn rows_with_addresses_of_their_own_are_passages_of_their_own() {
    let csv = "Name,Price,Url\nBasic,9,https://example.org/b\nPro,19,https://example.org/p\n";
    let document = extract::document(csv.as_bytes(), Format::Csv).unwrap();
    let found = passages(&document, &count);
    let urls: Vec<_> = found.iter().map(|passage| passage.url.as_deref()).collect();
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
                let content = passage.content(&document);
                let start = content.char_indices().nth(statement.start).unwrap().0 + passage.range.start;
                let original = whole.iter().find(|other| other.range.start == start).unwrap();
                prop_assert_eq!(words_of(content, statement), document.slice(&original.range));
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

#[test]
fn offsets_count_characters_and_not_bytes() {
    let document = read("Größe 5 € 👩‍👧. Ändern. 退款需要五天。谢谢。");
    let passage = &passages(&document, &count)[0];
    let ranges: Vec<_> = passage.statements.iter().map(|found| (found.start, found.end)).collect();
    assert_eq!(ranges, [(0, 14), (15, 22), (23, 30), (30, 33)]);
    let texts = passage.texts(passage.content(&document), &count);
    assert_eq!(texts[1..], ["Größe 5 € 👩‍👧.", "Ändern.", "退款需要五天。", "谢谢。"]);
}

#[test]
fn passages_and_statements_are_embedded_after_their_headings_and_with_their_chains() {
    let document = read("# Trip\n\n## Cover\n\nNot covered:\n\n- Theft\n");
    let passage = &passages(&document, &count)[0];
    let texts = passage.texts(passage.content(&document), &count);
    let whole = "Trip › Cover\nNot covered:\n\n- Theft";
    assert_eq!(texts, [whole, "Cover", "Trip › Cover\nNot covered: Theft"]);
    let above = [Part { is_above: true, ..passage.parts[0].clone() }];
    let below = texts_of_rest(&document, &above);
    assert_eq!(below, "Trip › Cover\nNot covered:\n- Bicycles");
}

fn texts_of_rest(document: &Document, above: &[Part]) -> String {
    let section = passages(document, &count)[0].section.clone();
    texts(section.as_deref(), "- Bicycles", &[], above, &count).remove(0)
}

#[test]
fn what_does_not_fit_beside_a_statement_is_not_embedded() {
    let part =
        |role, words: usize| Part { role, text: self::words(words), start: 0, cell: None, is_above: false };
    let parts = [part(Role::LeadIn, 250), part(Role::Parent, 40)];
    let statement = PassageStatement { start: 0, end: 6, kind: StatementKind::Sentence, chain: vec![0, 1] };
    let found = texts(None, "Theft.", &[statement], &parts, &count);
    assert_eq!(found[1], format!("{}: Theft.", words(40)));
    assert!(count(&found[1]) <= MAX_TOKENS);
}

#[test]
fn a_long_paragraph_is_cut_between_sentences() {
    let text = (0..60).map(|at| format!("Sentence {at} is here.")).collect::<Vec<_>>().join(" ");
    let document = read(&text);
    let contents = contents(&document);
    assert!(contents.len() > 1);
    assert!(contents.iter().all(|text| text.starts_with("Sentence") && text.ends_with('.')), "{contents:?}");
}

#[test]
fn a_sentence_that_is_too_long_is_cut_between_words_and_is_no_statement() {
    let document = read(&words(600));
    assert_eq!(contents(&document).join(" "), words(600));
    assert!(shown(&document).concat().is_empty());
}

#[test]
fn large_paragraphs_are_not_merged_and_small_ones_are() {
    let (one, two) = (words(60), words(70));
    assert_eq!(contents(&read(&format!("{one}\n\n{two}\n\nSmall."))), [one, format!("{two}\n\nSmall.")]);
}

#[test]
fn code_stays_whole_while_it_fits_and_is_cut_between_lines() {
    let code = |lines: usize| {
        (0..lines).map(|at| format!("    call argument{at} again")).collect::<Vec<_>>().join("\n")
    };
    let before = words(60);
    assert_eq!(contents(&read(&format!("{before}\n\n```\n{}\n```\n", code(20)))), [before, code(20)]);
    let document = read(&format!("```\n{}\n```\n", code(100)));
    let cut = contents(&document);
    assert!(cut.len() > 1);
    assert!(cut.iter().all(|part| part.trim_start().starts_with("call")), "{cut:?}");
}

#[test]
fn a_document_of_headings_alone_has_no_passages() {
    assert!(
        extract::document(b"# A\n\n## B\n", Format::Markdown)
            .map(|document| passages(&document, &count))
            .unwrap_or_default()
            .is_empty()
    );
}

/// The number of bytes that the tokenizer reads for a document, and its passages.
fn counted(document: &Document) -> (Vec<Passage>, usize) {
    let bytes = Cell::new(0);
    let counting = |text: &str| {
        bytes.set(bytes.get() + text.len());
        count_tokens(text)
    };
    let passages = passages(document, &counting);
    assert_are_sound(document, &passages);
    (passages, bytes.get())
}

/// Within the limits, in order, and with all letters of the document.
fn assert_are_sound(document: &Document, passages: &[Passage]) {
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
    let mut end = 0;
    let mut cut = 0;
    for passage in passages {
        let content = passage.content(document);
        assert!(passage.range.start >= end, "passages overlap or are out of order");
        end = passage.range.end;
        assert!(content.len() <= MAX_PASSAGE_BYTES, "{} bytes", content.len());
        assert!(passage.section.as_deref().is_none_or(|section| section.len() <= MAX_SECTION_BYTES));
        let texts = texts(passage.section.as_deref(), content, &[], &passage.parts, &count_tokens);
        assert!(texts.iter().all(|text| count_tokens(text) <= MAX_TOKENS), "{content}");
        assert!(passage.statements.len() <= MAX_SENTENCES);
        assert!(jsonb_bytes(&json!(passage.parts)) <= MAX_PARTS_BYTES);
        let mut last = 0;
        for statement in &passage.statements {
            assert!(last <= statement.start && statement.start < statement.end);
            last = statement.end;
        }
        assert!(last <= content.chars().count());
        cut += letters(content);
    }
    let headings = document.blocks.iter().filter(|block| matches!(block.kind, BlockKind::Heading { .. }));
    let of_headings: usize = headings.map(|heading| letters(document.slice(&heading.range))).sum();
    assert_eq!(cut + of_headings, letters(&document.text), "letters were lost");
}

#[test]
fn a_word_of_any_length_is_cut_without_loss() {
    let run = "x".repeat(5 * 1024 * 1024);
    let document = read(&format!("Refunds take 5 days. {run}"));
    let (passages, bytes) = counted(&document);
    assert_eq!(passages[0].content(&document), "Refunds take 5 days.");
    assert_eq!(passages.len(), 1 + run.len().div_ceil(MAX_PASSAGE_BYTES));
    assert!(bytes <= 4 * document.text.len(), "{bytes} bytes counted");
}

#[test]
fn the_tokenizer_reads_each_byte_only_a_few_times() {
    let runs = [
        "x",
        "字",
        "a b ",
        "a. ",
        "é",
        "0f",
        "🙂",
        "e\u{301}",
        "\u{301}",
        "👩\u{200d}",
        "`",
        "a\n",
        "a\n\n",
        "- a\n",
        "> a\n\n",
        "| a | b |\n",
        "# a\n\nb\n\n",
        "a                    ",
        "a\u{85}",
        "a\u{2003}",
    ];
    for run in runs {
        let text = format!("Refunds take 5 days.\n\n{}", run.repeat(100_000 / run.len()));
        for format in [Format::Markdown, Format::PlainText] {
            let (_, bytes) = counted(&read_as(&text, format));
            assert!(bytes <= 10 * text.len(), "{run:?}: {bytes} bytes counted for {}", text.len());
        }
    }
}

#[test]
fn runs_of_characters_are_cut_between_graphemes() {
    for character in ["👩\u{200d}👩\u{200d}👧", "e\u{301}\u{302}", "क्षि"] {
        let document = read_as(&(character.repeat(4000) + "a"), Format::PlainText);
        let (passages, _) = counted(&document);
        assert!(passages.iter().all(|passage| passage.range.start % character.len() == 0), "{passages:?}");
    }
}

#[test]
fn a_deep_path_of_long_headings_leaves_room_for_content() {
    let heading = |level: usize| format!("{} {}\n\n", "#".repeat(level), words(20));
    let document = read(&((1..=6).map(heading).collect::<String>() + &words(300)));
    let (passages, _) = counted(&document);
    assert!(passages.iter().all(|passage| passage.content(&document).len() > 200));
}

#[test]
fn a_section_keeps_its_innermost_headings_within_the_limit() {
    let path = |headings: &[String]| section_path(headings).unwrap_or_default();
    let heading = |letter: &str| letter.repeat(200);
    let all: Vec<_> = ["a", "b", "c", "d", "e", "f"].map(heading).into();
    assert_eq!(path(&all), [heading("c"), heading("d"), heading("e"), heading("f")].join(SECTION_SEPARATOR));
    let long = path(&["Outer".to_owned(), "h".repeat(2_000_000)]);
    assert_eq!(long, format!("Outer › {}…", "h".repeat(299)));
    let widest = path(&["Outer".to_owned(), "😀".repeat(400)]);
    assert_eq!(widest, format!("{}…", "😀".repeat(249)));
    assert_eq!(path(&["A\nB".to_owned(), String::new(), " ".to_owned()]), "A B");
    assert_eq!(section_path(&[]), None);
}

#[test]
fn headings_are_shortened_with_few_calls_of_the_tokenizer() {
    let path = format!("Outer › {}", "字".repeat(300));
    let calls = Cell::new(0);
    let counting = |text: &str| {
        calls.set(calls.get() + 1);
        count_tokens(text)
    };
    assert_eq!(headings(Some(&path), &counting).unwrap(), "字".repeat(62));
    assert!(calls.get() <= 16, "{} calls", calls.get());
}

/// Difficult characters: long words, wide and combined characters, white space, quotation marks, markup.
fn run() -> impl Strategy<Value = String> {
    let unit = prop::sample::select(vec![
        "x",
        "ay",
        "字",
        "é",
        "e\u{301}",
        "\u{301}",
        "👩\u{200d}",
        "🇦🇧",
        "\"",
        "0f ",
        "word ",
        " ",
        "\t",
        ".",
        "a. ",
        "`",
        "[CLS]",
        "\u{1}",
        "a\u{85}",
        "- ",
        "\n",
        "\n\n",
        "- a\n",
        "|a|\n|-|\n",
        "> ",
        "1. b\n",
        "# h\n\n",
        "*",
    ]);
    (unit, 0..12_000_usize).prop_map(|(unit, bytes)| unit.repeat(bytes / unit.len()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn runs_of_anything_give_passages_within_the_limits_without_loss(runs in prop::collection::vec(run(), 1..6)) {
        let text = runs.concat();
        for format in [Format::Markdown, Format::PlainText] {
            let Ok(document) = extract::document(text.as_bytes(), format) else { continue };
            counted(&document);
        }
    }

    #[test]
    fn any_text_gives_sound_passages(
        text in "([#>|`*_~\\[\\]()!<:=+0-9-]{0,4} ?[a-zé字 \\t]{0,9}[.!\\n\\r]{0,2}){0,120}"
    ) {
        for format in [Format::Markdown, Format::PlainText, Format::Html, Format::Csv] {
            let Ok(document) = extract::document(text.as_bytes(), format) else { continue };
            counted(&document);
        }
    }
}
