//! How much of a sentence must be in its source.
//!
//! The four coefficients of the score are fitted: `cargo xtask eval fit-support` prints them. The other constants are round
//! numbers that were chosen by hand, with an eye on that half of WiCE to which the score is fitted and on corrupted sentences of
//! the evaluation documents: `cargo xtask bench generation` shows what they do, also on the other half.

/// The share of a sentence that a source sentence must have, in order, to be one that it follows closely: then what is
/// different was exchanged. "Fitbit bought Google in 2019" has 0.56 of "Google bought Fitbit in 2019".
pub(super) const MIN_CLOSE_SHARE: f64 = 0.55;
/// The share of a sentence from which on opposites in different places contradict. In a looser paraphrase they may describe
/// different things.
pub(super) const MIN_MOVED_SHARE: f64 = 0.55;
/// The share of a sentence that is a copy of its source but for a word or two. With one of ten words exchanged it is 0.9.
pub(super) const MIN_COPY_SHARE: f64 = 0.75;
/// How much less of a sentence another source sentence may have than the closest, to be followed instead of it.
pub(super) const MAX_SHARE_DIFFERENCE: f64 = 0.1;
/// The cover of a single sentence that is considered as the source even if others cover more.
pub(super) const MIN_CANDIDATE_COVER: f64 = 0.5;
/// Windows that are considered. It bounds the work.
pub(super) const MAX_CANDIDATES: usize = 12;
/// The value that the model's own marker adds to a window: as much as one sentence more costs, so
/// that it decides between equals only.
pub(super) const NAMED_BONUS: f64 = 0.02;
/// The cover by which a second source may fall short of the first.
pub(super) const WORSE_SECOND: f64 = 0.1;
/// Sentences that are added to those of the sources when words are weighted, as many as a passage has.
pub(super) const PRIOR_SENTENCES: f64 = 8.0;
/// The score of a sentence that is sent. It is below 0.5 because most unsupported claims have a number or a name that no source
/// has, and are left out before.
pub(super) const MIN_SCORE: f64 = 0.3;

/// Content words of a short sentence, in which each one may decide.
pub(super) const MAX_TERMS_OF_SHORT: usize = 5;
/// The cover of a short sentence: one rare word of three may be missing, and not two of five.
pub(super) const MIN_COVER_OF_SHORT: f64 = 0.5;

/// The inputs of the score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Signals {
    /// The share of the sentence's words, by weight, that the windows have.
    pub(super) cover: f64,
    /// The share of its words that the windows and the rest of the first one's passage have.
    pub(super) passage_cover: f64,
    /// The share of the sentence that the closest sentence has in order.
    pub(super) share: f64,
}

/// Fitted by `cargo xtask eval fit-support` to one half of the claims of WiCE, by document (246 claims).
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
