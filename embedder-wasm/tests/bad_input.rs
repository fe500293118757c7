//! Unusual texts: each has a vector of unit length and the right count of tokens, alone, in a batch and on another
//! thread. Needs the model (`cargo xtask setup`).

use std::cell::RefCell;

use embedder::{DIMENSIONS, Embedder, Embedding, MAX_TOKENS};
use proptest::prelude::*;

const MEGABYTE: usize = 1 << 20;

#[test]
fn texts_without_tokens_have_the_vector_of_the_empty_text() {
    let mut embedder = load();
    let empty = embedder.embed("");
    assert_eq!((empty.tokens, empty.truncated), (2, false));
    assert_unit_length(&empty);
    for text in [
        " ",
        " \t\r\n\u{a0}\u{3000}\u{2028}",
        "\0",
        "\0\0\u{1}\u{7f}\u{85}\u{200b}\u{feff}\u{ad}",
        "\u{fffd}",
        "\u{fffd} \u{fffd}",
        "\u{e000}\u{10fffd}\u{200d}",
        "\u{301}\u{302}",
        &" ".repeat(MEGABYTE),
        &"\0".repeat(MEGABYTE),
        &"\u{fffd}".repeat(MEGABYTE / 3),
    ] {
        assert_eq!(embedder.embed(text), empty, "{text:.20?}");
    }
}

#[test]
fn control_characters_between_words_do_not_change_the_vector() {
    let mut embedder = load();
    let expected = embedder.embed("hello world");
    for text in [
        "hel\0lo world",
        "\u{feff}hello world",
        "hello\u{fffd} \u{fffd}world",
        "  hello\t\r\n\u{2028}world\0\n",
    ] {
        assert_eq!(embedder.embed(text), expected, "{text:?}");
    }
}

#[test]
fn the_vector_of_a_megabyte_is_that_of_its_beginning() {
    let mut embedder = load();
    for (text, tokens) in [
        ("a".repeat(MEGABYTE), 3), // one word, too long for any token but [UNK]
        ("中".repeat(MEGABYTE / 3), MEGABYTE / 3 + 2),
        ("hello ".repeat(MEGABYTE / 6), MEGABYTE / 6 + 2),
        ("?".repeat(MEGABYTE), MEGABYTE + 2),
        ("[MASK]".repeat(MEGABYTE / 6), MEGABYTE / 6 + 2),
        ("[".repeat(MEGABYTE), MEGABYTE + 2),
        ("\u{1f680}".repeat(MEGABYTE / 4), 3),
    ] {
        let embedding = embedder.embed(&text);
        assert_eq!((embedding.tokens, embedding.truncated), (tokens, tokens > MAX_TOKENS), "{text:.20}");
        assert_unit_length(&embedding);
        let beginning: String = text.chars().take(2000).collect();
        assert_eq!(embedder.embed(&beginning).vector, embedding.vector, "{text:.20}");
    }
}

#[test]
fn texts_are_truncated_above_256_tokens() {
    let mut embedder = load();
    let full = embedder.embed(&words(MAX_TOKENS));
    assert_eq!((full.tokens, full.truncated), (256, false));
    for tokens in [257, 258, 10_000] {
        let over = embedder.embed(&words(tokens));
        assert_eq!((over.tokens, over.truncated), (tokens, true));
        assert_eq!(over.vector, full.vector, "the same 256 tokens are read");
    }
    let one_less = embedder.embed(&words(255));
    assert_eq!((one_less.tokens, one_less.truncated), (255, false));
    assert_ne!(one_less.vector, full.vector);
}

#[test]
fn special_tokens_in_a_text_are_ordinary_tokens() {
    let mut embedder = load();
    for (text, ids) in [
        ("[SEP] [PAD]", &[101, 102, 0, 102][..]),
        ("[CLS][UNK][MASK]", &[101, 101, 100, 103, 102]),
        ("[SEP] hello [CLS]", &[101, 102, 7592, 101, 102]),
    ] {
        assert_eq!(embedder.token_ids(text), ids, "{text}");
        let embedding = embedder.embed(text);
        assert_eq!((embedding.tokens, embedding.truncated), (ids.len(), false), "{text}");
        assert_unit_length(&embedding);
    }
    let empty = embedder.embed("");
    assert_ne!(embedder.embed("[PAD]").vector, empty.vector, "[PAD] in a text is read");
}

