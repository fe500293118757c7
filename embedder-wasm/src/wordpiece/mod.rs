//! The tokenizer: greedy longest-match-first WordPiece, as in BERT.
//!
//! Each word becomes the longest token it starts with, then the longest continuation token (`##…`)
//! of the rest, and so on. The algorithm is that of Schuster & Nakajima 2012, "Japanese and Korean
//! Voice Search". Backtracking makes the plain form quadratic in a word's length; Song et al. 2021,
//! "Fast WordPiece Tokenization", make it linear for any vocabulary. Here every match tries at most
//! the bytes of the longest token, 18, which is linear for this vocabulary.
//!
//! The steps are those of the model's `tokenizer.json`: special tokens that the text contains
//! literally, [normalization](mod@normalize), then WordPiece ([`vocabulary`]). `tests/wordpiece.rs`
//! compares the ids with those of the reference implementation, the `tokenizers` crate.

mod normalize;
mod vocabulary;

use crate::{EmbedderError, MAX_TOKENS};

use normalize::{Symbol, normalize};
pub(crate) use vocabulary::{CLS, SEP, VOCABULARY_SIZE};
use vocabulary::{SPECIAL_TOKENS, UNK, Vocabulary};

/// A longer word is \[UNK\] (`max_input_chars_per_word`).
const MAX_WORD_CHARS: usize = 100;

/// The tokenizer of all-MiniLM-L6-v2.
///
/// Time is linear in the length of the text; memory does not depend on it.
pub struct WordPiece {
    vocabulary: Vocabulary,
}

impl WordPiece {
    /// Reads the vocabulary: UTF-8, one token per line; the line number, from 0, is the token's id.
    ///
    /// # Errors
    /// [`EmbedderError::Damaged`] unless it has as many tokens as the model, all different and none longer than the
    /// model's longest, and the special tokens have their ids.
    pub fn from_vocabulary(text: &[u8]) -> Result<Self, EmbedderError> {
        Ok(Self { vocabulary: Vocabulary::parse(text)? })
    }

    /// Replaces `ids` with the token ids of the text: \[CLS\] first, \[SEP\] last, at most
    /// [`MAX_TOKENS`].
    ///
    /// Returns the number of ids without that limit.
    pub fn encode(&self, text: &str, ids: &mut Vec<u32>) -> usize {
        ids.clear();
        ids.push(CLS);
        let count = self.append(text, MAX_TOKENS - 1, ids);
        ids.push(SEP);
        count + 2
    }

    /// Appends the ids of the text, without \[CLS\] and \[SEP\], until `ids` has `max_ids`.
    ///
    /// Returns the number of ids without that limit.
    pub(crate) fn append(&self, text: &str, max_ids: usize, ids: &mut Vec<u32>) -> usize {
        let mut encoding =
            Encoding { vocabulary: &self.vocabulary, ids, max_ids, count: 0, word: Word::new() };
        let mut rest = text;
        while let Some(special) = find_special_token(rest) {
            encoding.push_text(special.before);
            encoding.push(special.id);
            rest = special.after;
        }
        encoding.push_text(rest);
        encoding.count
    }
}

/// The state of encoding a text.
struct Encoding<'a> {
    vocabulary: &'a Vocabulary,
    ids: &'a mut Vec<u32>,
    /// Maximum length of `ids`.
    max_ids: usize,
    /// Number of ids of the text so far, including those beyond `max_ids`.
    count: usize,
    word: Word,
}

impl Encoding<'_> {
    fn push(&mut self, id: u32) {
        if self.ids.len() < self.max_ids {
            self.ids.push(id);
        }
        self.count += 1;
    }

    /// Encodes text without special tokens.
    fn push_text(&mut self, text: &str) {
        normalize(text, |symbol| match symbol {
            Symbol::Letter(c) => self.word.push(c),
            Symbol::Space => self.end_word(),
            Symbol::Punctuation(c) => {
                self.end_word();
                self.word.push(c);
                self.end_word();
            }
        });
        self.end_word();
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let before = (self.ids.len(), self.count);
        if self.word.is_too_long() || !self.push_word() {
            self.ids.truncate(before.0);
            self.count = before.1;
            self.push(UNK);
        }
        self.word.clear();
    }

    /// Returns false if no token matches a part of the word; the caller must remove the ids pushed
    /// so far.
    fn push_word(&mut self) -> bool {
        let mut start = 0;
        while let Some(rest @ [_, ..]) = self.word.text.as_bytes().get(start..) {
            let Some((id, bytes)) = self.vocabulary.longest_match(rest, start > 0) else { return false };
            self.push(id);
            start += bytes;
        }
        true
    }
}

/// The letters of the current word, up to [`MAX_WORD_CHARS`].
struct Word {
    text: String,
    chars: usize,
}

impl Word {
    fn new() -> Self {
        Self { text: String::with_capacity(MAX_WORD_CHARS), chars: 0 }
    }

