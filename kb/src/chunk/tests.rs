use std::cell::Cell;
use std::sync::OnceLock;

use embedder::Embedder;
use extract::{Format, extract};
use proptest::prelude::*;

use super::*;
use crate::sentence::sentences;

/// The tokenizer of the model, because chunks depend on how it treats long words and white space.
fn count(text: &str) -> usize {
    static MODEL: OnceLock<Embedder> = OnceLock::new();
    let load =
        || Embedder::from_dir(&embedder::model_dir()).expect("the model; run `cargo xtask setup model`");
    MODEL.get_or_init(load).count_tokens(text)
}

fn markdown(document: &str) -> Vec<Chunk> {
    chunks_in(document, Format::Markdown)
}

fn chunks_in(document: &str, format: Format) -> Vec<Chunk> {
    extract(document.as_bytes(), format).map(|extracted| chunks(&extracted, &count)).unwrap_or_default()
}

fn embedded(chunk: &Chunk, document: &str) -> String {
    with_context(headings(chunk.section.as_deref(), &count).as_deref(), chunk.content(document))
}

/// (section, content) of each chunk.
fn passages(document: &str) -> Vec<(Option<String>, String)> {
    let chunks = markdown(document);
    let section = |chunk: &Chunk| chunk.section.as_deref().map(str::to_owned);
    chunks.iter().map(|chunk| (section(chunk), chunk.content(document).to_owned())).collect()
}

fn contents(document: &str) -> Vec<String> {
    passages(document).into_iter().map(|(_, content)| content).collect()
}

