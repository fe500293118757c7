//! Finds the few consecutive sentences of a source that contain most of a sentence's words.

use std::ops::Range;

use super::read::ReadSource;
use super::tokens::{Kind, Token};
use crate::limits::MAX_SUPPORT_SENTENCES;

/// Distinct words of a sentence that are looked up, one bit each. A sentence with more is too long to be checked.
pub(super) const MAX_TERMS: usize = u128::BITS as usize;
/// The cover that each further sentence of a window must add. A window is shown as the source of a
/// sentence, so a short one is better.
const WINDOW_COST: f64 = 0.02;

/// The distinct content words of a sentence.
#[derive(Debug)]
pub(super) struct Terms {
    stems: Vec<u32>,
    weights: Vec<f64>,
    /// One bit for each number that must be in a source.
    pub(super) numbers: u128,
    /// One bit for each name.
    pub(super) names: u128,
    total: f64,
}

impl Terms {
    /// `None` if there are too many. `weight` is the weight of a stem.
    pub(super) fn new(tokens: &[Token], weight: impl Fn(u32) -> f64) -> Option<Self> {
        let mut terms = Self { stems: Vec::new(), weights: Vec::new(), numbers: 0, names: 0, total: 0.0 };
        for token in tokens.iter().filter(|token| token.is_content()) {
            let at = match terms.stems.iter().position(|stem| *stem == token.stem) {
                Some(at) => at,
                None if terms.stems.len() == MAX_TERMS => return None,
                None => {
                    let weight = weight(token.stem);
                    terms.stems.push(token.stem);
                    terms.weights.push(weight);
                    terms.total += weight;
                    terms.stems.len() - 1
                }
            };
            match token.kind {
                Kind::Number { is_exact: true } => terms.numbers |= 1 << at,
                Kind::Name { is_generic: false } => terms.names |= 1 << at,
                _ => {}
            }
        }
        Some(terms)
    }

    pub(super) fn len(&self) -> usize {
        self.stems.len()
    }

    /// One bit for each term.
    pub(super) fn all(&self) -> u128 {
        (0..self.stems.len()).fold(0, |all, at| all | 1 << at)
    }

    /// One bit for each term that is among the sorted stems.
    pub(super) fn mask(&self, sorted: &[u32]) -> u128 {
        let bits = self.stems.iter().enumerate();
        bits.filter(|(_, stem)| sorted.binary_search(stem).is_ok()).fold(0, |mask, (at, _)| mask | 1 << at)
    }

    /// The share of the weight that these terms have, 0 to 1. A sentence without content words has no cover.
    pub(super) fn cover(&self, mask: u128) -> f64 {
        let covered: f64 = self
            .weights
            .iter()
            .enumerate()
            .filter(|(at, _)| mask & (1 << at) != 0)
            .map(|(_, weight)| weight)
            .sum();
        if self.total > 0.0 { covered / self.total } else { 0.0 }
    }
}

/// Consecutive sentences of a source.
#[derive(Debug, Clone)]
pub(super) struct Window {
    pub(super) source: usize,
    pub(super) sentences: Range<usize>,
    /// One bit for each term that it has, its context included.
    pub(super) mask: u128,
    /// The cover, less the cost of its length.
    pub(super) value: f64,
}

/// The terms of each sentence of a source, its context included.
#[derive(Debug)]
pub(super) struct Masks {
    sentences: Vec<u128>,
    /// The terms that any of them has.
    pub(super) all: u128,
}

impl Masks {
    pub(super) fn new(terms: &Terms, source: &ReadSource) -> Self {
        let title = terms.mask(&source.title);
        let sentences: Vec<u128> = source
            .sentences
            .iter()
            .map(|sentence| match sentence.stems.as_slice() {
                // A sentence that must not be used.
                [] => 0,
                stems => terms.mask(stems) | terms.mask(&sentence.context) | title,
            })
            .collect();
        let all = sentences.iter().fold(0, |all, mask| all | mask);
        Self { sentences, all }
    }

    /// The window that covers most together with `known`, which others cover already. `facts` are terms that it should have:
    /// windows with more of them come first.
    pub(super) fn best(&self, terms: &Terms, source: usize, known: u128, facts: u128) -> Option<Window> {
        let mut best: Option<(u32, Window)> = None;
        for start in 0..self.sentences.len() {
            let mut mask = 0;
            for length in 1..=MAX_SUPPORT_SENTENCES {
                let Some(sentence) = self.sentences.get(start + length - 1) else { break };
                mask |= sentence;
                let value = terms.cover(mask | known) - WINDOW_COST * (length - 1) as f64;
                let found = (mask & facts).count_ones();
                let is_better =
                    best.as_ref().is_none_or(|(count, best)| (found, value) > (*count, best.value));
                if is_better {
                    let sentences = start..start + length;
                    best = Some((found, Window { source, sentences, mask, value }));
                }
            }
        }
        best.map(|(_, window)| window)
    }

    /// Each sentence that covers enough alone.
    pub(super) fn single(
        &self,
        terms: &Terms,
        source: usize,
        min_cover: f64,
    ) -> impl Iterator<Item = Window> {
        let sentences = self.sentences.iter().enumerate().map(move |(at, mask)| {
            let value = terms.cover(*mask);
            Window { source, sentences: at..at + 1, mask: *mask, value }
        });
        sentences.filter(move |window| window.value >= min_cover)
    }
}
