//! How much of a sentence must be in its source.

/// The share of a sentence that a source sentence must have, in order, to be the one that it follows closely: then what is
/// different was exchanged.
pub(super) const MIN_CLOSE_SHARE: f64 = 0.5;
/// The share of a sentence from which on opposites in different places contradict. In a looser paraphrase they may describe
/// different things.
pub(super) const MIN_MOVED_SHARE: f64 = 0.55;
/// The share of a sentence that is a copy of its source but for a word or two.
pub(super) const MIN_COPY_SHARE: f64 = 0.75;
/// How much less of a sentence another source sentence may have than the closest, to be followed instead of it.
pub(super) const MAX_SHARE_DIFFERENCE: f64 = 0.1;
/// The cover of a single sentence that is considered as the source even if others cover more.
pub(super) const MIN_CANDIDATE_COVER: f64 = 0.5;
/// Windows that are considered.
pub(super) const MAX_CANDIDATES: usize = 12;
/// What the model's own marker adds to the value of a window.
pub(super) const NAMED_BONUS: f64 = 0.02;
/// What a second source may cover less than the first.
pub(super) const WORSE_SECOND: f64 = 0.1;
/// Sentences that are added to those of the sources when words are weighted.
pub(super) const PRIOR_SENTENCES: f64 = 8.0;
/// The score of a sentence that is sent.
pub(super) const MIN_SCORE: f64 = 0.3;

/// Content words of a short sentence, in which each one may decide.
pub(super) const MAX_TERMS_OF_SHORT: usize = 5;
/// The cover of a short sentence.
pub(super) const MIN_COVER_OF_SHORT: f64 = 0.55;

/// What the score is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Signals {
    /// The share of the sentence's words, by weight, that the windows have.
    pub(super) cover: f64,
    /// The share of its words that the windows and the rest of the first one's passage have.
    pub(super) passage_cover: f64,
    /// The share of the sentence that the closest sentence has in order.
    pub(super) share: f64,
}

const INTERCEPT: f64 = -3.51;
const COVER: f64 = 3.84;
const PASSAGE_COVER: f64 = 4.33;
const SHARE: f64 = 1.58;

impl Signals {
    /// The probability that the sentence follows, if half of all sentences do.
    pub(super) fn score(&self) -> f64 {
        let log_odds =
            INTERCEPT + COVER * self.cover + PASSAGE_COVER * self.passage_cover + SHARE * self.share;
        1.0 / (1.0 + (-log_odds).exp())
    }
}
