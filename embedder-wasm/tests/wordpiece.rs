//! The tokenizer against the reference implementation, the `tokenizers` crate with the model's own tokenizer.json: the
//! same ids and the same untruncated length for every text. Needs the model (`cargo xtask setup`).

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use embedder::{MAX_TOKENS, WordPiece};
use proptest::prelude::*;
use serde_json::Value;

const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference.json");
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

#[test]
fn reference_texts_have_the_reference_ids() {
    let reference: Value = serde_json::from_str(&fs::read_to_string(REFERENCE).unwrap()).unwrap();
    let items = reference["items"].as_array().unwrap();
    assert!(!items.is_empty());
    let both = Both::load();
    for item in items {
        let text = item["text"].as_str().unwrap();
        let (ids, untruncated) = both.check(text);
        assert_eq!(ids, serde_json::from_value::<Vec<u32>>(item["ids"].clone()).unwrap(), "{text:?}");
        assert_eq!(untruncated as u64, item["untruncated_len"].as_u64().unwrap(), "{text:?}");
    }
}

/// The prose, the source code and the evaluation questions of this repository.
#[test]
fn lines_of_this_repository_are_tokenized_like_the_reference() {
    let both = Both::load();
    let mut lines = 0;
    for_each_text_file(Path::new(REPOSITORY), &mut |text| {
        for line in text.lines() {
            both.check(line);
            lines += 1;
        }
    });
    assert!(lines > 20_000, "only {lines} lines");
}

#[test]
fn every_character_is_tokenized_like_the_reference() {
    let both = Both::load();
    // Alone and between letters.
    for c in '\0'..=char::MAX {
        both.check(&format!("{c} a{c}b"));
    }
}

#[test]
fn every_token_of_the_vocabulary_is_tokenized_like_the_reference() {
    let both = Both::load();
    for token in tokens() {
        both.check(&token);
        both.check(&format!("{token}{token} {}", token.to_uppercase()));
    }
}

/// The reason why normalisation may ignore the order of combining characters: see `src/wordpiece/normalize.rs`.
#[test]
fn no_token_contains_a_combining_character() {
    use unicode_normalization::char::canonical_combining_class;
    for token in tokens() {
        assert!(token.chars().all(|c| canonical_combining_class(c) == 0), "{token:?}");
    }
}

#[test]
fn texts_are_truncated_like_the_reference() {
    let both = Both::load();
    for words in 250..260 {
        // one token, two tokens, unknown, special
        for word in ["hello ", "tokenizers ", "\u{1f680} ", "[MASK]", "hello, "] {
            let (ids, untruncated) = both.check(&word.repeat(words));
            assert_eq!(ids.len(), untruncated.min(MAX_TOKENS));
            assert_eq!((ids[0], ids.last()), (101, Some(&102)));
        }
    }
}

#[test]
fn words_near_100_characters_are_tokenized_like_the_reference() {
    let both = Both::load();
    for chars in 97..104 {
        for unit in ["a", "é", "e\u{301}", "ж", "한", "ß", "İ", "x\u{200d}", "\u{1f680}"] {
            both.check(&unit.repeat(chars));
            both.check(&format!("it {}'s", unit.repeat(chars)));
        }
    }
}

/// Quadratic search would take minutes; linear search takes a quarter of a second on a slow core.
#[test]
fn a_megabyte_is_tokenized_in_linear_time() {
    let tokenizer = WordPiece::from_vocabulary(vocabulary().as_bytes()).unwrap();
    let mut ids = Vec::new();
    let searched_in_full = |letter: &str| letter.repeat(100) + " ";
    for unit in
        ["a", ",", "[", "[MASK", "\0", "\u{301}", "中", &searched_in_full("a"), &searched_in_full("\u{1200}")]
    {
        let text = unit.repeat((1 << 20) / unit.len());
        let start = Instant::now();
        tokenizer.encode(&text, &mut ids);
        assert!(start.elapsed() < Duration::from_secs(5), "{:?} for {unit:?}", start.elapsed());
        assert!(ids.len() <= MAX_TOKENS);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4096) })]

    #[test]
    fn hostile_texts_are_tokenized_like_the_reference(text in hostile_text()) {
        BOTH.with(|both| both.check(&text));
    }

    #[test]
    fn arbitrary_texts_are_tokenized_like_the_reference(text in any::<String>()) {
        BOTH.with(|both| both.check(&text));
    }

    #[test]
    fn arbitrary_vocabularies_are_rejected_without_panic(bytes in any::<Vec<u8>>()) {
        prop_assert!(WordPiece::from_vocabulary(&bytes).is_err());
    }

    #[test]
    fn damaged_vocabularies_never_panic(
        position in any::<prop::sample::Index>(), byte in any::<u8>(), text in hostile_text(),
    ) {
        let mut bytes = VOCABULARY.with(|vocabulary| vocabulary.clone().into_bytes());
        let position = position.index(bytes.len());
        bytes[position] = byte;
        if let Ok(tokenizer) = WordPiece::from_vocabulary(&bytes) {
            tokenizer.encode(&text, &mut Vec::new());
        }
    }
}

thread_local! {
    static BOTH: Both = Both::load();
    static VOCABULARY: String = vocabulary();
}

