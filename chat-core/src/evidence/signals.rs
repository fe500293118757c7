//! The measured inputs of the confidence.

use crate::passage::{Passage, Sentence};
use crate::question::Question;

/// Passages that are considered. A larger number would change what [`Signals::mean_similarity`] means.
const MAX_SIGNAL_PASSAGES: usize = 5;

/// The maximum weight of vocabulary relative to the cosine, reached by a long question of which a sentence contains every word.
const WORDS_WEIGHT: f64 = 0.7;
/// The weight of a question's vocabulary (inverse document frequencies, in nats) at which vocabulary counts half of
/// [`WORDS_WEIGHT`]. One shared word of two proves little, six of twelve prove much.
const HALF_TRUST_WEIGHT: f64 = 10.0;

/// The relevance of the best passages to a question. Their coefficients are in [`calibration`](super::calibration).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Signals {
    /// The [`relevance`] of the best sentence, -1 to 1.7.
    pub sentence: f64,
    /// The rank score of the first passage, -1 to 1.
    pub score: f64,
    /// Mean similarity of the passages, -1 to 1: whether the knowledge base covers the subject at all.
    pub mean_similarity: f64,
}

impl Signals {
    /// `passages` are in order of rank. `None` if none has a sentence.
    pub(crate) fn new(question: &Question, passages: &[Passage<'_>]) -> Option<Self> {
        let passages = passages.get(..MAX_SIGNAL_PASSAGES).unwrap_or(passages);
        let first = passages.first()?;
        let similarities =
            || passages.iter().map(|passage| passage.chunk.similarity).filter(|cosine| !cosine.is_nan());
        Some(Self {
            sentence: max_over_sentences(passages, |sentence| relevance(question, sentence))?,
            score: first.chunk.rank_score().max(-1.0),
            mean_similarity: similarities().sum::<f64>() / similarities().count().max(1) as f64,
        })
    }
}

/// The relevance of a sentence to a question: its cosine plus up to [`WORDS_WEIGHT`] for the share of the question's vocabulary in
/// the sentence and its headings. If the model cannot read the question, only words count.
pub(crate) fn relevance(question: &Question, sentence: &Sentence<'_>) -> f64 {
    let cosine = if question.is_readable() { sentence.similarity } else { 0.0 };
    let trust = question.weight() / (question.weight() + HALF_TRUST_WEIGHT);
    cosine + WORDS_WEIGHT * trust * coverage(question, sentence)
}

/// The largest share of the question's vocabulary, 0 to 1, in one sentence and its headings.
pub(crate) fn best_coverage(question: &Question, passages: &[Passage<'_>]) -> f64 {
    max_over_sentences(passages.get(..MAX_SIGNAL_PASSAGES).unwrap_or(passages), |sentence| {
        coverage(question, sentence)
    })
    .unwrap_or(0.0)
}

fn coverage(question: &Question, sentence: &Sentence<'_>) -> f64 {
    question.coverage(|word| sentence.contains(word))
}

fn max_over_sentences(passages: &[Passage<'_>], value: impl Fn(&Sentence<'_>) -> f64) -> Option<f64> {
    let sentences = passages.iter().flat_map(|passage| &passage.sentences);
    sentences.map(value).filter(|value| !value.is_nan()).reduce(f64::max)
}
