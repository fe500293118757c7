//! The tokens of the model and their ids: one text, one table of positions in it.

use std::str;

/// Tokens of the vocabulary of all-MiniLM-L6-v2.
const TOKENS: usize = 30_522;

/// Bytes of its longest token, `telecommunications`.
const LONGEST_TOKEN: usize = 18;

/// Marks, in the vocabulary, a token that continues a word.
const CONTINUATION: &[u8] = b"##";

/// Slots of the hash table: a power of two that leaves it half empty, so that a search ends after a few slots.
const SLOTS: usize = 65_536;

/// A slot without a token. Ids end at [`TOKENS`], below it.
const EMPTY: u16 = u16::MAX;

pub(super) const UNK: u32 = 100;
pub(crate) const CLS: u32 = 101;
pub(crate) const SEP: u32 = 102;

/// Tokens that a text may name literally, with their ids. None is the start of another.
pub(super) const SPECIAL_TOKENS: [(&str, u32); 5] =
    [("[PAD]", 0), ("[UNK]", UNK), ("[CLS]", CLS), ("[SEP]", SEP), ("[MASK]", 103)];

/// Why bytes are not the vocabulary of the model. Ids count from 0: the token with id n is on line n + 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VocabularyError {
    /// Not text.
    #[error("it is not UTF-8 from byte {valid_up_to} on")]
    NotUtf8 {
        /// Bytes before the first bad one.
        valid_up_to: usize,
    },
    /// Too few or too many lines.
    #[error("it has {actual} tokens, expected {TOKENS}")]
    TokenCount {
        /// Lines found.
        actual: usize,
    },
    /// An empty line, or one longer than any token of the model.
    #[error("token {id} has {bytes} bytes, expected 1 to {LONGEST_TOKEN}")]
    TokenLength {
        /// Which token.
        id: usize,
        /// Its length.
        bytes: usize,
    },
    /// The same token twice.
    #[error("token {id} is the same as token {first}")]
    DuplicateToken {
        /// The later of the two.
        id: usize,
        /// The earlier one.
        first: u32,
    },
    /// A special token is not where the model has it.
    #[error("token {id} is not {token}")]
    SpecialToken {
        /// The token expected.
        token: &'static str,
        /// Its place.
        id: u32,
    },
}

pub(super) struct Vocabulary {
    /// All tokens, a newline after each.
    text: Box<[u8]>,
    /// Where each token starts in `text`, and where one after the last would.
    starts: Vec<u32>,
    /// Open addressing: a token is in the first free slot from its hash on.
    slots: Vec<u16>,
}

impl Vocabulary {
    pub(super) fn parse(text: &[u8]) -> Result<Self, VocabularyError> {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        check(text)?;

        let mut vocabulary = Self {
            text: [text, b"\n"].concat().into(),
            starts: Vec::with_capacity(TOKENS + 1),
            slots: vec![EMPTY; SLOTS],
        };
        vocabulary.starts.push(0);
        for token in lines(text) {
            vocabulary.push(token)?;
        }
        for (token, id) in SPECIAL_TOKENS {
            if vocabulary.token(id as usize) != token.as_bytes() {
                return Err(VocabularyError::SpecialToken { token, id });
            }
        }
        Ok(vocabulary)
    }

