//! Aligns a sentence with a sentence of a source, and finds the places where they differ.

use std::ops::Range;

use super::tokens::{Kind, Token};

/// Tokens of each side that are aligned: the work is their product. A longer sentence is not sent.
pub(super) const MAX_ALIGNED: usize = 200;

/// Equal tokens in the same order.
#[derive(Debug)]
pub(super) struct Alignment {
    /// Positions in the sentence and in the source, both ascending.
    pub(super) pairs: Vec<(usize, usize)>,
    /// The share of the sentence that is aligned, 0 to 1. Function words count half.
    pub(super) share: f64,
}

/// A place where one text has other tokens than the other; one of the two may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) claim: Range<usize>,
    pub(super) source: Range<usize>,
}

/// A match of function words says less, but several of them are the frame in which two facts were exchanged.
fn weight(token: &Token) -> u16 {
    if token.kind == Kind::Function { 1 } else { 2 }
}

/// The heaviest common subsequence.
pub(super) fn align(claim: &[Token], source: &[Token]) -> Alignment {
    let claim = claim.get(..claim.len().min(MAX_ALIGNED)).unwrap_or_default();
    let source = source.get(..source.len().min(MAX_ALIGNED)).unwrap_or_default();
    let width = source.len() + 1;
    // best[i * width + j]: the weight of the best alignment of claim[i..] with source[j..].
    let mut best = vec![0_u16; (claim.len() + 1) * width];
    let at = |best: &[u16], i: usize, j: usize| best.get(i * width + j).copied().unwrap_or_default();
    for (i, a) in claim.iter().enumerate().rev() {
        for (j, b) in source.iter().enumerate().rev() {
            let skipped = at(&best, i + 1, j).max(at(&best, i, j + 1));
            let matched = if a.stem == b.stem { at(&best, i + 1, j + 1) + weight(a) } else { 0 };
            if let Some(cell) = best.get_mut(i * width + j) {
                *cell = skipped.max(matched);
            }
        }
    }
    let mut pairs = Vec::new();
    let (mut i, mut j) = (0, 0);
    while let (Some(a), Some(b)) = (claim.get(i), source.get(j)) {
        let here = at(&best, i, j);
        if a.stem == b.stem && here == at(&best, i + 1, j + 1) + weight(a) {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if here == at(&best, i, j + 1) {
            j += 1;
        } else {
            i += 1;
        }
    }
    let total: u32 = claim.iter().map(|token| u32::from(weight(token))).sum();
    Alignment { pairs, share: f64::from(at(&best, 0, 0)) / f64::from(total.max(1)) }
}

impl Alignment {
    /// The position in the source that a token of the sentence is aligned with.
    pub(super) fn source_of(&self, claim: usize) -> Option<usize> {
        let at = self.pairs.binary_search_by_key(&claim, |pair| pair.0).ok()?;
        self.pairs.get(at).map(|pair| pair.1)
    }

    /// The position in the sentence that a token of the source is aligned with.
    pub(super) fn claim_of(&self, source: usize) -> Option<usize> {
        let at = self.pairs.binary_search_by_key(&source, |pair| pair.1).ok()?;
        self.pairs.get(at).map(|pair| pair.0)
    }

    /// The places where the texts differ, in order.
    pub(super) fn differences(&self, claim: usize, source: usize) -> Vec<Difference> {
        let mut differences = Vec::new();
        let (mut i, mut j) = (0, 0);
        for (next_i, next_j) in self.pairs.iter().copied().chain([(claim, source)]) {
            if next_i > i || next_j > j {
                differences.push(Difference { claim: i..next_i, source: j..next_j });
            }
            (i, j) = (next_i + 1, next_j + 1);
        }
        differences
    }
}
