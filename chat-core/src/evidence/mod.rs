//! Is there enough evidence to answer?
//!
//! Two gates. The first is the floor the product was specified with: the cosine of a passage or one of its sentences. It alone
//! answers a third of the questions that have nothing to do with the knowledge base, so the second asks for a confidence
//! that also looks at words and at what such questions reach in this knowledge base; see [`calibration`]. A question whose
//! script the model cannot read has no cosine worth the name: there, words alone decide.

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
pub(crate) use signals::fit;

/// What evidence has to reach, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EvidenceThresholds {
    /// Smallest cosine of the best passage or sentence, -1 to 1.
    pub similarity: f64,
    /// Smallest calibrated confidence, 0 to 1; 0 turns this gate off.
    pub confidence: f64,
    /// What questions about something else reach in this knowledge base.
    pub background: Background,
}

impl Default for EvidenceThresholds {
    fn default() -> Self {
        Self { similarity: 0.35, confidence: DEFAULT_CONFIDENCE, background: Background::default() }
    }
}

/// What was found for a question, weighed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Assessment {
    /// The best passage's cosine; `None` if nothing was found.
    pub best_similarity: Option<f64>,
    /// What the confidence is made from; `None` if there is no sentence to look at.
    pub signals: Option<Signals>,
    /// The log-odds that the passages answer the question, before they are held against [`EvidenceThresholds::background`]; `None`
    /// without signals, and where the model cannot read the question.
    pub evidence: Option<f64>,
    /// The probability that the passages answer the question; 0 without signals.
    pub confidence: f64,
    /// The passages in order of rank.
    pub passages: Vec<PassageAssessment>,
    /// Which gate the evidence failed; `None` if it is enough.
    pub failed: Option<Reason>,
}

/// One passage, weighed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PassageAssessment {
    /// The passage.
    pub chunk_id: Uuid,
    /// Its cosine.
    pub similarity: f64,
    /// The best cosine among its sentences.
    pub best_sentence: Option<f64>,
    /// Share of the question's vocabulary it holds, as the search says.
    pub lexical: Option<f64>,
    /// What it is ranked by.
    pub score: f64,
    /// The confidence if it were the only passage.
    pub confidence: f64,
    /// Whether it may be quoted: it or one of its sentences reaches [`EvidenceThresholds::similarity`]; or, where the model cannot read the
    /// question, it holds a word of it.
    pub qualifies: bool,
}

/// How good a passage's evidence is, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// Nearly all cited passages of this strength are of a document that answers, by the evaluation sets (`gold_of_strong`
    /// of `cargo xtask bench retrieval`).
    Strong,
    /// Four of five are.
    Good,
    /// It is about the subject; whether it answers is open.
    Partial,
}

impl Strength {
    /// The band a passage's [`confidence`](PassageAssessment::confidence) lies in.
    pub fn of(confidence: f64) -> Self {
        match confidence {
            c if c >= calibration::STRONG => Self::Strong,
            c if c >= calibration::GOOD => Self::Good,
            _ => Self::Partial,
        }
    }
}

/// Weighs the rows of a search for a question.
pub fn assess(question: &str, rows: &[MatchedChunk], gates: &EvidenceThresholds) -> Assessment {
    let passages = ranked(rows);
    weigh(&Question::new(question, query_terms(rows), &passages), &passages, gates)
}

/// The rows as passages, best first: those within the [limits](crate::limits), and no more of them than one question may
/// look at.
pub(crate) fn ranked(rows: &[MatchedChunk]) -> Vec<Passage<'_>> {
    let mut rows: Vec<_> = rows.iter().filter(|row| row.is_within_limits()).collect();
    rows.sort_by(|a, b| b.rank_score().total_cmp(&a.rank_score()));
    rows.into_iter().take(MAX_MATCH_COUNT).map(Passage::new).collect()
}

/// The question's words as the search weighed them.
pub(crate) fn query_terms(rows: &[MatchedChunk]) -> Option<&[crate::chunk::QueryTerm]> {
    rows.iter().find_map(|row| row.query_terms.as_deref())
}

pub(crate) fn weigh(question: &Question, passages: &[Passage<'_>], gates: &EvidenceThresholds) -> Assessment {
    let similarities = passages.iter().map(|passage| passage.chunk.similarity);
    let best_similarity = similarities.filter(|cosine| !cosine.is_nan()).reduce(f64::max);
    let signals = Signals::of(question, passages);
    let evidence = signals.as_ref().filter(|_| question.is_readable()).map(calibration::evidence);
    let confidence = confidence(question, passages, signals.as_ref(), gates);
    let weighed: Vec<_> = passages.iter().map(|passage| weigh_alone(question, passage, gates)).collect();
    let failed = if !weighed.iter().any(|passage| passage.qualifies) {
        Some(Reason::NoMatch)
    } else if confidence >= gates.confidence {
        None
    } else if question.is_readable() {
        Some(Reason::WeakEvidence)
    } else {
        Some(Reason::UnreadableLanguage)
    };
    Assessment { best_similarity, signals, evidence, confidence, passages: weighed, failed }
}

fn weigh_alone(question: &Question, passage: &Passage<'_>, gates: &EvidenceThresholds) -> PassageAssessment {
    let best_sentence = passage.best_sentence();
    let reaches = |cosine: f64| cosine >= gates.similarity;
    let alone = std::slice::from_ref(passage);
    PassageAssessment {
        chunk_id: passage.chunk.chunk_id,
        similarity: passage.chunk.similarity,
        best_sentence,
        lexical: passage.chunk.lexical,
        score: passage.chunk.rank_score(),
        confidence: confidence(question, alone, Signals::of(question, alone).as_ref(), gates),
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
    gates: &EvidenceThresholds,
) -> f64 {
    if !question.is_readable() {
        return calibration::confidence_by_words(signals::best_coverage(question, passages));
    }
    signals.map_or(0.0, |signals| gates.background.confidence(calibration::evidence(signals)))
}

/// Vectors of different models cannot be compared: refuses to search with one against the other.
pub fn check_model(question_model: Option<&str>, rows: &[MatchedChunk]) -> Result<(), ApiError> {
    let Some(question_model) = question_model else { return Ok(()) };
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
