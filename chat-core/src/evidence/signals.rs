//! What the evidence for an answer is measured by.

use crate::passage::{Passage, Sentence};
use crate::question::Question;

/// The passages that are looked at: more of them would change what [`Signals::mean_similarity`] means.
const PASSAGES: usize = 5;

/// What a question's vocabulary in a sentence is worth, at most, beside a cosine of 1: with a long question and all of it there.
const WORDS_WEIGHT: f64 = 0.7;
/// The weight of a question's vocabulary, as inverse document frequencies in nats, at which words count half of that. One
/// shared word of two proves little, six of twelve prove much.
const HALF_KNOWN: f64 = 10.0;

/// Three numbers that say how well the best passages fit a question. What each is worth is in
/// [`calibration`](super::calibration).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Signals {
    /// The [`fit`] of the best sentence, -1 to 1.7.
    pub sentence: f64,
    /// The rank score of the first passage, -1 to 1.
    pub score: f64,
    /// Mean similarity of the passages, -1 to 1: whether the knowledge base is about such things at all.
    pub mean_similarity: f64,
}

impl Signals {
    /// Of the best passages, in order of rank; `None` if none has a sentence.
    pub(crate) fn of(question: &Question, passages: &[Passage<'_>]) -> Option<Self> {
        let passages = passages.get(..PASSAGES).unwrap_or(passages);
        let first = passages.first()?;
        let similarities =
            || passages.iter().map(|passage| passage.chunk.similarity).filter(|cosine| !cosine.is_nan());
        Some(Self {
            sentence: best(passages, |sentence| fit(question, sentence))?,
            score: first.chunk.rank_score().max(-1.0),
            mean_similarity: similarities().sum::<f64>() / similarities().count().max(1) as f64,
        })
    }
}

/// How well a sentence fits a question: its cosine, and up to [`WORDS_WEIGHT`] for the share of the question's vocabulary that
/// it holds with what it stands under. Of a question that the model cannot read, only words count.
pub(crate) fn fit(question: &Question, sentence: &Sentence<'_>) -> f64 {
    let cosine = if question.is_readable() { sentence.similarity } else { 0.0 };
    let trust = question.weight() / (question.weight() + HALF_KNOWN);
    cosine + WORDS_WEIGHT * trust * coverage(question, sentence)
}

/// The largest share of the question's vocabulary, 0 to 1, that one sentence holds with what it stands under.
pub(crate) fn best_coverage(question: &Question, passages: &[Passage<'_>]) -> f64 {
    best(passages.get(..PASSAGES).unwrap_or(passages), |sentence| coverage(question, sentence)).unwrap_or(0.0)
}

fn coverage(question: &Question, sentence: &Sentence<'_>) -> f64 {
    question.coverage(|word| sentence.holds(word))
}

fn best(passages: &[Passage<'_>], value: impl Fn(&Sentence<'_>) -> f64) -> Option<f64> {
    let sentences = passages.iter().flat_map(|passage| &passage.sentences);
    sentences.map(value).filter(|value| !value.is_nan()).reduce(f64::max)
}
