//! What the evidence for an answer is measured by.

use crate::passage::{Passage, Sentence};
use crate::question::Question;

/// The passages that are looked at: more of them would change what [`Signals::mean_similarity`] means.
const PASSAGES: usize = 5;

/// Five numbers that say how well the best passages fit a question. What each is worth is in
/// [`calibration`](super::calibration).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Signals {
    /// The best sentence: its similarity (-1 to 1) plus the share of the question's vocabulary it holds (0 to 1).
    pub sentence: f64,
    /// The same, but the sentence's neighbours may hold the vocabulary.
    pub window: f64,
    /// Mean similarity of the passages, -1 to 1: whether the knowledge base is about such things at all.
    pub mean_similarity: f64,
    /// How far the first passage's rank score is ahead of the second's, 0 to 2: a passage that answers stands out. 0 if
    /// there is no second.
    pub lead: f64,
    /// Names and numbers of the question that the first passage does not hold, counted up to [`Signals::MOST_NAMES`].
    pub missing_names: f64,
}

impl Signals {
    /// More names than this do not count.
    pub const MOST_NAMES: usize = 4;

    /// Of the best passages, in order of rank; `None` if none has a sentence.
    pub(crate) fn of(question: &Question, passages: &[Passage<'_>]) -> Option<Self> {
        let passages = passages.get(..PASSAGES).unwrap_or(passages);
        let first = passages.first()?;
        let missing = question.missing_names(|word| first.words.contains(word));
        let similarities =
            || passages.iter().map(|passage| passage.chunk.similarity).filter(|cosine| !cosine.is_nan());
        Some(Self {
            sentence: best(passages, |sentences, at| coverage(question, sentences, at..at + 1))?,
            window: best(passages, |sentences, at| {
                coverage(question, sentences, at.saturating_sub(1)..at + 2)
            })?,
            mean_similarity: similarities().sum::<f64>() / similarities().count().max(1) as f64,
            lead: lead(passages),
            missing_names: missing.min(Self::MOST_NAMES) as f64,
        })
    }
}

fn lead(passages: &[Passage<'_>]) -> f64 {
    let [first, second, ..] = passages else { return 0.0 };
    let lead = first.chunk.rank_score() - second.chunk.rank_score();
    if lead.is_finite() { lead } else { 0.0 }
}

/// The largest sum of a sentence's similarity and what `bonus` says of it.
fn best(passages: &[Passage<'_>], bonus: impl Fn(&[Sentence<'_>], usize) -> f64) -> Option<f64> {
    let of_passage = |passage: &Passage<'_>| {
        let sums = passage.sentences.iter().enumerate();
        sums.map(|(at, sentence)| sentence.similarity + bonus(&passage.sentences, at))
            .filter(|sum| !sum.is_nan())
            .reduce(f64::max)
    };
    passages.iter().filter_map(of_passage).reduce(f64::max)
}

/// What sentences next to each other hold together of the question's vocabulary.
fn coverage(question: &Question, sentences: &[Sentence<'_>], range: std::ops::Range<usize>) -> f64 {
    let range = range.start..range.end.min(sentences.len());
    let window = sentences.get(range).unwrap_or_default();
    question.coverage(|word| window.iter().any(|sentence| sentence.words.contains(word)))
}
