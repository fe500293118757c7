//! The tokenizer: hostile vocabularies, and hostile texts over a good one (the model's own if it is there).

#![no_main]

use std::sync::OnceLock;

use arbitrary::Arbitrary;
use embedder::{MAX_TOKENS, WordPiece};
use embedder_fuzz::{real_model, small_vocabulary, within};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
enum Input<'a> {
    /// Text over a good vocabulary.
    Text(&'a str),
    /// Text in which a piece is repeated, so that it comes near the window or the longest word.
    Repeated { before: &'a str, piece: &'a str, times: u16, after: &'a str },
    /// Arbitrary bytes as the vocabulary.
    Vocabulary(&'a [u8]),
    /// A vocabulary of the right shape with some tokens replaced, and a text over it if it is accepted.
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
            let refused = within(4096, || WordPiece::from_vocabulary(bytes)).is_err();
            assert!(refused || bytes.len() > 30_522);
        }
        Input::Tokens { tokens, lines, text } => {
            let vocabulary = with_tokens(&tokens, lines);
            if let Ok(tokenizer) = within(2 << 20, || WordPiece::from_vocabulary(&vocabulary)) {
                check(&tokenizer, text);
            }
        }
    }
});

/// What must hold for every text and every vocabulary that was accepted.
fn check(tokenizer: &WordPiece, text: &str) {
    // What was in the list before must not matter.
    let (mut ids, mut again) = (vec![7; 3], Vec::with_capacity(MAX_TOKENS));
    let count = within(64 * 1024, || tokenizer.encode(text, &mut ids));
    assert_eq!((tokenizer.encode(text, &mut again), &again), (count, &ids));
    assert!(ids.len() == count.min(MAX_TOKENS), "{} ids of {count}", ids.len());
    assert_eq!((ids[0], ids[ids.len() - 1]), (101, 102));
    assert!(ids.iter().all(|id| *id < 30_522), "{ids:?}");
    // A character may decompose into a few words of one token each, and no more than that.
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
    // Mostly as many as there should be.
    if lines < 0 && lines > -8 {
        tokens.truncate(tokens.len() - lines.unsigned_abs() as usize);
    } else if lines > 120 {
        tokens.push(b"more");
    }
    tokens.join(&b'\n')
}
