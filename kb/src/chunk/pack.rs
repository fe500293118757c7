//! Pieces → chunks: neighbours of a section are merged up to the target size.

use std::ops::Range;

use super::split::Measure;
use super::{MAX_TOKENS, TARGET_TOKENS};

/// A last chunk with less content than this joins the one before it if the limit allows.
const SMALL_TAIL_TOKENS: usize = TARGET_TOKENS / 4;

pub(super) fn merge_neighbours(pieces: &[Range<usize>], measure: &Measure<'_>) -> Vec<Range<usize>> {
    let overhead = measure.overhead();
    let mut chunks: Vec<Merged> = Vec::new();
    for piece in pieces {
        let content_tokens = measure.tokens(piece).saturating_sub(overhead);
        let piece = Merged { range: piece.clone(), content_tokens };
        match chunks.last_mut() {
            Some(last)
                if overhead + last.content_tokens + piece.content_tokens <= TARGET_TOKENS
                    && last.can_take(&piece, measure) =>
            {
                last.take(&piece);
            }
            _ => chunks.push(piece),
        }
    }
    if let [.., before, tail] = chunks.as_mut_slice()
        && tail.content_tokens < SMALL_TAIL_TOKENS
        && before.can_take(tail, measure)
    {
        before.take(tail);
        chunks.pop();
    }
    chunks.into_iter().map(|chunk| chunk.range).collect()
}

struct Merged {
    range: Range<usize>,
    /// The sum over its pieces; the exact count of the merged text may differ a little.
    content_tokens: usize,
}

impl Merged {
    fn can_take(&self, next: &Self, measure: &Measure<'_>) -> bool {
        measure.tokens(&(self.range.start..next.range.end)) <= MAX_TOKENS
    }

    fn take(&mut self, next: &Self) {
        self.range.end = next.range.end;
        self.content_tokens += next.content_tokens;
    }
}
