//! The outcome of a question, in a form that can be stored and replayed verbatim.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::answer::{Answer, Citation};
use crate::decision::Basis;
use crate::event::Event;
use crate::found::FoundPassage;
use crate::generation_report::{AnswerMode, GenerationReport};
use crate::limits::{MAX_LINK_BYTES, json_bytes};
use crate::refusal::Refusal;

/// The outcome of a question. It is stored under the `message_id` and replayed when the question is sent again. Its JSON is
/// for storage; clients get [`Outcome::as_json`] or the events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Outcome {
    /// The evidence is enough.
    Answer(AnswerOutcome),
    /// The evidence is not enough.
    Refusal(Refusal),
}

/// An answer with its ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerOutcome {
    /// The session of the question.
    pub session_id: Uuid,
    /// The id of the assistant's message.
    pub message_id: Uuid,
    /// Whether question and answer are in the history.
    pub persisted: bool,
    /// The text in the pieces in which it is streamed.
    pub deltas: Vec<String>,
    /// The author of the words; absent if they are quotes.
    #[serde(default, skip_serializing_if = "AnswerMode::is_extractive")]
    pub mode: AnswerMode,
    /// Whether the passages are about the subject but may not answer the question.
    pub hedged: bool,
    /// The passages that the text quotes or follows from.
    pub citations: Vec<Citation>,
    /// Other passages near the question, which the text does not quote.
    pub also_found: Vec<FoundPassage>,
    /// The document numbers in the text.
    pub referenced_indices: Vec<u32>,
    /// How the answer was written, if a model was to write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<GenerationReport>,
    /// The decision, and the searched text.
    #[serde(flatten)]
    pub basis: Basis,
}

impl Outcome {
    /// An answer that is not yet in the history.
    pub fn answer(answer: Answer, session_id: Uuid, message_id: Uuid) -> Self {
        let Answer { mode, deltas, hedged, citations, also_found, referenced_indices, .. } = answer;
        Self::Answer(AnswerOutcome {
            session_id,
            message_id,
            persisted: false,
            mode,
            deltas,
            hedged,
            citations,
            also_found,
            referenced_indices,
            generation: None,
            basis: Basis::default(),
        })
    }

    /// Records the decision and the searched text.
    pub fn set_basis(&mut self, basis: Basis) {
        match self {
            Self::Answer(answer) => answer.basis = basis,
            Self::Refusal(refusal) => refusal.basis = basis,
        }
    }

    /// The decision, and the searched text.
    pub fn basis(&self) -> &Basis {
        match self {
            Self::Answer(answer) => &answer.basis,
            Self::Refusal(refusal) => &refusal.basis,
        }
    }

    /// Records how an answer was written.
    pub fn set_generation(&mut self, report: GenerationReport) {
        if let Self::Answer(answer) = self {
            answer.generation = Some(report);
        }
    }

    /// Records that question and outcome are in the history, in this session.
    pub fn mark_persisted(&mut self, session: Uuid) {
        match self {
            Self::Answer(answer) => {
                answer.session_id = session;
                answer.persisted = true;
            }
            Self::Refusal(refusal) => {
                refusal.session_id = Some(session);
                refusal.persisted = true;
            }
        }
    }

    /// Records that question and outcome are not in the history.
    pub fn mark_not_persisted(&mut self) {
        match self {
            Self::Answer(answer) => answer.persisted = false,
            Self::Refusal(refusal) => {
                refusal.session_id = None;
                refusal.persisted = false;
            }
        }
    }

    /// The assistant's message in the history.
    pub fn text(&self) -> String {
        match self {
            Self::Answer(answer) => answer.deltas.concat(),
            Self::Refusal(refusal) => refusal.message.clone(),
        }
    }

    /// The citations in the history.
    pub fn citations(&self) -> &[Citation] {
        match self {
            Self::Answer(answer) => &answer.citations,
            Self::Refusal(_) => &[],
        }
    }

    /// The documents that it quotes or lists as further reading.
    pub fn documents(&self) -> BTreeSet<Uuid> {
        let (citations, found) = match self {
            Self::Answer(answer) => (answer.citations.as_slice(), &answer.also_found),
            Self::Refusal(refusal) => (&[][..], &refusal.nearest),
        };
        let cited = citations.iter().map(|citation| citation.passage.document_id);
        cited.chain(found.iter().map(|passage| passage.document_id)).collect()
    }

    /// Sets the download link of each passage whose document has one within the length limit.
    pub fn set_download_urls(&mut self, url_of: impl Fn(Uuid) -> Option<String>) {
        let url_of = |document| url_of(document).filter(|url| json_bytes(url) <= MAX_LINK_BYTES);
        let (citations, found) = match self {
            Self::Answer(answer) => (answer.citations.as_mut_slice(), &mut answer.also_found),
            Self::Refusal(refusal) => (&mut [][..], &mut refusal.nearest),
        };
        for passage in citations.iter_mut().map(|citation| &mut citation.passage).chain(found) {
            passage.download_url = url_of(passage.document_id);
        }
    }

    /// Whether question and outcome are in the history.
    pub fn is_persisted(&self) -> bool {
        match self {
            Self::Answer(answer) => answer.persisted,
            Self::Refusal(refusal) => refusal.persisted,
        }
    }