/// Pieces that tokenizers often get wrong, with or without a separator.
fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "[CLS]",
            "[SEP]",
            "[MASK]",
            "[PAD]",
            "[UNK]",
            "[mask]",
            "[MASK",
            "MASK]",
            "[[",
            "]]",
            "[CLS",
            "[unused7]",
            "##",
            "##ing",
            "[M\u{301}ASK]",
            "ＭＡＳＫ",
        ])
        .prop_map(str::to_owned),
        prop::sample::select(vec![
            " ",
            "\t",
            "\r\n",
            "\u{a0}",
            "\u{3000}",
            "\u{2028}",
            "\u{85}",
            "\0",
            "\u{7f}",
            "\u{ad}",
            "\u{200b}",
            "\u{200d}",
            "\u{feff}",
            "\u{fffd}",
            "\u{e000}",
            "\u{f8ff}",
            "\u{10ffff}",
            "\u{fdd0}",
            "\u{180e}",
            "\u{202e}",
        ])
        .prop_map(str::to_owned),
        prop::sample::select(vec![
            "İ",
            "ı",
            "Σ",
            "ΑΣ",
            "ς",
            "ß",
            "ẞ",
            "ŉ",
            "ǅ",
            "ﬁ",
            "ΐ",
            "Å",
            "K",
            "Ω",
            "≠",
            "\u{37e}",
            "`\u{300}",
            "é",
            "e\u{301}",
            "が",
            "か\u{3099}",
            "👩‍👩‍👧‍👦",
            "🇩🇪",
            "☝🏽",
            "한국어",
            "\u{1112}\u{1161}\u{11ab}",
            "中文",
            "\u{f900}",
            "\u{2f800}",
            "\u{2b820}",
            "\u{2ceb0}",
            "नमस्ते",
            "สวัสดี",
            "مرحبا",
            "שלום",
            "\u{344}",
            "\u{1d15f}",
        ])
        .prop_map(str::to_owned),
        // Combining marks of several classes in any order, and combining characters that normalisation keeps.
        "[\u{300}-\u{36f}\u{302e}\u{302f}\u{1d165}-\u{1d172}\u{8d3}-\u{8e1}\u{1e000}-\u{1e02a}\u{94d}\u{5b0}-\u{5c7}\u{34f}]{1,5}",
        "[a-zA-Z]{1,12}",
        "[!-~]{1,8}",
        "[0-9.,-]{1,12}",
        "[\u{80}-\u{24f}]{1,6}",
        "[\u{370}-\u{5ff}]{1,6}",
        "[\u{1e00}-\u{22ff}]{1,6}",
        "[\u{4e00}-\u{4eff}\u{3040}-\u{30ff}\u{ac00}-\u{adff}\u{f900}-\u{faff}]{1,6}",
        "[\u{1f300}-\u{1faff}]{1,4}",
        "\\PC{1,6}",
        "[a-zé\u{301}ß]{95,105}",
        ("[a-z,\u{4e00}]", 1..300_usize).prop_map(|(unit, times)| unit.repeat(times)),
        any::<char>().prop_map(String::from),
    ];
    let separator = prop::sample::select(vec!["", "", " ", "-", "\u{301}"]);
    prop::collection::vec((piece, separator), 0..24).prop_map(|parts| {
        parts.into_iter().flat_map(|(piece, separator)| [piece, separator.to_owned()]).collect()
    })
}

/// The tokenizer under test and the reference.
struct Both {
    ours: WordPiece,
    reference: tokenizers::Tokenizer,
}

impl Both {
    fn load() -> Self {
        let mut reference = tokenizers::Tokenizer::from_bytes(tokenizer_json()).unwrap();
        // The published file pads and truncates to 128 tokens.
        reference.with_padding(None).with_truncation(None).unwrap();
        Self { ours: WordPiece::from_vocabulary(vocabulary().as_bytes()).unwrap(), reference }
    }

    /// Asserts that both tokenizers agree; returns the ids and the untruncated length of the text.
    fn check(&self, text: &str) -> (Vec<u32>, usize) {
        let mut ids = Vec::new();
        let untruncated = self.ours.encode(text, &mut ids);

        let encoding = self.reference.encode_fast(text, true).unwrap();
        let mut expected = encoding.get_ids().to_vec();
        assert_eq!(untruncated, expected.len(), "untruncated length of {text:?}");
        if let Some(sep) = expected.pop() {
            expected.truncate(MAX_TOKENS - 1);
            expected.push(sep);
        }
        assert_eq!(ids, expected, "ids of {text:?}");
        (ids, untruncated)
    }
}

fn tokenizer_json() -> Vec<u8> {
    fs::read(embedder::model_dir().join("tokenizer.json"))
        .expect("tokenizer.json; run `cargo xtask setup model`")
}

/// The content of the model's vocab.txt.
fn vocabulary() -> String {
    tokens().join("\n") + "\n"
}

fn tokens() -> Vec<String> {
    let json: Value = serde_json::from_slice(&tokenizer_json()).unwrap();
    let ids: HashMap<String, usize> = serde_json::from_value(json["model"]["vocab"].clone()).unwrap();
    let mut tokens = vec![String::new(); ids.len()];
    for (token, id) in ids {
        tokens[id] = token;
    }
    tokens
}

/// Calls `f` with the content of every text file below a folder, except in folders of tools and of build outputs.
fn for_each_text_file(folder: &Path, f: &mut impl FnMut(&str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_str().unwrap();
        if entry.file_type().unwrap().is_dir() {
            if !name.starts_with('.') && !["build", "dist", "node_modules", "target", "wasm"].contains(&name)
            {
                for_each_text_file(&path, f);
            }
        } else if [".md", ".txt", ".jsonl", ".rs", ".ts"].iter().any(|ending| name.ends_with(ending)) {
            f(&String::from_utf8_lossy(&fs::read(&path).unwrap()));
        }
    }
}