    fn push(&mut self, c: char) {
        if self.chars < MAX_WORD_CHARS {
            self.text.push(c);
        }
        self.chars += 1;
    }

    fn is_empty(&self) -> bool {
        self.chars == 0
    }

    fn is_too_long(&self) -> bool {
        self.chars > MAX_WORD_CHARS
    }

    fn clear(&mut self) {
        self.text.clear();
        self.chars = 0;
    }
}

struct SpecialToken<'a> {
    before: &'a str,
    id: u32,
    after: &'a str,
}

/// The first special token in the text: anywhere, even inside a word, but only spelled exactly like
/// this.
fn find_special_token(text: &str) -> Option<SpecialToken<'_>> {
    text.match_indices('[').find_map(|(start, _)| {
        let (before, from_token) = text.split_at(start);
        SPECIAL_TOKENS.iter().find_map(|(token, id)| {
            let after = from_token.strip_prefix(token)?;
            Some(SpecialToken { before, id: *id, after })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids of the tokens of the tests, the last ones of the vocabulary.
    const A: u32 = 30_518;
    const B: u32 = 30_519;
    const TAIL_B: u32 = 30_520;
    const COMMA: u32 = 30_521;

    fn encode(text: &str) -> (Vec<u32>, usize) {
        let vocabulary = vocabulary::tests::vocabulary_text(&["a", "b", "##b", ","]);
        let mut ids = vec![7; 3];
        let count = WordPiece::from_vocabulary(vocabulary.as_bytes()).unwrap().encode(text, &mut ids);
        (ids, count)
    }

    fn ids_between_cls_and_sep(text: &str) -> Vec<u32> {
        let (ids, count) = encode(text);
        assert_eq!(ids.len(), count);
        assert_eq!((ids[0], ids[count - 1]), (CLS, SEP));
        ids[1..count - 1].to_vec()
    }

    #[test]
    fn words_are_split_into_the_longest_tokens() {
        assert!(ids_between_cls_and_sep("").is_empty());
        assert_eq!(ids_between_cls_and_sep("A abb,b"), [A, A, TAIL_B, TAIL_B, COMMA, B]);
    }

    #[test]
    fn a_word_with_an_unknown_part_is_one_unknown_token() {
        assert_eq!(ids_between_cls_and_sep("a abbx b"), [A, UNK, B]);
        assert_eq!(ids_between_cls_and_sep("aba"), [UNK]); // "a" continues no word
    }

    #[test]
    fn a_word_of_more_than_100_characters_is_one_unknown_token() {
        let word = |chars: usize| format!("a{}", "b".repeat(chars - 1));
        assert_eq!(ids_between_cls_and_sep(&word(100)).len(), 100);
        assert_eq!(ids_between_cls_and_sep(&word(101)), [UNK]);
        assert_eq!(ids_between_cls_and_sep(&format!("{} b", word(100_000))), [UNK, B]);
    }

    #[test]
    fn special_tokens_are_recognized_only_in_their_exact_spelling() {
        assert_eq!(ids_between_cls_and_sep("a[MASK]b[PAD][SEP]"), [A, 103, B, 0, SEP]);
        assert_eq!(ids_between_cls_and_sep("[[CLS]"), [UNK, CLS]);
        assert_eq!(ids_between_cls_and_sep("[mask] [MA\0SK]"), [UNK; 6]);
    }

    #[test]
    fn truncation_keeps_sep_and_the_count_includes_the_rest() {
        for (words, kept, count) in [(254, 256, 256), (255, 256, 257), (10_000, 256, 10_002)] {
            let (ids, untruncated) = encode(&"a ".repeat(words));
            assert_eq!((ids.len(), untruncated), (kept, count));
            assert_eq!((ids[0], ids[254], ids[255]), (CLS, A, SEP));
        }
        // A word across the limit, and an unknown word across the limit.
        let (ids, count) = encode(&format!("{}abb", "a ".repeat(253)));
        assert_eq!((ids[254], ids[255], count), (A, SEP, 258));
        let (ids, count) = encode(&format!("{}abbx", "a ".repeat(252)));
        assert_eq!((ids[253], ids.len(), count), (UNK, 255, 255));
    }

    #[test]
    fn memory_does_not_grow_with_the_text() {
        let vocabulary = vocabulary::tests::vocabulary_text(&["a", "b", "##b", ","]);
        let tokenizer = WordPiece::from_vocabulary(vocabulary.as_bytes()).unwrap();
        let mut ids = Vec::new();
        for text in ["a ".repeat(500_000), "b".repeat(1_000_000), "[".repeat(1_000_000)] {
            tokenizer.encode(&text, &mut ids);
            assert!(ids.len() <= MAX_TOKENS && ids.capacity() <= 2 * MAX_TOKENS);
        }
    }
}
