//! How much evidence is enough: a linear model over the three [`Signals`], held against what questions about something else
//! reach in the same knowledge base.
//!
//! Fitted by logistic regression to the sets named in [`FITTED_ON`], each weighing the same, on the rows of the real search:
//! `cargo xtask eval fit` prints the four coefficients. They belong to the embedder's fingerprint, to the ranking of
//! `match_chunks` and to five passages or more a search: a change of any asks for a new fit.

use serde::{Deserialize, Serialize};

use super::signals::Signals;

/// The evaluation sets that the coefficients were fitted on. Figures of others are published.
pub const FITTED_ON: [&str; 5] = ["squad", "covidfaq-en", "xquad-de", "library", "devtool"];

/// Smallest confidence of an answer, unless configured otherwise.
pub const DEFAULT_CONFIDENCE: f64 = 0.5;

const INTERCEPT: f64 = -6.13;
const SENTENCE: f64 = 4.70;
const SCORE: f64 = 7.41;
const MEAN_SIMILARITY: f64 = 4.25;

/// The log-odds that passages with these signals answer the question, with as many questions that they answer as others.
pub(crate) fn evidence(signals: &Signals) -> f64 {
    INTERCEPT
        + SENTENCE * signals.sentence
        + SCORE * signals.score
        + MEAN_SIMILARITY * signals.mean_similarity
}

/// What questions that a knowledge base does not answer reach there. A general encyclopaedia comes near to any question, a
/// price list to few; so each is calibrated to itself (`kb sync` measures it with a bank of general questions).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Background {
    /// Mean [`evidence`](super::Assessment::evidence) of such questions, as log-odds.
    pub mean: f64,
    /// Standard deviation of the same.
    pub deviation: f64,
}

impl Default for Background {
    /// Between those of an encyclopaedia (-2.2 ± 1.6) and of a collection of frequent questions (-3.5 ± 1.2).
    fn default() -> Self {
        Self { mean: -2.6, deviation: 1.5 }
    }
}

/// So many standard deviations above the mean, a question about something else is rare: 1 of 300 were they normally
/// distributed. They have a longer tail: 1 of 45 of SQuAD's is answered (`cargo xtask bench retrieval`).
const DEVIATIONS: f64 = 2.7;

/// However a knowledge base was measured, odds of less than four to three are never enough, and evidence above the second
/// always is.
const BOUNDS: (f64, f64) = (0.3, 2.5);

impl Background {
    /// The evidence at which the confidence is one half.
    pub(crate) fn midpoint(&self) -> f64 {
        let midpoint = self.mean + DEVIATIONS * self.deviation;
        if midpoint.is_nan() { Self::default().midpoint() } else { midpoint.clamp(BOUNDS.0, BOUNDS.1) }
    }

    /// The probability that so much evidence answers a question.
    pub fn confidence(&self, evidence: f64) -> f64 {
        logistic(evidence - self.midpoint())
    }
}

/// The share of the question's vocabulary at which words alone are believed. Of Arabic questions about something else
/// (XQuAD), one in fifty reaches it.
const WORDS_ALONE: f64 = 0.41;
/// How fast the confidence grows with that share.
const WORDS_SLOPE: f64 = 20.0;

/// The confidence where the model cannot read the question, by the share of its vocabulary that one sentence holds.
pub(crate) fn confidence_by_words(coverage: f64) -> f64 {
    logistic(WORDS_SLOPE * (coverage - WORDS_ALONE))
}

fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// Smallest confidence of a passage that is called strong evidence.
pub(super) const STRONG: f64 = 0.98;
/// Smallest confidence of a passage that is called good evidence; below, it is partial.
pub(super) const GOOD: f64 = 0.75;
