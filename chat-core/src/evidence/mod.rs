//! Decides whether there is enough evidence to answer.
//!
//! There are two thresholds. The first is the similarity that the product specifies: the cosine of a passage or one of its
//! sentences. Alone it would answer more off-topic questions (`docs/benchmarks.md` compares). The second is a confidence that
//! also considers words and what off-topic questions reach in this knowledge base; see [`calibration`]. If the model cannot
//! read the script of a question, its cosines are meaningless and only words count. If the reader has read passages, the confidence
//! is that of search and reader together.

pub mod calibration;
mod signals;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::chunk::MatchedChunk;
use crate::error::{ApiError, ErrorCode};
use crate::limits::MAX_MATCH_COUNT;
use crate::passage::Passage;
use crate::question::Question;
use crate::refusal::Reason;

pub use calibration::{Background, DEFAULT_CONFIDENCE};
pub use signals::Signals;
pub(crate) use signals::relevance;

/// The evidence that an answer needs, inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EvidenceThresholds {
    /// Minimum cosine of the best passage or sentence, -1 to 1.
    pub similarity: f64,
    /// Minimum calibrated confidence, 0 to 1; 0 turns this threshold off.
    pub confidence: f64,
    /// The evidence of off-topic questions in this knowledge base.
    pub background: Background,
}

impl Default for EvidenceThresholds {
    fn default() -> Self {
        Self { similarity: 0.35, confidence: DEFAULT_CONFIDENCE, background: Background::default() }
    }
}

/// The evidence that a search found for a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Assessment {
    /// The best passage's cosine; `None` if nothing was found.
    pub best_similarity: Option<f64>,
    /// The inputs of the confidence; `None` if no passage has a sentence.
    pub signals: Option<Signals>,
    /// The log-odds that the passages answer the question, before the comparison with [`EvidenceThresholds::background`]; `None`
    /// without signals, and if the model cannot read the question.
    pub evidence: Option<f64>,
    /// The probability that the passages answer the question; 0 without signals. Of search and reader together, if
    /// passages were read.
    pub confidence: f64,
    /// The passages in order of rank.
    pub passages: Vec<PassageAssessment>,
    /// The reason why the evidence is not enough; `None` if it is.
    pub failed: Option<Reason>,
}

/// The evidence of one passage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PassageAssessment {
    /// The passage's id.
    pub chunk_id: Uuid,
    /// Its cosine.
    pub similarity: f64,
    /// The best cosine among its sentences.
    pub best_sentence: Option<f64>,
    /// Share of the question's vocabulary it contains, according to the search.
    pub lexical: Option<f64>,
    /// Its rank score.
    pub score: f64,
    /// The confidence if it were the only passage.
    pub confidence: f64,
    /// Whether it may be quoted: it or one of its sentences reaches [`EvidenceThresholds::similarity`]. If the model cannot
    /// read the question, whether it contains one of its words.
    pub qualifies: bool,
}

/// A grade for a passage's evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// Nearly all cited passages of this grade are of a document that answers the question (`gold_of_strong` of
    /// `cargo xtask bench retrieval`).
    Strong,
    /// Four of five are of a document that answers the question.
    Good,
    /// The passage is about the subject and may not answer the question.
    Partial,
}

impl Strength {
    /// The grade for a [`confidence`](PassageAssessment::confidence).
    pub fn from_confidence(confidence: f64) -> Self {
        match confidence {
            c if c >= calibration::MIN_STRONG_CONFIDENCE => Self::Strong,
            c if c >= calibration::MIN_GOOD_CONFIDENCE => Self::Good,
            _ => Self::Partial,
        }
    }
}

/// Assesses the rows of a search for a question.
pub fn assess(question: &str, rows: &[MatchedChunk], thresholds: &EvidenceThresholds) -> Assessment {
    let passages = ranked(rows);
    assess_all(&Question::new(question, query_terms(rows), &passages), &passages, thresholds)
}

