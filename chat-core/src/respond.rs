//! From the rows of a search to an answer or a refusal: the one decision path of the Worker and of `kb ask`.

use crate::answer::{Answer, compose};
use crate::chunk::MatchedChunk;
use crate::evidence::{Assessment, DEFAULT_CONFIDENCE, EvidenceThresholds, query_terms, ranked, weigh};
use crate::question::Question;
use crate::refusal::Reason;

/// What a question led to, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The evidence, weighed.
    pub assessment: Assessment,
    /// What follows from it.
    pub verdict: Verdict,
}

/// An answer, or the reason why there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The evidence was enough.
    Answer(Answer),
    /// It was not. Never [`Reason::EmptyKb`]: whether there are documents at all, the rows do not tell.
    Refuse(Reason),
}

/// Weighs the rows and answers from them if they are evidence enough.
pub fn respond(
    question: &str,
    rows: &[MatchedChunk],
    gates: &EvidenceThresholds,
    include_citations: bool,
) -> Response {
    let passages = ranked(rows);
    let question = Question::new(question, query_terms(rows), &passages);
    let assessment = weigh(&question, &passages, gates);
    // With the gate opened further than by default, weaker evidence gets through.
    let is_certain = assessment.confidence >= DEFAULT_CONFIDENCE;
    let verdict = match assessment.failed {
        Some(reason) => Verdict::Refuse(reason),
        None => compose(&question, &passages, &assessment, is_certain, include_citations)
            .map_or(Verdict::Refuse(Reason::WeakEvidence), Verdict::Answer),
    };
    Response { assessment, verdict }
}
