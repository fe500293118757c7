//! Turns the rows of a search into an answer or a refusal: the one decision path of the Worker and of `kb ask`.

use crate::answer::{Answer, compose};
use crate::chunk::MatchedChunk;
use crate::evidence::{Assessment, DEFAULT_CONFIDENCE, EvidenceThresholds, assess_all, query_terms, ranked};
use crate::passage::Passage;
use crate::question::Question;
use crate::reach::Reach;
use crate::refusal::Reason;

/// The verdict on a question, and the evidence for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The evidence.
    pub assessment: Assessment,
    /// The decision.
    pub verdict: Verdict,
    /// The thresholds with which the question is answered: those that one of these reaches. Two for a question that leans on the
    /// one before it: alone, and together with it. Empty if it is refused whatever the thresholds.
    pub reaches: Vec<Reach>,
}

/// An answer, or the reason why there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The evidence is enough.
    Answer(Answer),
    /// The evidence is not enough. Never [`Reason::EmptyKb`], because the rows do not show whether there are documents.
    Refuse(Reason),
}

/// Assesses the rows and answers from them if the evidence is enough.
pub fn respond(
    question: &str,
    rows: &[MatchedChunk],
    thresholds: &EvidenceThresholds,
    include_citations: bool,
) -> Response {
    let passages = ranked(rows);
    decide(&Question::new(question, query_terms(rows), &passages), &passages, thresholds, include_citations)
}

/// Assesses passages, best first, and answers from them if the evidence is enough.
pub(crate) fn decide(
    question: &Question,
    passages: &[Passage<'_>],
    thresholds: &EvidenceThresholds,
    include_citations: bool,
) -> Response {
    let assessment = assess_all(question, passages, thresholds);
    // A site may configure a lower threshold than the default; then answers can be uncertain.
    let is_certain = assessment.confidence >= DEFAULT_CONFIDENCE;
    let verdict = match assessment.failed {
        Some(reason) => Verdict::Refuse(reason),
        None => compose(question, passages, &assessment, is_certain, include_citations)
            .map_or(Verdict::Refuse(Reason::WeakEvidence), Verdict::Answer),
    };
    let reaches = Reach::new(question, passages, &assessment).into_iter().collect();
    Response { assessment, verdict, reaches }
}
