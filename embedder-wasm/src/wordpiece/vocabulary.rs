//! The tokens of the model and their ids: one text, and a hash table of positions in it.

use std::str;

use crate::EmbedderError;

/// Number of tokens in the vocabulary of all-MiniLM-L6-v2.
pub(crate) const VOCABULARY_SIZE: usize = 30_522;

/// Length of the longest token, `telecommunications`, in bytes.
const MAX_TOKEN_BYTES: usize = 18;

/// Prefix, in the vocabulary, of a token that continues a word.
const CONTINUATION: &[u8] = b"##";

/// Size of the hash table: a power of two that leaves it half empty, so that a search ends after a
/// few slots.
const SLOTS: usize = 65_536;

/// A slot without a token. Every id is below [`VOCABULARY_SIZE`], which is smaller.
const EMPTY: u16 = u16::MAX;

pub(super) const UNK: u32 = 100;
pub(crate) const CLS: u32 = 101;
pub(crate) const SEP: u32 = 102;

/// Tokens that a text may contain literally, with their ids. None is a prefix of another.
pub(super) const SPECIAL_TOKENS: [(&str, u32); 5] =
    [("[PAD]", 0), ("[UNK]", UNK), ("[CLS]", CLS), ("[SEP]", SEP), ("[MASK]", 103)];

pub(super) struct Vocabulary {
    /// All tokens, each followed by a newline.
    text: Box<[u8]>,
    /// Offset of each token in `text`, and the end of `text`.
    starts: Vec<u32>,
    /// Open addressing: a token is in the first slot from its hash on that was free.
    slots: Vec<u16>,
}

impl Vocabulary {
    pub(super) fn parse(text: &[u8]) -> Result<Self, EmbedderError> {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        check(text)?;

        let mut vocabulary = Self {
            text: [text, b"\n"].concat().into(),
            starts: Vec::with_capacity(VOCABULARY_SIZE + 1),
            slots: vec![EMPTY; SLOTS],
        };
        vocabulary.starts.push(0);
        for token in lines(text) {
            vocabulary.push(token)?;
        }
        for (token, id) in SPECIAL_TOKENS {
            if vocabulary.token(id as usize) != token.as_bytes() {
                return Err(damaged(format!("token {id} is not {token}")));
            }
        }
        Ok(vocabulary)
    }

    /// The longest token that is a prefix of `rest`, the rest of a word: its id, and how many bytes
    /// of `rest` it covers.
    ///
    /// Works on bytes: tokens consist of whole characters, so none matches a part of one.
    pub(super) fn longest_match(&self, rest: &[u8], continues_word: bool) -> Option<(u32, usize)> {
        let prefix = if continues_word { CONTINUATION } else { b"" };
        let mut hashes = [0; MAX_TOKEN_BYTES]; // of the prefix with the first 1, 2, … bytes of `rest`
        let mut hash = Hash::new(prefix);
        for (at_byte, byte) in hashes.iter_mut().zip(rest) {
            hash = hash.then(*byte);
            *at_byte = hash.slot();
        }
        hashes.iter().enumerate().take(rest.len()).rev().find_map(|(last, slot)| {
            let piece = &rest[..=last];
            match self.search(*slot, |token| token.strip_prefix(prefix) == Some(piece)) {
                Slot::Token(id) => Some((u32::from(id), piece.len())),
                Slot::Free(_) => None,
            }
        })
    }

    fn push(&mut self, token: &[u8]) -> Result<(), EmbedderError> {
        let id = self.starts.len() - 1;
        match self.search(Hash::new(token).slot(), |other| other == token) {
            Slot::Token(first) => Err(damaged(format!("token {id} is the same as token {first}"))),
            Slot::Free(slot) => {
                self.slots[slot] = id as u16; // below VOCABULARY_SIZE
                self.starts.push(self.starts[id] + token.len() as u32 + 1);
                Ok(())
            }
        }
    }

    fn search(&self, mut slot: usize, matches: impl Fn(&[u8]) -> bool) -> Slot {
        loop {
            match self.slots[slot] {
                EMPTY => return Slot::Free(slot),
                id if matches(self.token(id.into())) => return Slot::Token(id),
                _ => slot = (slot + 1) % SLOTS,
            }
        }
    }

    fn token(&self, id: usize) -> &[u8] {
        &self.text[self.starts[id] as usize..self.starts[id + 1] as usize - 1]
    }
}

enum Slot {
    Free(usize),
    Token(u16),
}