fn words(prefix: &str, number: usize) -> String {
    (0..number).map(|at| format!("{prefix}{at}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn chunks_have_their_heading_path_as_section_and_not_as_content() {
    let document =
        "# Refunds\n\nWithin 30 days.\n\n## Exceptions\n\nNo gift cards.\n\nShipping\n--------\nFree.\n";
    let expected = [
        ("Refunds", "Within 30 days."),
        ("Refunds › Exceptions", "No gift cards."),
        ("Refunds › Shipping", "Free."),
    ];
    assert_eq!(
        passages(document),
        expected.map(|(section, text)| (Some(section.to_owned()), text.to_owned()))
    );
}

#[test]
fn the_section_is_embedded_with_the_content() {
    let document = "# Refunds\n\nWithin 30 days.";
    let chunk = &markdown(document)[0];
    assert_eq!(embedded(chunk, document), "Refunds\nWithin 30 days.");
}

#[test]
fn a_document_without_headings_has_no_section() {
    assert_eq!(passages("Just text."), [(None, "Just text.".to_owned())]);
}

#[test]
fn the_text_of_a_heading_is_plain() {
    let document = "# The `kb` [tool](https://example.org) *now* {#kb}\n\nText";
    assert_eq!(passages(document)[0].0.as_deref(), Some("The kb tool now"));
}

#[test]
fn small_neighbours_are_merged_verbatim_only_within_their_section() {
    let document = "# A\n\nOne.\n\n- two\n- three\n\n> four\n\n# B\n\nFive.";
    assert_eq!(contents(document), ["One.\n\n- two\n- three\n\n> four", "Five."]);
}

#[test]
fn large_paragraphs_are_not_merged() {
    let (one, two) = (words("alpha", 60), words("beta", 60));
    assert_eq!(contents(&format!("{one}\n\n{two}\n")), [one, two]);
}

#[test]
fn a_long_paragraph_is_split_at_sentence_ends() {
    let document = (0..60).map(|at| format!("Sentence {at} is here.")).collect::<Vec<_>>().join(" ");
    let contents = contents(&document);
    assert!(contents.len() > 1);
    assert!(
        contents.iter().all(|content| content.starts_with("Sentence") && content.ends_with('.')),
        "{contents:?}"
    );
}

#[test]
fn a_sentence_that_is_too_long_is_split_between_words() {
    let document = words("word", 600);
    let contents = contents(&document);
    assert_eq!(contents.join(" "), document);
}

#[test]
fn text_without_spaces_is_split_between_characters() {
    let document = "、".repeat(300) + "字";
    let chunks = markdown(&document);
    assert!(chunks.iter().all(|chunk| count(&embedded(chunk, &document)) <= MAX_TOKENS));
}

#[test]
fn lists_are_split_between_items() {
    let item = |at: usize| format!("- item {at} has {}\n  and a second line", words("w", 20));
    let document = (0..20).map(item).collect::<Vec<_>>().join("\n");
    let contents = contents(&document);
    assert!(contents.len() > 1);
    for content in &contents {
        assert!(content.starts_with("- item") && content.ends_with("and a second line"), "{content}");
    }
}

#[test]
fn an_item_that_is_too_long_is_split_before_its_nested_list() {
    let nested =
        (0..30).map(|at| format!("  - nested {at} {}", words("w", 8))).collect::<Vec<_>>().join("\n");
    let contents = contents(&format!("- outer\n{nested}\n- last"));
    assert!(contents[0].starts_with("- outer\n  - nested 0"));
    assert!(contents[1..].iter().all(|content| content.starts_with("- nested")), "{contents:?}");
}

#[test]
fn tables_are_split_between_rows_and_keep_header_and_first_row_together() {
    let rows = (0..40).map(|at| format!("| {at} | {} |", words("w", 8))).collect::<Vec<_>>().join("\n");
    let contents = contents(&format!("| id | words |\n| --- | --- |\n{rows}\n"));
    assert!(contents.len() > 1);
    assert!(contents[0].starts_with("| id | words |\n| --- | --- |\n| 0 |"));
    assert!(contents.iter().all(|content| content.starts_with("| ") && content.ends_with(" |")));
}

#[test]
fn code_blocks_stay_whole_while_they_fit_and_are_split_between_lines() {
    let code = |lines: usize| {
        let body = (0..lines).map(|at| format!("    call argument{at} again")).collect::<Vec<_>>().join("\n");
        format!("```sh\n{body}\n```")
    };
    let small = code(20);
    let before = words("text", 100);
    assert_eq!(contents(&format!("{before}\n\n{small}\n")), [before, small]);
    let split = contents(&code(100));
    assert!(split.len() > 1);
    assert!(split[1..].iter().all(|part| part.starts_with("    call")), "{split:?}");
}

#[test]
fn headings_inside_lists_and_quotes_are_content() {
    let document = "# A\n\n> ## Quoted\n> text\n\n- ## Item\n";
    assert_eq!(passages(document).len(), 1);
    assert_eq!(contents(document), ["> ## Quoted\n> text\n\n- ## Item"]);
}

#[test]
fn a_paragraph_underlined_by_accident_stays_content() {
    let paragraph = words("word", 80);
    assert!(contents(&format!("{paragraph}\n---\nMore text.\n"))[0].starts_with("word0"));
}

#[test]
fn invisible_text_is_not_content() {
    let document = "---\nauthor: me\n---\n# A\n\nOne.\n\n<!-- internal note -->\n\nTwo.\n\n---\n";
    assert_eq!(contents(document), ["One.", "Two.\n\n---"]);
}

#[test]
fn link_definitions_stay_with_their_section() {
    let document = "# A\n\nSee [the site].\n\n[the site]: https://example.org\n";
    assert_eq!(contents(document), ["See [the site].\n\n[the site]: https://example.org"]);
}

#[test]
fn a_deep_path_of_long_headings_leaves_room_for_content() {
    let heading = |level: usize| format!("{} {}\n\n", "#".repeat(level), words("heading", 20));
    let document = (1..=6).map(heading).collect::<String>() + &words("text", 300);
    let chunks = markdown(&document);
    assert!(chunks.iter().all(|chunk| count(&embedded(chunk, &document)) <= MAX_TOKENS));
    assert!(chunks.iter().all(|chunk| chunk.content(&document).len() > 200));
}

#[test]
fn plain_text_has_paragraphs_and_no_headings() {
    let document = "# not a heading\r\n\r\nSecond paragraph.\r\n";
    let chunks = chunks_in(document, Format::PlainText);
    assert_eq!(chunks.len(), 1);
    assert_eq!(chunks[0].content(document), "# not a heading\r\n\r\nSecond paragraph.");
}

#[test]
fn a_document_of_headings_only_has_no_chunks() {
    assert!(markdown("# A\n\n## B\n").is_empty());
}

/// A block of Markdown; only headings start with `#`.
fn block() -> impl Strategy<Value = String> {
    let text = |words: usize| {
        proptest::collection::vec("[a-zé字]{1,12}[.,!?]?", 1..words).prop_map(|words| words.join(" "))
    };
    prop_oneof![
        (1..5_usize, text(6)).prop_map(|(level, text)| format!("{} {text}", "#".repeat(level))),
        text(30),
        text(400),
        proptest::collection::vec(text(40), 1..12).prop_map(|lines| lines.join("\n")),
        proptest::collection::vec(text(60), 1..12).prop_map(|items| format!("- {}", items.join("\n- "))),
        proptest::collection::vec(text(60), 1..9).prop_map(|items| format!("1. {}", items.join("\n   - "))),
        proptest::collection::vec(text(60), 1..9).prop_map(|lines| format!("> {}", lines.join("\n> \n> "))),
        proptest::collection::vec(text(60), 1..9).prop_map(|lines| format!("```\n{}\n```", lines.join("\n"))),
        proptest::collection::vec(text(30), 1..20)
            .prop_map(|rows| format!("| a | b |\n|---|---|\n| {} |", rows.join(" | x |\n| "))),
    ]
}

/// Documents made of well-formed blocks.
fn document() -> impl Strategy<Value = String> {
    (proptest::collection::vec(block(), 0..8), prop_oneof!["\n\n", "\r\n\r\n"])
        .prop_map(|(blocks, separator)| blocks.join(&separator))
}

fn assert_chunks_are_sound(document: &str, chunks: &[Chunk]) {
    let mut end = 0;
    for chunk in chunks {
        let content = document.get(chunk.range.clone()).expect("a slice of the document");
        assert!(!content.trim().is_empty());
        assert!(chunk.range.start >= end, "chunks overlap or are out of order");
        end = chunk.range.end;
        let tokens = count(&embedded(chunk, document));
        assert!(tokens <= MAX_TOKENS, "{tokens} tokens: {content}");
        assert!(content.len() <= MAX_PASSAGE_BYTES, "{} bytes", content.len());
        let section = chunk.section.as_deref().unwrap_or_default();
        assert!(section.len() <= MAX_SECTION_BYTES, "{} bytes: {section}", section.len());
        let characters = content.chars().count();
        let mut last = 0;
        for sentence in sentences(content) {
            assert!(last <= sentence.range.start && sentence.range.end <= characters, "{:?}", sentence.range);
            last = sentence.range.end;
        }
    }
}

/// The number of bytes that the tokenizer reads for a document, and the chunks.
fn counted(document: &str, format: Format) -> (Vec<Chunk>, usize) {
    let extracted = extract(document.as_bytes(), format).expect("a document");
    let bytes = Cell::new(0);
    let counting = |text: &str| {
        bytes.set(bytes.get() + text.len());
        count(text)
    };
    let chunks = chunks(&extracted, &counting);
    assert_chunks_are_sound(&extracted.text, &chunks);
    (chunks, bytes.get())
}

#[test]
fn a_word_of_any_length_is_split_without_loss() {
    let run = "x".repeat(5 * 1024 * 1024);
    let document = format!("Refunds take 5 days. {run}");
    let (chunks, bytes) = counted(&document, Format::Markdown);
    assert_eq!(chunks[0].content(&document), "Refunds take 5 days.");
    let content: String = chunks[1..].iter().map(|chunk| chunk.content(&document)).collect();
    assert_eq!(content, run);
    assert_eq!(chunks.len(), 1 + run.len().div_ceil(MAX_PASSAGE_BYTES));
    assert!(bytes <= 4 * document.len(), "{bytes} bytes counted");
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
        let document = format!("Refunds take 5 days.\n\n{}", run.repeat(100_000 / run.len()));
        for format in [Format::Markdown, Format::PlainText] {
            let (_, bytes) = counted(&document, format);
            assert!(bytes <= 10 * document.len(), "{run:?}: {bytes} bytes counted for {}", document.len());
        }
    }
}

#[test]
fn white_space_does_not_increase_the_size_of_a_chunk() {
    let document = format!("One.{}Two.{}Three", " ".repeat(5000), "\u{2003}".repeat(5000));
    let (chunks, _) = counted(&document, Format::PlainText);
    let contents: Vec<_> = chunks.iter().map(|chunk| chunk.content(&document)).collect();
    assert_eq!(contents, ["One.", "Two.", "Three"]);
}

#[test]
fn runs_of_characters_are_split_between_graphemes() {
    for character in ["👩\u{200d}👩\u{200d}👧", "e\u{301}\u{302}", "क्षि"] {
        let document = character.repeat(4000) + "a";
        let (chunks, _) = counted(&document, Format::PlainText);
        assert!(chunks.iter().all(|chunk| chunk.range.start % character.len() == 0), "{chunks:?}");
    }
    // A grapheme of 400 kB must be split inside.
    let zalgo = format!("Z{}a", "\u{301}".repeat(200_000));
    let (chunks, _) = counted(&zalgo, Format::PlainText);
    assert_eq!(chunks[0].range, 0..MAX_PASSAGE_BYTES - 1);
}

#[test]
fn a_section_keeps_its_innermost_headings_within_the_limit() {
    let path = |headings: &[String]| section_path(headings).unwrap_or_default();
    let heading = |letter: &str| letter.repeat(200);
    let all: Vec<_> = ["a", "b", "c", "d", "e", "f"].map(heading).into();
    assert_eq!(path(&all), [heading("c"), heading("d"), heading("e"), heading("f")].join(SECTION_SEPARATOR));
    let long = path(&["Outer".to_owned(), "h".repeat(2_000_000)]);
    assert_eq!(long, format!("Outer › {}…", "h".repeat(299)));
    let wide = path(&["Outer".to_owned(), "字".repeat(400)]);
    assert_eq!(wide, format!("Outer › {}…", "字".repeat(299)));
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
        count(text)
    };
    let context = headings(Some(&path), &counting).expect("headings");
    assert_eq!(context, "字".repeat(62));
    assert!(calls.get() <= 16, "{} calls", calls.get());
}

