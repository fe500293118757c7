//! Turns the rows of a search into an answer or a refusal: the one decision path of the Worker and of `kb ask`.

use crate::answer::{Answer, compose};
use crate::chunk::MatchedChunk;
use crate::decision::DecidedBy;
use crate::evidence::calibration::confidence_with_reader;
use crate::evidence::{
    Assessment, DEFAULT_CONFIDENCE, EvidenceThresholds, assess_all, failure, query_terms, ranked,
};
use crate::passage::Passage;
use crate::question::Question;
use crate::reading::Reading;
use crate::refusal::Reason;

/// The verdict on a question, and the evidence for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The evidence.
    pub assessment: Assessment,
    /// The decision.
    pub verdict: Verdict,
    /// The judge: search and reader, or the search alone.
    pub decided_by: DecidedBy,
}

/// An answer, or the reason why there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The evidence is enough.
    Answer(Answer),
    /// The evidence is not enough. Never [`Reason::EmptyKb`], because the rows do not show whether there are documents.
    Refuse(Reason),
}

/// Assesses the rows and answers from them if the evidence is enough. Without a reading of one of the passages, the search alone
/// decides.
pub fn respond(
    question: &str,
    rows: &[MatchedChunk],
    reading: Option<&Reading>,
    thresholds: &EvidenceThresholds,
    include_citations: bool,
) -> Response {
    let mut search = Search::new(question, rows, thresholds);
    apply(reading, &mut [&mut search]);
    search.respond(include_citations)
}

/// The passages found for a question, assessed.
pub(crate) struct Search<'r> {
    pub(crate) question: Question,
    /// Best first.
    pub(crate) passages: Vec<Passage<'r>>,
    pub(crate) assessment: Assessment,
    thresholds: EvidenceThresholds,
    /// The confidence without the reader.
    confidence: f64,
    decided_by: DecidedBy,
}

impl<'r> Search<'r> {
    /// The search for a question alone.
    pub(crate) fn new(question: &str, rows: &'r [MatchedChunk], thresholds: &EvidenceThresholds) -> Self {
        let passages = ranked(rows);
        Self::assessed(Question::new(question, query_terms(rows), &passages), passages, thresholds)
    }

    pub(crate) fn assessed(
        question: Question,
        passages: Vec<Passage<'r>>,
        thresholds: &EvidenceThresholds,
    ) -> Self {
        let assessment = assess_all(&question, &passages, thresholds);
        let (confidence, decided_by) = (assessment.confidence, DecidedBy::Search);
        Self { question, passages, assessment, thresholds: *thresholds, confidence, decided_by }
    }

    /// Takes what the reader says about each passage, `None` if it did not read it. Without effect if the question is not for the
    /// reader.
    pub(crate) fn apply(&mut self, of_passages: &[Option<&[Option<f32>]>]) {
        if !self.question.is_for_reader() {
            return;
        }
        self.decided_by = DecidedBy::Reader;
        for (passage, z) in self.passages.iter_mut().zip(of_passages) {
            passage.read(z.unwrap_or_default());
        }
        let qualifying = self.passages.iter().zip(&self.assessment.passages);
        let qualifying = qualifying.filter(|(_, assessed)| assessed.qualifies);
        if let Some(z) = qualifying.filter_map(|(passage, _)| passage.best_z()).reduce(f64::max) {
            self.assessment.confidence = confidence_with_reader(self.confidence, z);
            self.assessment.failed = failure(&self.question, &self.assessment, &self.thresholds);
        }
    }

    /// Whether the evidence is enough and there is something to quote.
    pub(crate) fn is_answered(&self) -> bool {
        let mut passages = self.passages.iter().zip(&self.assessment.passages);
        self.assessment.failed.is_none()
            && passages.any(|(passage, assessed)| assessed.qualifies && !passage.sentences.is_empty())
    }

    /// Answers if the evidence is enough.
    pub(crate) fn respond(self, include_citations: bool) -> Response {
        let Self { question, passages, assessment, decided_by, .. } = self;
        // A site may configure a lower threshold than the default; then answers can be uncertain.
        let is_certain = assessment.confidence >= DEFAULT_CONFIDENCE;
        let verdict = match assessment.failed {
            Some(reason) => Verdict::Refuse(reason),
            None => compose(&question, &passages, &assessment, is_certain, include_citations)
                .map_or(Verdict::Refuse(Reason::WeakEvidence), Verdict::Answer),
        };
        Response { assessment, verdict, decided_by }
    }
}

/// Lets a reading take part in the decision on the searches for a question, if it is of a passage of one of them.
pub(crate) fn apply(reading: Option<&Reading>, searches: &mut [&mut Search<'_>]) {
    let Some(reading) = reading else { return };
    let of_searches: Vec<_> = searches.iter().map(|search| reading.of(&search.passages)).collect();
    if of_searches.iter().flatten().any(Option::is_some) {
        for (search, of_passages) in searches.iter_mut().zip(of_searches) {
            search.apply(&of_passages);
        }
    }
}
