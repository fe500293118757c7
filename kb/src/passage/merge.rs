//! Merges neighbouring pieces of a section into passages of the target size.

use std::ops::Range;

use chat_core::limits::MAX_PASSAGE_BYTES;

use super::measure::Measure;
use super::{MAX_TOKENS, TARGET_TOKENS};

/// A last piece with less content than this is merged into the one before it if the limit allows.
const SMALL_TAIL_TOKENS: usize = TARGET_TOKENS / 4;

pub(super) fn merge_neighbours(pieces: &[Range<usize>], measure: &Measure<'_>) -> Vec<Range<usize>> {
    let tokens_around = measure.tokens_around();
    let mut merged: Vec<Piece> = Vec::new();
    for range in pieces {
        let piece = Piece { range: range.clone(), content_tokens: measure.content_tokens(range) };
        let is_near_target =
            |last: &&mut Piece| tokens_around + last.content_tokens + piece.content_tokens <= TARGET_TOKENS;
        let last = merged.last_mut().filter(is_near_target);
        match last.and_then(|last| Some((last.merged(&piece, measure)?, last))) {
            Some((whole, last)) => *last = whole,
            None => merged.push(piece),
        }
    }
    if let [.., before, tail] = merged.as_mut_slice()
        && tail.content_tokens < SMALL_TAIL_TOKENS
        && let Some(whole) = before.merged(tail, measure)
    {
        *before = whole;
        merged.pop();
    }
    merged.into_iter().map(|piece| piece.range).collect()
}

struct Piece {
    range: Range<usize>,
    content_tokens: usize,
}

impl Piece {
    /// Merges with the piece that follows, unless the result is too large for a passage.
    fn merged(&self, next: &Self, measure: &Measure<'_>) -> Option<Self> {
        let range = self.range.start..next.range.end;
        if range.len() > MAX_PASSAGE_BYTES {
            return None;
        }
        // White space ends a word, so the tokens on both sides of it add up and need not be counted again.
        let is_cut_in_a_word = self.range.end == next.range.start;
        let content_tokens = if is_cut_in_a_word {
            measure.content_tokens(&range)
        } else {
            self.content_tokens + next.content_tokens
        };
        (measure.tokens_around() + content_tokens <= MAX_TOKENS).then_some(Self { range, content_tokens })
    }
}