    /// The name of the outcome for the log.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Answer(_) => "answer",
            Self::Refusal(refusal) => refusal.reason.as_str(),
        }
    }

    /// The events that do not depend on whether the history is written.
    pub fn opening_events(&self) -> Vec<Event<'_>> {
        let Self::Answer(answer) = self else { return Vec::new() };
        let AnswerOutcome { session_id, hedged, mode, .. } = *answer;
        let start = Event::AnswerStart { session_id, hedged, mode };
        let deltas = answer.deltas.iter().map(|text| Event::AnswerDelta { text });
        let sources = Event::Sources {
            citations: &answer.citations,
            also_found: &answer.also_found,
            referenced_indices: &answer.referenced_indices,
        };
        [start].into_iter().chain(deltas).chain([sources]).collect()
    }

    /// The event that ends the stream.
    pub fn terminal_event(&self) -> Event<'_> {
        match self {
            Self::Answer(answer) => Event::AnswerEnd {
                message_id: answer.message_id,
                persisted: answer.persisted,
                generation: answer.generation.as_ref(),
                basis: &answer.basis,
            },
            Self::Refusal(refusal) => Event::Refusal(refusal),
        }
    }

    /// The outcome as one JSON document, for clients that do not stream: as stored, but with the text
    /// in one piece.
    ///
    /// # Errors
    /// None is expected: all keys are texts.
    pub fn as_json(&self) -> Result<Value, serde_json::Error> {
        let mut json = serde_json::to_value(self)?;
        if let (Self::Answer(_), Some(fields)) = (self, json.as_object_mut()) {
            fields.remove("deltas");
            fields.insert("text".to_owned(), self.text().into());
        }
        Ok(json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::tests::chunk;
    use crate::decision::{DecidedBy, Searched};
    use crate::refusal::Reason;
    use serde_json::json;

    fn answer() -> Outcome {
        let row = chunk(1, 1, 0.5, "Refunds take 5 days. Refunds are free.");
        let thresholds = crate::evidence::EvidenceThresholds { confidence: 0.0, ..Default::default() };
        let crate::Verdict::Answer(answer) =
            crate::respond("refunds", &[row], None, &thresholds, true).verdict
        else {
            panic!("refused")
        };
        Outcome::answer(answer, Uuid::from_u128(10), Uuid::from_u128(11))
    }

    #[test]
    fn an_outcome_survives_storage_unchanged() {
        let mut answer = answer();
        answer.mark_persisted(Uuid::from_u128(10));
        let mut joined = answer.clone();
        joined.set_basis(basis());
        let refusal = Outcome::Refusal(Refusal::new(Reason::EmptyKb, &[], 0.35));
        let mut joined_refusal = refusal.clone();
        joined_refusal.set_basis(basis());
        for outcome in [answer, joined, refusal, joined_refusal] {
            let stored = serde_json::to_string(&outcome).unwrap();
            assert_eq!(serde_json::from_str::<Outcome>(&stored).unwrap(), outcome);
        }
    }

    fn basis() -> Basis {
        let searched = Searched { searched: Some("How long? Refunds?".to_owned()), truncated: true };
        Basis { decided_by: DecidedBy::Reader, searched }
    }

    #[test]
    fn the_terminal_event_and_the_document_say_what_was_searched_only_if_it_was_not_just_the_question() {
        for mut outcome in [answer(), Outcome::Refusal(Refusal::new(Reason::NoMatch, &[], 0.35))] {
            let wires = |outcome: &Outcome| {
                [serde_json::to_value(outcome.terminal_event()).unwrap(), outcome.as_json().unwrap()]
            };
            for wire in wires(&outcome) {
                assert_eq!((wire.get("searched"), wire.get("truncated")), (None, None));
            }
            outcome.set_basis(basis());
            assert_eq!(outcome.basis(), &basis());
            for wire in wires(&outcome) {
                assert_eq!(
                    (&wire["searched"], &wire["truncated"]),
                    (&json!("How long? Refunds?"), &json!(true))
                );
            }
        }
    }

    #[test]
    fn an_answer_is_start_deltas_sources_end() {
        let answer = answer();
        let names: Vec<_> = answer.opening_events().iter().map(Event::name).collect();
        assert_eq!(names, ["answer_start", "answer_delta", "answer_delta", "sources"]);
        assert_eq!(answer.terminal_event().name(), "answer_end");
    }

    #[test]
    fn the_json_document_has_the_same_content_as_the_events() {
        let document = answer().as_json().unwrap();
        assert_eq!(document["type"], "answer");
        assert_eq!(document["text"], "Refunds take 5 days. [1] Refunds are free. [1]");
        assert_eq!(document["persisted"], false);
        assert_eq!(document["citations"][0]["index"], 1);
        assert_eq!(document.get("deltas"), None);
    }

    #[test]
    fn a_refusal_has_a_session_id_only_if_persisted() {
        let mut refusal = Outcome::Refusal(Refusal::new(Reason::NoMatch, &[], 0.35));
        assert!(refusal.opening_events().is_empty());
        let wire = refusal.as_json().unwrap();
        assert_eq!((&wire["type"], wire.get("session_id")), (&json!("refusal"), None));
        refusal.mark_persisted(Uuid::from_u128(10));
        let wire = refusal.as_json().unwrap();
        assert_eq!((&wire["session_id"], &wire["persisted"]), (&json!(Uuid::from_u128(10)), &json!(true)));
        refusal.mark_not_persisted();
        let wire = refusal.as_json().unwrap();
        assert_eq!((wire.get("session_id"), &wire["persisted"]), (None, &json!(false)));
    }
}