/// The rows as passages, best first: those within the [limits](crate::limits), at most [`MAX_MATCH_COUNT`].
pub(crate) fn ranked(rows: &[MatchedChunk]) -> Vec<Passage<'_>> {
    let mut rows: Vec<_> = rows.iter().filter(|row| row.is_within_limits()).collect();
    rows.sort_by(|a, b| b.rank_score().total_cmp(&a.rank_score()));
    rows.into_iter().take(MAX_MATCH_COUNT).map(Passage::new).collect()
}

/// The question's words with the weights of the search.
pub(crate) fn query_terms(rows: &[MatchedChunk]) -> Option<&[crate::chunk::QueryTerm]> {
    rows.iter().find_map(|row| row.query_terms.as_deref())
}

pub(crate) fn assess_all(
    question: &Question,
    passages: &[Passage<'_>],
    thresholds: &EvidenceThresholds,
) -> Assessment {
    let similarities = passages.iter().map(|passage| passage.chunk.similarity);
    let best_similarity = similarities.filter(|cosine| !cosine.is_nan()).reduce(f64::max);
    let signals = Signals::new(question, passages);
    let evidence = signals.as_ref().filter(|_| question.is_readable()).map(calibration::evidence);
    let confidence = confidence(question, passages, signals.as_ref(), thresholds);
    let assessed: Vec<_> =
        passages.iter().map(|passage| assess_passage(question, passage, thresholds)).collect();
    let assessment =
        Assessment { best_similarity, signals, evidence, confidence, passages: assessed, failed: None };
    Assessment { failed: failure(question, &assessment, thresholds), ..assessment }
}

/// The reason why the evidence is not enough; `None` if it is.
pub(crate) fn failure(
    question: &Question,
    assessment: &Assessment,
    thresholds: &EvidenceThresholds,
) -> Option<Reason> {
    if !assessment.passages.iter().any(|passage| passage.qualifies) {
        Some(Reason::NoMatch)
    } else if assessment.confidence >= thresholds.confidence {
        None
    } else if question.is_readable() {
        Some(Reason::WeakEvidence)
    } else {
        Some(Reason::UnreadableLanguage)
    }
}

fn assess_passage(
    question: &Question,
    passage: &Passage<'_>,
    thresholds: &EvidenceThresholds,
) -> PassageAssessment {
    let best_sentence = passage.best_sentence();
    let reaches = |cosine: f64| cosine >= thresholds.similarity;
    let alone = std::slice::from_ref(passage);
    PassageAssessment {
        chunk_id: passage.chunk.chunk_id,
        similarity: passage.chunk.similarity,
        best_sentence,
        lexical: passage.chunk.lexical,
        score: passage.chunk.rank_score(),
        confidence: confidence(question, alone, Signals::new(question, alone).as_ref(), thresholds),
        qualifies: if question.is_readable() {
            reaches(passage.chunk.similarity) || best_sentence.is_some_and(reaches)
        } else {
            passage.chunk.lexical.is_some_and(|lexical| lexical > 0.0)
        },
    }
}

fn confidence(
    question: &Question,
    passages: &[Passage<'_>],
    signals: Option<&Signals>,
    thresholds: &EvidenceThresholds,
) -> f64 {
    if !question.is_readable() {
        return calibration::confidence_by_words(signals::best_coverage(question, passages));
    }
    signals.map_or(0.0, |signals| thresholds.background.confidence(calibration::evidence(signals)))
}

/// Rejects a question whose vector was made by another model than the vectors of the rows, because they cannot be compared.
pub fn check_model(question_model: &str, rows: &[MatchedChunk]) -> Result<(), ApiError> {
    let differs = |row: &MatchedChunk| row.model.as_deref().is_some_and(|model| model != question_model);
    if rows.iter().any(differs) {
        return Err(ApiError::new(
            ErrorCode::ModelMismatch,
            "The question was embedded with another model than the knowledge base. Reload the page; if that does not \
             help, ask an admin to run `kb reembed`.",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