#[test]
fn embed_batch_returns_the_vectors_of_embed_around_the_limit_of_a_pass() {
    let mut embedder = load();
    let lengths: [&[usize]; 13] = [
        &[],
        &[2],
        &[256],
        &[300],
        &[128, 128],
        &[128, 129],
        &[128, 127, 2],
        &[254, 2, 2],
        &[255, 2],
        &[2, 254, 256, 2],
        &[256, 256],
        &[300, 2, 300],
        &[85, 86, 85, 1000, 3],
    ];
    for lengths in lengths.into_iter().chain([[2; 128].as_slice(), &[2; 129], &[3; 100]]) {
        let texts: Vec<String> = lengths.iter().map(|tokens| words(*tokens)).collect();
        let expected: Vec<Embedding> = texts.iter().map(|text| embedder.embed(text)).collect();
        assert_eq!(embedder.embed_batch(&texts), expected, "{lengths:?}");
    }
}

#[test]
fn clones_return_the_same_bits_on_concurrent_threads() {
    let mut embedder = load();
    let texts =
        ["", "hello", "Can I get my money back?", &words(256), &"中文 ".repeat(90), &"é".repeat(MEGABYTE)];
    let expected = embedder.embed_batch(&texts);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (mut clone, texts, expected) = (embedder.clone(), &texts, &expected);
            scope.spawn(move || {
                for round in 0..3 {
                    for offset in 0..texts.len() {
                        let index = (offset + thread + round) % texts.len();
                        assert_eq!(
                            clone.embed(texts[index]),
                            expected[index],
                            "thread {thread}, text {index}"
                        );
                    }
                }
            });
        }
    });
    drop(embedder.clone());
    assert_eq!(embedder.embed_batch(&texts), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn any_batch_returns_the_vectors_of_embed(texts in prop::collection::vec(any_text(), 0..8)) {
        EMBEDDER.with_borrow_mut(|embedder| {
            let expected: Vec<Embedding> = texts.iter().map(|text| embedder.embed(text)).collect();
            for (text, embedding) in texts.iter().zip(&expected) {
                assert_unit_length(embedding);
                assert_eq!(embedding.tokens, embedder.count_tokens(text));
                assert_eq!(embedder.token_ids(text).len(), embedding.tokens.min(MAX_TOKENS));
                assert_eq!(embedding.truncated, embedding.tokens > MAX_TOKENS);
            }
            assert_eq!(embedder.embed_batch(&texts), expected);
            let backwards: Vec<&String> = texts.iter().rev().collect();
            assert!(embedder.embed_batch(&backwards).iter().eq(expected.iter().rev()), "in another order");
        });
    }
}

thread_local! {
    static EMBEDDER: RefCell<Embedder> = RefCell::new(load());
}

/// Mostly short texts, some around 256 tokens and some far longer.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => any::<String>(),
        3 => "[a-z ,.\\[\\]]{0,60}",
        1 => "(\\[(CLS|SEP|PAD|MASK|UNK)\\]|[a-z ]){0,20}",
        1 => (2..70_usize).prop_map(words),
        1 => (250..260_usize).prop_map(words),
        1 => ("\\PC{1,8}", 1..3000_usize).prop_map(|(unit, times)| unit.repeat(times)),
    ]
}

/// A text of this many tokens, including [CLS] and [SEP].
fn words(tokens: usize) -> String {
    // Each word is one token. They differ, so that the vector depends on which ones are read.
    ["money", "order", "delivery", "hello", "shop"]
        .into_iter()
        .cycle()
        .take(tokens - 2)
        .collect::<Vec<_>>()
        .join(" ")
}

fn assert_unit_length(embedding: &Embedding) {
    assert_eq!(embedding.vector.len(), DIMENSIONS);
    let length = embedding.vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    assert!((length - 1.0).abs() < 1e-6, "length {length}");
}

fn load() -> Embedder {
    Embedder::from_dir(&embedder::model_dir()).expect("run `cargo xtask setup model`")
}
