//! Text → token ids, exactly as the `tokenizer.json` of all-MiniLM-L6-v2 describes it: special tokens named in the
//! text, [normalization](mod@normalize), then the longest matching token again and again ([`vocabulary`]).
//!
//! `tests/wordpiece.rs` holds it against the reference implementation, the `tokenizers` crate.

mod normalize;
mod vocabulary;

use crate::{EmbedderError, MAX_TOKENS};

use normalize::{Symbol, normalize};
pub use vocabulary::VocabularyError;
pub(crate) use vocabulary::{CLS, SEP};
use vocabulary::{SPECIAL_TOKENS, UNK, Vocabulary};

/// Words of more characters are \[UNK\] (`max_input_chars_per_word`).
const MAX_WORD_CHARS: usize = 100;

/// The tokenizer of all-MiniLM-L6-v2.
///
/// Time is linear in the text's length and memory does not depend on it.
pub struct WordPiece {
    vocabulary: Vocabulary,
}

impl WordPiece {
    /// Reads the vocabulary: UTF-8, a token on each line, the line number (from 0) is the token's id.
    ///
    /// # Errors
    /// [`EmbedderError::Vocabulary`] unless it has the model's number of tokens, all different and none longer than
    /// the model's longest, with the special tokens in their places.
    pub fn from_vocabulary(text: &[u8]) -> Result<Self, EmbedderError> {
        Ok(Self { vocabulary: Vocabulary::parse(text)? })
    }

    /// Replaces `ids` with the token ids of the text: \[CLS\] first, \[SEP\] last, at most [`MAX_TOKENS`].
    ///
    /// Returns how many there would be without that limit.
    pub fn encode(&self, text: &str, ids: &mut Vec<u32>) -> usize {
        ids.clear();
        ids.push(CLS);
        let count = self.append(text, MAX_TOKENS - 1, ids);
        ids.push(SEP);
        count + 2
    }

    /// Appends the ids of the text's own tokens, without \[CLS\] and \[SEP\], until `ids` has `most`.
    ///
    /// Returns how many there would be without that limit.
    pub(crate) fn append(&self, text: &str, most: usize, ids: &mut Vec<u32>) -> usize {
        let mut encoding = Encoding { vocabulary: &self.vocabulary, ids, most, count: 0, word: Word::new() };
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

/// The ids of a text, as far as it has been read.
struct Encoding<'a> {
    vocabulary: &'a Vocabulary,
    ids: &'a mut Vec<u32>,
    /// Length that `ids` may reach.
    most: usize,
    /// All ids of the text so far, those that `ids` has no place for included.
    count: usize,
    word: Word,
}

impl Encoding<'_> {
    fn push(&mut self, id: u32) {
        if self.ids.len() < self.most {
            self.ids.push(id);
        }
        self.count += 1;
    }

    /// A text in which special tokens have no meaning.
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

    /// False if a part of the word is in no token; what was pushed up to there is to be taken back.
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

/// The letters of the word being read; a word too long to be a token is not kept further.
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

/// The first special token that the text spells out. It counts wherever it stands, in the middle of a word too, but
/// only in exactly this form.
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

    /// The ids of the tokens that the tests give it: they are the last of the vocabulary.
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
    fn words_are_cut_into_the_longest_tokens() {
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
    fn special_tokens_are_recognized_only_as_they_are_written() {
        assert_eq!(ids_between_cls_and_sep("a[MASK]b[PAD][SEP]"), [A, 103, B, 0, SEP]);
        assert_eq!(ids_between_cls_and_sep("[[CLS]"), [UNK, CLS]);
        assert_eq!(ids_between_cls_and_sep("[mask] [MA\0SK]"), [UNK; 6]);
    }

    #[test]
    fn the_window_keeps_sep_and_the_count_goes_on() {
        for (words, kept, count) in [(254, 256, 256), (255, 256, 257), (10_000, 256, 10_002)] {
            let (ids, untruncated) = encode(&"a ".repeat(words));
            assert_eq!((ids.len(), untruncated), (kept, count));
            assert_eq!((ids[0], ids[254], ids[255]), (CLS, A, SEP));
        }
        // A word across the limit, and an unknown one whose beginning was beyond it.
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
