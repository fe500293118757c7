//! The size of a slice in tokens, and cutting between words and characters.
//!
//! A token limit alone does not limit the size: a word of more than 100 characters is one token, however long it is, and white
//! space is none. So a passage also has at most [`MAX_PASSAGE_BYTES`].

use std::ops::Range;

use chat_core::limits::{MAX_PASSAGE_BYTES, grapheme_boundary};

use super::section::with_context;
use super::{CountTokens, MAX_TOKENS};

/// Counts the tokens of slices of one section, including its headings.
pub(super) struct Measure<'a> {
    text: &'a str,
    count_tokens: &'a CountTokens<'a>,
    /// Tokens of an empty text, which are the special ones.
    special_tokens: usize,
    tokens_around: usize,
}

impl<'a> Measure<'a> {
    pub(super) fn new(text: &'a str, context: Option<&str>, count_tokens: &'a CountTokens<'a>) -> Self {
        let tokens_around = count_tokens(&with_context(context, ""));
        Self { text, count_tokens, special_tokens: count_tokens(""), tokens_around }
    }

    /// Tokens of the embedded text that are not content: special tokens and headings. The newline after the headings ends a
    /// word, so the two counts add up.
    pub(super) fn tokens_around(&self) -> usize {
        self.tokens_around
    }

    /// Tokens of a slice alone. Tokenizes all of it.
    pub(super) fn content_tokens(&self, range: &Range<usize>) -> usize {
        (self.count_tokens)(self.slice(range)).saturating_sub(self.special_tokens)
    }

    /// Returns whether a slice can be a passage. Tokenizes at most [`MAX_PASSAGE_BYTES`].
    pub(super) fn fits(&self, range: &Range<usize>) -> bool {
        range.len() <= MAX_PASSAGE_BYTES && self.tokens_around + self.content_tokens(range) <= MAX_TOKENS
    }

    fn slice(&self, range: &Range<usize>) -> &'a str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}

/// Splits between words.
pub(super) fn split_words(range: Range<usize>, measure: &Measure<'_>, pieces: &mut Vec<Range<usize>>) {
    let mut start = range.start;
    for word in measure.slice(&range).split_inclusive(char::is_whitespace) {
        let piece = start..start + word.trim_end().len();
        start += word.len();
        match piece {
            piece if piece.is_empty() => {}
            piece if measure.fits(&piece) => pieces.push(piece),
            piece => split_word(piece, measure, pieces),
        }
    }
}

/// Splits a text without spaces between graphemes, or between characters if a grapheme is too long. Each search starts at twice
/// the last length that fitted, so each byte is tokenized only a few times, however long the text is.
fn split_word(range: Range<usize>, measure: &Measure<'_>, pieces: &mut Vec<Range<usize>>) {
    let mut start = range.start;
    let mut length = MAX_PASSAGE_BYTES;
    while start < range.end {
        let rest = measure.slice(&(start..range.end));
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let mut piece = start..start + grapheme_boundary(rest, length).max(first);
        while piece.len() > first && !measure.fits(&piece) {
            piece.end = start + grapheme_boundary(rest, piece.len() / 2).max(first);
        }
        length = (2 * piece.len()).min(MAX_PASSAGE_BYTES);
        start = piece.end;
        pieces.push(piece);
    }
}
