//! The share of a question's vocabulary that a text contains, as `match_chunks` counts it: rare words weigh more, and each
//! repetition of a word adds less.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation as _;

/// Words without information about the topic of a question.
const FUNCTION_WORDS: &str = "a about after all an and any are as at be been before by can could did do does for from get had has have how i \
    if in into is it its may me my no not of on or our should so than that the their them then there these they this to \
    was we were what when where which who whom whose why will with would you your";

/// How often each lexeme occurs in a text.
pub(super) type Lexemes = HashMap<String, u32>;

pub(super) fn lexemes(text: &str) -> Lexemes {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut lexemes = Lexemes::new();
    for word in text.unicode_words() {
        let word = word.to_lowercase();
        if !FUNCTION_WORDS.split_whitespace().any(|function_word| function_word == word) {
            *lexemes.entry(stemmer.stem(&word).into_owned()).or_default() += 1;
        }
    }
    lexemes
}

pub(super) struct WordIndex {
    texts: Vec<Lexemes>,
    /// Number of texts with a lexeme.
    counts: HashMap<String, usize>,
}

impl WordIndex {
    pub(super) fn new(texts: Vec<Lexemes>) -> Self {
        let mut counts = HashMap::new();
        for lexeme in texts.iter().flat_map(HashMap::keys) {
            *counts.entry(lexeme.clone()).or_default() += 1;
        }
        Self { texts, counts }
    }

    /// The share for each text, 0 to 1.
    pub(super) fn scores(&self, question: &str) -> Vec<f64> {
        let weights: Vec<_> = lexemes(question)
            .into_keys()
            .map(|lexeme| {
                let weight = self.weight(&lexeme);
                (lexeme, weight)
            })
            .collect();
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let score = |text: &Lexemes| {
            let found =
                weights.iter().filter_map(|(lexeme, weight)| Some(weight * saturated(*text.get(lexeme)?)));
            if total > 0.0 { found.sum::<f64>() / total } else { 0.0 }
        };
        self.texts.iter().map(score).collect()
    }

    /// The inverse document frequency of BM25.
    fn weight(&self, lexeme: &str) -> f64 {
        let with = self.counts.get(lexeme).copied().unwrap_or_default() as f64;
        let without = self.texts.len() as f64 - with;
        ((without + 0.5) / (with + 0.5)).ln_1p()
    }
}

/// `ts_rank` of a single lexeme: the first n terms of 1 + 1/4 + 1/9 + …, as a share of the whole series.
fn saturated(count: u32) -> f64 {
    let terms: f64 = (1..=count).map(|n| f64::from(n).powi(-2)).sum();
    terms / (std::f64::consts::PI.powi(2) / 6.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_word_and_its_forms_weigh_more_than_a_common_one() {
        let index = WordIndex::new(
            ["Parcels arrive.", "The shop ships a parcel.", "A refunded parcel."].map(lexemes).into(),
        );
        let scores = index.scores("When is the parcel refunded?");
        assert!(scores[2] > 0.55 && scores[2] < 0.62, "{scores:?}");
        assert!(scores[0] < 0.2 && (scores[0] - scores[1]).abs() < 1e-12, "{scores:?}");
    }

    #[test]
    fn counts_saturate_as_in_the_database() {
        for (count, expected) in [(1, 0.6079), (2, 0.7599), (3, 0.8274)] {
            assert!((saturated(count) - expected).abs() < 1e-3);
        }
    }
}
