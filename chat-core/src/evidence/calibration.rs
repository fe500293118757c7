//! How much evidence is enough: a linear model over the three [`Signals`], compared to what off-topic questions reach in the
//! same knowledge base.
//!
//! Fitted by logistic regression to the sets in [`FITTED_ON`], weighted equally, on the rows of the real search:
//! `cargo xtask eval fit` prints the four coefficients. They are valid for one embedder fingerprint, one ranking of
//! `match_chunks`, and searches of five passages or more: fit them again if any of these changes.

use serde::{Deserialize, Serialize};

use super::signals::Signals;

/// The evaluation sets that the coefficients were fitted on. Published figures are of other sets.
pub const FITTED_ON: [&str; 5] = ["squad", "covidfaq-en", "xquad-de", "library", "devtool"];

/// The minimum confidence of an answer by default.
pub const DEFAULT_CONFIDENCE: f64 = 0.5;

const INTERCEPT: f64 = -6.04;
const SENTENCE: f64 = 5.07;
const SCORE: f64 = 7.07;
const MEAN_SIMILARITY: f64 = 3.88;

/// The log-odds that passages with these signals answer the question, if half of all questions have an answer.
pub(crate) fn evidence(signals: &Signals) -> f64 {
    INTERCEPT
        + SENTENCE * signals.sentence
        + SCORE * signals.score
        + MEAN_SIMILARITY * signals.mean_similarity
}

/// The evidence that off-topic questions reach in a knowledge base. It is high in a general encyclopaedia and low in a price
/// list, so each knowledge base has its own calibration (`kb sync` measures it with a bank of general questions).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Background {
    /// Mean [`evidence`](super::Assessment::evidence) of such questions, as log-odds.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
}

impl Default for Background {
    /// Between an encyclopaedia (-2.2 ± 1.6) and an FAQ (-3.5 ± 1.2).
    fn default() -> Self {
        Self { mean: -2.6, deviation: 1.5 }
    }
}

/// The midpoint's distance from the mean, in standard deviations. In a normal distribution 1 of 300 off-topic questions would
/// exceed it. The tail is longer: 1 of 45 of SQuAD's is answered (`cargo xtask bench retrieval`).
const DEVIATIONS: f64 = 2.7;

/// Bounds of the midpoint, whatever the calibration: odds below four to three are never enough, and evidence above the second
/// bound always is.
const MIDPOINT_BOUNDS: (f64, f64) = (0.3, 2.5);

impl Background {
    /// The evidence at which the confidence is 0.5.
    pub(crate) fn midpoint(&self) -> f64 {
        let midpoint = self.mean + DEVIATIONS * self.deviation;
        if midpoint.is_nan() {
            Self::default().midpoint()
        } else {
            midpoint.clamp(MIDPOINT_BOUNDS.0, MIDPOINT_BOUNDS.1)
        }
    }

    /// The probability that passages with this evidence answer a question.
    pub fn confidence(&self, evidence: f64) -> f64 {
        logistic(evidence - self.midpoint())
    }
}

/// The share of the question's vocabulary at which the confidence by words alone is 0.5. One in fifty off-topic Arabic
/// questions (XQuAD) reaches it.
const WORDS_MIDPOINT: f64 = 0.41;
/// The slope of the confidence over that share.
const WORDS_SLOPE: f64 = 20.0;

/// The confidence for a question that the model cannot read, from the share of its vocabulary that one sentence contains.
pub(crate) fn confidence_by_words(coverage: f64) -> f64 {
    logistic(WORDS_SLOPE * (coverage - WORDS_MIDPOINT))
}

/// The fingerprint of the reader for which the constants below were chosen. The reading of another one is not used.
pub const READER: &str = "a44cd1534f8a1521";

/// How much a statement's z adds to its score. From 0.05 to 0.1 the choice is equally good.
pub(crate) const READER_WEIGHT: f64 = 0.06;

/// How far the search may fall short, in log-odds, if the reader finds an answer.
const SEARCH_ALLOWANCE: f64 = 0.5;
/// The z at which the confidence is 0.5.
///
/// This constant and [`SEARCH_ALLOWANCE`] answer the fewest near misses without refusing more than 2 % of a set's answerable
/// questions that the search alone answers (`cargo xtask eval fit-reader`).
const READER_MIDPOINT: f64 = -1.7;

/// The probability that one of the passages answers the question: the smaller one of two, from the confidence of the search and
/// from the largest z of their statements. The similarity shows what a question is about, so it alone keeps off-topic questions
/// out; z shows whether the question is answered, so a near miss must pass both.
pub(crate) fn confidence_with_reader(search: f64, z: f64) -> f64 {
    logistic((log_odds(search) + SEARCH_ALLOWANCE).min(z - READER_MIDPOINT))
}

/// The log-odds of a probability, finite for 0 and 1.
pub(crate) fn log_odds(probability: f64) -> f64 {
    let probability = probability.clamp(1e-9, 1.0 - 1e-9);
    (probability / (1.0 - probability)).ln()
}

fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// Passages with at least this confidence are strong evidence.
pub(super) const MIN_STRONG_CONFIDENCE: f64 = 0.98;
/// Passages with at least this confidence are good evidence, others partial.
pub(super) const MIN_GOOD_CONFIDENCE: f64 = 0.75;