    /// The longest token that `rest` of a word begins with: its id and how many bytes of `rest` it covers.
    ///
    /// Works on bytes: tokens are whole characters, so none can match a part of one.
    pub(super) fn longest_match(&self, rest: &[u8], continues_word: bool) -> Option<(u32, usize)> {
        let prefix = if continues_word { CONTINUATION } else { b"" };
        let mut hashes = [0; LONGEST_TOKEN]; // of the prefix and the first 1, 2, … bytes of `rest`
        let mut hash = Hash::of(prefix);
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

    fn push(&mut self, token: &[u8]) -> Result<(), VocabularyError> {
        let id = self.starts.len() - 1;
        match self.search(Hash::of(token).slot(), |other| other == token) {
            Slot::Token(first) => Err(VocabularyError::DuplicateToken { id, first: first.into() }),
            Slot::Free(slot) => {
                self.slots[slot] = id as u16; // below TOKENS
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

/// Everything that must hold before any memory is reserved; bounds the text at `TOKENS * (LONGEST_TOKEN + 1)` bytes.
fn check(text: &[u8]) -> Result<(), VocabularyError> {
    str::from_utf8(text).map_err(|error| VocabularyError::NotUtf8 { valid_up_to: error.valid_up_to() })?;
    let actual = lines(text).count();
    if actual != TOKENS {
        return Err(VocabularyError::TokenCount { actual });
    }
    match lines(text).map(<[u8]>::len).enumerate().find(|(_, bytes)| !(1..=LONGEST_TOKEN).contains(bytes)) {
        Some((id, bytes)) => Err(VocabularyError::TokenLength { id, bytes }),
        None => Ok(()),
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
}

/// FNV-1a, 32 bits.
#[derive(Clone, Copy)]
struct Hash(u32);

impl Hash {
    fn of(bytes: &[u8]) -> Self {
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

    /// A vocabulary of the right shape: special tokens in place, the given tokens last, fillers between.
    pub(in crate::wordpiece) fn vocabulary_text(last_tokens: &[&str]) -> String {
        let mut tokens: Vec<String> = (0..TOKENS).map(|id| format!("[unused{id}]")).collect();
        for (token, id) in SPECIAL_TOKENS {
            tokens[id as usize] = token.to_owned();
        }
        for (slot, token) in tokens[TOKENS - last_tokens.len()..].iter_mut().zip(last_tokens) {
            *slot = (*token).to_owned();
        }
        tokens.join("\n")
    }

    #[test]
    fn the_longest_token_wins_and_only_continuations_continue() {
        let text = vocabulary_text(&["play", "playing", "##ing", "in"]);
        let vocabulary = Vocabulary::parse(text.as_bytes()).unwrap();
        let first = (TOKENS - 4) as u32;
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
        assert_eq!(vocabulary.longest_match(b"end", false), Some((TOKENS as u32 - 1, 3)));
    }

    #[test]
    fn damaged_vocabularies_are_refused_with_the_reason() {
        use VocabularyError as E;
        let parse = |text: &[u8]| Vocabulary::parse(text).err();
        let good = vocabulary_text(&[]);

        assert_eq!(parse(b"[PAD]\n\xff"), Some(E::NotUtf8 { valid_up_to: 6 }));
        assert_eq!(parse(b""), Some(E::TokenCount { actual: 1 }));
        assert_eq!(parse(&vec![b'\n'; 1 << 20]), Some(E::TokenCount { actual: 1 << 20 }));
        assert_eq!(parse(format!("{good}\nmore").as_bytes()), Some(E::TokenCount { actual: TOKENS + 1 }));
        assert_eq!(
            parse(vocabulary_text(&[&"a".repeat(19)]).as_bytes()),
            Some(E::TokenLength { id: TOKENS - 1, bytes: 19 })
        );
        assert_eq!(
            parse(vocabulary_text(&["", "a"]).as_bytes()),
            Some(E::TokenLength { id: TOKENS - 2, bytes: 0 })
        );
        assert_eq!(
            parse(vocabulary_text(&["same", "same"]).as_bytes()),
            Some(E::DuplicateToken { id: TOKENS - 1, first: TOKENS as u32 - 2 })
        );
        assert_eq!(
            parse(good.replace("[SEP]", "[sep]").as_bytes()),
            Some(E::SpecialToken { token: "[SEP]", id: 102 })
        );
        assert_eq!(
            parse(good.replace('\n', "\r\n").as_bytes()),
            Some(E::SpecialToken { token: "[PAD]", id: 0 })
        );
    }
}
