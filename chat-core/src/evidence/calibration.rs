//! How much evidence is enough: a logistic model over the five [`Signals`].
//!
//! Fitted by `cargo xtask eval fit` on the questions of an evaluation set that its knowledge base answers and on those it
//! does not; the command prints this file's numbers. They belong to the embedder's fingerprint, to the ranking of
//! `match_chunks` and to five passages or more a search: a change of any asks for a new fit.

use super::signals::Signals;

/// Smallest confidence of an answer, unless configured otherwise.
pub const DEFAULT_CONFIDENCE: f64 = 0.69;

const INTERCEPT: f64 = -12.19;
const SENTENCE: f64 = 5.7;
const WINDOW: f64 = 2.95;
const MEAN_SIMILARITY: f64 = 11.42;
const LEAD: f64 = 7.72;
const MISSING_NAMES: f64 = -1.46;

/// The probability, by the evaluation set, that passages with these signals answer the question.
pub fn confidence(signals: &Signals) -> f64 {
    let sum = INTERCEPT
        + SENTENCE * signals.sentence
        + WINDOW * signals.window
        + MEAN_SIMILARITY * signals.mean_similarity
        + LEAD * signals.lead
        + MISSING_NAMES * signals.missing_names;
    1.0 / (1.0 + (-sum).exp())
}

/// Smallest confidence of a passage that is called strong evidence.
pub(super) const STRONG: f64 = 0.98;
/// Smallest confidence of a passage that is called good evidence; below, it is partial.
pub(super) const GOOD: f64 = 0.75;