/// Checked before any memory is reserved; limits the text to `VOCABULARY_SIZE * (MAX_TOKEN_BYTES +
/// 1)` bytes.
fn check(text: &[u8]) -> Result<(), EmbedderError> {
    str::from_utf8(text)
        .map_err(|error| damaged(format!("it is not UTF-8 from byte {} on", error.valid_up_to())))?;
    let actual = lines(text).count();
    if actual != VOCABULARY_SIZE {
        return Err(damaged(format!("it has {actual} tokens, expected {VOCABULARY_SIZE}")));
    }
    match lines(text).map(<[u8]>::len).enumerate().find(|(_, bytes)| !(1..=MAX_TOKEN_BYTES).contains(bytes)) {
        Some((id, bytes)) => {
            Err(damaged(format!("token {id} has {bytes} bytes, expected 1 to {MAX_TOKEN_BYTES}")))
        }
        None => Ok(()),
    }
}

/// Ids count from 0: the token with id n is on line n + 1.
fn damaged(problem: String) -> EmbedderError {
    EmbedderError::Damaged(format!("its vocabulary is not that of all-MiniLM-L6-v2, {problem}"))
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
}

/// FNV-1a, 32 bits.
#[derive(Clone, Copy)]
struct Hash(u32);

impl Hash {
    fn new(bytes: &[u8]) -> Self {
        bytes.iter().fold(Self(0x811c_9dc5), |hash, byte| hash.then(*byte))
    }

    fn then(self, byte: u8) -> Self {
        Self((self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    fn slot(self) -> usize {
        (self.0 ^ (self.0 >> 16)) as usize % SLOTS
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A valid vocabulary: the special tokens, unused tokens, and the given tokens last.
    pub(in crate::wordpiece) fn vocabulary_text(last_tokens: &[&str]) -> String {
        let mut tokens: Vec<String> = (0..VOCABULARY_SIZE).map(|id| format!("[unused{id}]")).collect();
        for (token, id) in SPECIAL_TOKENS {
            tokens[id as usize] = token.to_owned();
        }
        for (slot, token) in tokens[VOCABULARY_SIZE - last_tokens.len()..].iter_mut().zip(last_tokens) {
            *slot = (*token).to_owned();
        }
        tokens.join("\n")
    }

    #[test]
    fn the_longest_token_matches_and_only_continuations_continue_a_word() {
        let text = vocabulary_text(&["play", "playing", "##ing", "in"]);
        let vocabulary = Vocabulary::parse(text.as_bytes()).unwrap();
        let first = (VOCABULARY_SIZE - 4) as u32;
        assert_eq!(vocabulary.longest_match(b"playings", false), Some((first + 1, 7)));
        assert_eq!(vocabulary.longest_match(b"played", false), Some((first, 4)));
        assert_eq!(vocabulary.longest_match(b"ings", true), Some((first + 2, 3)));
        assert_eq!(vocabulary.longest_match(b"ings", false), Some((first + 3, 2)));
        assert_eq!(vocabulary.longest_match(b"play", true), None);
        assert_eq!(vocabulary.longest_match(b"", false), None);
    }

    #[test]
    fn every_token_is_found_under_its_own_id() {
        let text = vocabulary_text(&["é", "##é", "telecommunications"]);
        let vocabulary = Vocabulary::parse(text.as_bytes()).unwrap();
        for (id, token) in text.lines().enumerate() {
            let expected = Some((id as u32, token.len()));
            match token.strip_prefix("##") {
                None => assert_eq!(vocabulary.longest_match(token.as_bytes(), false), expected),
                Some(rest) => {
                    let expected = Some((id as u32, rest.len()));
                    assert_eq!(vocabulary.longest_match(rest.as_bytes(), true), expected);
                }
            }
        }
    }

    #[test]
    fn a_final_newline_changes_nothing() {
        let text = vocabulary_text(&["end"]) + "\n";
        let vocabulary = Vocabulary::parse(text.as_bytes()).unwrap();
        assert_eq!(vocabulary.longest_match(b"end", false), Some((VOCABULARY_SIZE as u32 - 1, 3)));
    }

    #[test]
    fn damaged_vocabularies_are_rejected_with_the_reason() {
        let good = vocabulary_text(&[]);
        for (text, reason) in [
            (b"[PAD]\n\xff".to_vec(), "it is not UTF-8 from byte 6 on"),
            (Vec::new(), "it has 1 tokens, expected 30522"),
            (vec![b'\n'; 1 << 20], "it has 1048576 tokens"),
            (format!("{good}\nmore").into_bytes(), "it has 30523 tokens"),
            (vocabulary_text(&[&"a".repeat(19)]).into_bytes(), "token 30521 has 19 bytes, expected 1 to 18"),
            (vocabulary_text(&["", "a"]).into_bytes(), "token 30520 has 0 bytes"),
            (vocabulary_text(&["same", "same"]).into_bytes(), "token 30521 is the same as token 30520"),
            (good.replace("[SEP]", "[sep]").into_bytes(), "token 102 is not [SEP]"),
            (good.replace('\n', "\r\n").into_bytes(), "token 0 is not [PAD]"),
        ] {
            let error = Vocabulary::parse(&text).err().unwrap().to_string();
            assert!(error.contains(reason), "{error}, expected {reason}");
        }
    }
}