/// Difficult characters: long words, wide and combined characters, white space, quotation marks.
fn run() -> impl Strategy<Value = String> {
    let unit = prop_oneof![
        Just("x"),
        Just("ay"),
        Just("字"),
        Just("é"),
        Just("e\u{301}"),
        Just("\u{301}"),
        Just("👩\u{200d}"),
        Just("🇦🇧"),
        Just("\""),
        Just("0f "),
        Just("word "),
        Just(" "),
        Just("\t"),
        Just("."),
        Just("a. "),
        Just("`"),
        Just("[CLS]"),
        Just("\u{1}"),
        Just("a\u{85}"),
        Just("- "),
        Just("\n"),
        Just("\n\n"),
        Just("- a\n"),
        Just("|a|\n"),
        Just("> "),
    ];
    (unit, 0..12_000_usize).prop_map(|(unit, bytes)| unit.repeat(bytes / unit.len()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn runs_of_anything_give_chunks_within_the_limits(runs in proptest::collection::vec(run(), 1..6)) {
        let document = runs.concat();
        for format in [Format::Markdown, Format::PlainText] {
            let Ok(extracted) = extract(document.as_bytes(), format) else { continue };
            let chunks = chunks(&extracted, &count);
            assert_chunks_are_sound(&extracted.text, &chunks);
            if format == Format::PlainText {
                for gap in left_out(&extracted.text, &chunks) {
                    prop_assert!(!gap.chars().any(char::is_alphanumeric), "lost: {gap:?}");
                }
            }
        }
    }
}

/// Bytes of the document that are in no chunk.
fn left_out<'a>(document: &'a str, chunks: &[Chunk]) -> Vec<&'a str> {
    let starts = chunks.iter().map(|chunk| chunk.range.start).chain([document.len()]);
    let ends = [0].into_iter().chain(chunks.iter().map(|chunk| chunk.range.end));
    ends.zip(starts).map(|(end, start)| &document[end..start]).collect()
}

