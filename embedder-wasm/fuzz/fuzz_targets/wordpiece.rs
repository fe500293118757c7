//! The tokenizer: hostile vocabularies, and hostile texts with a good one (the model's own if it exists).

#![no_main]

use std::sync::OnceLock;

use arbitrary::Arbitrary;
use embedder::{MAX_TOKENS, WordPiece};
use embedder_fuzz::{real_model, small_vocabulary, within};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
enum Input<'a> {
    /// A text with a good vocabulary.
    Text(&'a str),
    /// A text with a repeated piece, to come near the limits of tokens and of a word's length.
    Repeated { before: &'a str, piece: &'a str, times: u16, after: &'a str },
    /// Arbitrary bytes as the vocabulary.
    Vocabulary(&'a [u8]),
    /// A good vocabulary with some tokens replaced, and a text if the vocabulary is accepted.
    Tokens { tokens: Vec<(u16, &'a [u8])>, lines: i8, text: &'a str },
}

fuzz_target!(|input: Input<'_>| {
    match input {
        Input::Text(text) => check(tokenizer(), text),
        Input::Repeated { before, piece, times, after } => {
            let times = usize::from(times).min((1 << 16) / piece.len().max(1));
            check(tokenizer(), &[before, &piece.repeat(times), after].concat());
        }
        Input::Vocabulary(bytes) => {
            let is_rejected = within(4096, || WordPiece::from_vocabulary(bytes)).is_err();
            assert!(is_rejected || bytes.len() > 30_522);
        }
        Input::Tokens { tokens, lines, text } => {
            let vocabulary = with_tokens(&tokens, lines);
            if let Ok(tokenizer) = within(2 << 20, || WordPiece::from_vocabulary(&vocabulary)) {
                check(&tokenizer, text);
            }
        }
    }
});

/// Invariants for every text and every accepted vocabulary.
fn check(tokenizer: &WordPiece, text: &str) {
    // The previous content of the list must not matter.
    let (mut ids, mut repeated) = (vec![7; 3], Vec::with_capacity(MAX_TOKENS));
    let count = within(64 * 1024, || tokenizer.encode(text, &mut ids));
    assert_eq!((tokenizer.encode(text, &mut repeated), &repeated), (count, &ids));
    assert!(ids.len() == count.min(MAX_TOKENS), "{} ids of {count}", ids.len());
    assert_eq!((ids[0], ids[ids.len() - 1]), (101, 102));
    assert!(ids.iter().all(|id| *id < 30_522), "{ids:?}");
    // A character may decompose into at most four words of one token each.
    assert!(count <= 2 + 4 * text.chars().count(), "{count} tokens of {} characters", text.chars().count());
}

fn tokenizer() -> &'static WordPiece {
    static TOKENIZER: OnceLock<WordPiece> = OnceLock::new();
    TOKENIZER.get_or_init(|| {
        let vocabulary = real_model().and_then(|file| vocabulary_of(&file));
        WordPiece::from_vocabulary(&vocabulary.unwrap_or_else(|| small_vocabulary().into_bytes())).unwrap()
    })
}

fn vocabulary_of(file: &[u8]) -> Option<Vec<u8>> {
    let length = u64::from_le_bytes(*file.first_chunk()?) as usize;
    let header: serde_json::Value = serde_json::from_slice(file.get(8..8 + length)?).ok()?;
    let offset =
        |i: usize| Some(header["tokenizer.vocabulary"]["data_offsets"][i].as_u64()? as usize + 8 + length);
    Some(file.get(offset(0)?..offset(1)?)?.to_vec())
}

fn with_tokens(replacements: &[(u16, &[u8])], lines: i8) -> Vec<u8> {
    static LINES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let good =
        LINES.get_or_init(|| small_vocabulary().lines().map(|line| line.as_bytes().to_vec()).collect());
    let mut tokens: Vec<&[u8]> = good.iter().map(Vec::as_slice).collect();
    for (id, token) in replacements {
        let id = usize::from(*id) % tokens.len();
        tokens[id] = token;
    }
    // Mostly the right number of tokens.
    if lines < 0 && lines > -8 {
        tokens.truncate(tokens.len() - lines.unsigned_abs() as usize);
    } else if lines > 120 {
        tokens.push(b"more");
    }
    tokens.join(&b'\n')
}
