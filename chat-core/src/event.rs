//! The events of a response stream and their encoding as server-sent events.

use serde::Serialize;
use uuid::Uuid;

use crate::answer::Citation;
use crate::decision::Basis;
use crate::error::ErrorBody;
use crate::found::FoundPassage;
use crate::generation_report::{AnswerMode, GenerationReport};
use crate::refusal::Refusal;

/// A comment line that keeps an idle connection open; clients skip it.
pub const HEARTBEAT: &str = ": heartbeat\n\n";

/// One event. Its JSON repeats the name as `type`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event<'a> {
    /// Work goes on before the first words of an answer. Clients may ignore it.
    Progress {
        /// The current stage.
        stage: Stage,
    },
    /// Begins an answer.
    AnswerStart {
        /// The session of the question.
        session_id: Uuid,
        /// Whether the passages are about the subject but may not answer the question.
        hedged: bool,
        /// The author of the words; absent if they are quotes.
        #[serde(skip_serializing_if = "AnswerMode::is_extractive")]
        mode: AnswerMode,
    },
    /// A piece of the text.
    AnswerDelta {
        /// The piece, with its markers.
        text: &'a str,
    },
    /// The passages behind the text.
    Sources {
        /// One entry per quoted passage.
        citations: &'a [Citation],
        /// Other passages near the question, best first. The text does not quote them.
        also_found: &'a [FoundPassage],
        /// The document numbers in the text.
        referenced_indices: &'a [u32],
    },
    /// Ends an answer.
    AnswerEnd {
        /// The id of the assistant's message.
        message_id: Uuid,
        /// Whether question and answer are in the history.
        persisted: bool,
        /// How the answer was written, if a model was to write it.
        #[serde(skip_serializing_if = "Option::is_none")]
        generation: Option<&'a GenerationReport>,
        /// The decision, and the searched text.
        #[serde(flatten)]
        basis: &'a Basis,
    },
    /// Ends a stream without an answer.
    Refusal(&'a Refusal),
    /// Ends a stream that failed.
    Error(ErrorBody),
}

/// A stage before the first words of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// A language model writes, and its sentences are checked.
    Writing,
}

impl Event<'_> {
    /// The name on the `event:` line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Progress { .. } => "progress",
            Self::AnswerStart { .. } => "answer_start",
            Self::AnswerDelta { .. } => "answer_delta",
            Self::Sources { .. } => "sources",
            Self::AnswerEnd { .. } => "answer_end",
            Self::Refusal(_) => "refusal",
            Self::Error(_) => "error",
        }
    }

    /// The event as server-sent event. JSON escapes line ends, so the data is always one line.
    pub fn encode(&self) -> Result<String, serde_json::Error> {
        Ok(format!("event: {}\ndata: {}\n\n", self.name(), serde_json::to_string(self)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{ApiError, ErrorCode};
    use crate::refusal::Reason;

    #[test]
    fn an_event_is_a_name_and_one_line_of_json() {
        let event = Event::AnswerDelta { text: "a\r\nb\u{2028}c\"\n\ndata: x" };
        assert_eq!(
            event.encode().unwrap(),
            "event: answer_delta\ndata: {\"type\":\"answer_delta\",\"text\":\"a\\r\\nb\u{2028}c\\\"\\n\\ndata: x\"}\n\n"
        );
    }

    #[test]
    fn every_event_repeats_its_name_as_type() {
        let error = ApiError::new(ErrorCode::Internal, "Sorry.").with_request_id("r");
        for event in [
            Event::Progress { stage: Stage::Writing },
            Event::AnswerStart { session_id: Uuid::nil(), hedged: false, mode: AnswerMode::Generated },
            Event::AnswerDelta { text: "" },
            Event::Sources { citations: &[], also_found: &[], referenced_indices: &[] },
            Event::AnswerEnd {
                message_id: Uuid::nil(),
                persisted: true,
                generation: None,
                basis: &Basis::default(),
            },
            Event::Refusal(&Refusal::new(Reason::NoMatch, &[], 0.35)),
            Event::Error(error),
        ] {
            assert_eq!(serde_json::to_value(&event).unwrap()["type"], event.name());
        }
    }
}