proptest! {
    #[test]
    fn every_line_of_text_lands_in_exactly_one_chunk(document in document()) {
        let chunks = markdown(&document);
        assert_chunks_are_sound(&document, &chunks);
        for gap in left_out(&document, &chunks) {
            for line in gap.lines() {
                // A fence alone, above a line that fills a chunk, is not evidence.
                let has_words = line.chars().any(char::is_alphanumeric);
                prop_assert!(!has_words || line.starts_with('#'), "lost: {line:?} of {document:?}");
            }
        }
    }

    #[test]
    fn any_text_gives_sound_chunks(
        document in "([#>|`*_~\\[\\]()!<:=+0-9-]{0,4} ?[a-zé字 \\t]{0,9}[.!\\n\\r]{0,2}){0,120}"
    ) {
        assert_chunks_are_sound(&document, &markdown(&document));
        let plain = chunks_in(&document, Format::PlainText);
        assert_chunks_are_sound(&document, &plain);
        for gap in left_out(&document, &plain) {
            prop_assert!(!gap.chars().any(char::is_alphanumeric), "lost: {gap:?}");
        }
    }

    #[test]
    fn the_same_document_gives_the_same_chunks(document in document()) {
        prop_assert_eq!(markdown(&document), markdown(&document));
    }
}
