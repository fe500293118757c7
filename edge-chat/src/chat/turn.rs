//! A question and its outcome in the user's history.

use std::collections::BTreeSet;

use chat_core::generate::AnswerMode;
use chat_core::outcome::Outcome;
use chat_core::request::ChatRequest;
use chat_core::title::session_title;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::http::error::HttpError;
use crate::supabase::{RecordedTurn, Supabase};

/// The ids of a turn. They are derived from the question, so that a run that takes over from a crashed one writes the same
/// rows.
pub(super) struct Turn {
    pub(super) session_id: Uuid,
    /// The id of the assistant's message.
    pub(super) answer_id: Uuid,
}

impl Turn {
    pub(super) fn new(user_id: Uuid, question: &ChatRequest) -> Self {
        let derived = |role| derive_id(user_id, question.message_id, role);
        Self {
            session_id: question.session_id.unwrap_or_else(|| derived("session")),
            answer_id: derived("answer"),
        }
    }
}

/// A UUID of version 8 (RFC 9562, section 5.8) from a hash: the same for the same question, and unpredictable for others.
fn derive_id(user_id: Uuid, message_id: Uuid, role: &str) -> Uuid {
    let hash = Sha256::new_with_prefix(user_id).chain_update(message_id).chain_update(role).finalize();
    let mut bytes = [0; 16];
    for (byte, hashed) in bytes.iter_mut().zip(hash) {
        *byte = hashed;
    }
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

/// Writes the turn and, for a question without a session, the session. The future borrows only `supabase`.
pub(super) fn record<'a>(
    supabase: &'a Supabase,
    question: &ChatRequest,
    outcome: &Outcome,
    sources: &BTreeSet<Uuid>,
    turn: &Turn,
    latency_ms: u64,
) -> impl Future<Output = Result<(), HttpError>> + use<'a> {
    let (refusal, hedged, mode, report) = match outcome {
        Outcome::Refusal(refusal) => (Some(refusal.reason.as_str()), false, AnswerMode::Extractive, None),
        Outcome::Answer(answer) => (None, answer.hedged, answer.mode, answer.generation.as_ref()),
    };
    let is_new_session = question.session_id.is_none();
    let searched = &outcome.basis().searched;
    supabase.record_turn(&RecordedTurn {
        session_id: turn.session_id,
        title: is_new_session.then(|| session_title(&question.message)),
        question_id: question.message_id,
        question: &question.message,
        answer_id: turn.answer_id,
        answer: outcome.text(),
        citations: outcome.citations(),
        sources,
        latency_ms,
        refusal,
        hedged,
        mode,
        cut: report.is_some_and(|report| report.cut),
        assistant: &question.assistant,
        searched: searched.searched.as_deref(),
        truncated: searched.truncated,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_derived_from_user_and_question() {
        let (user, message) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let id = derive_id(user, message, "session");
        assert_eq!(id, derive_id(user, message, "session"));
        assert_eq!(id.get_version_num(), 8);
        for other in [
            derive_id(user, message, "answer"),
            derive_id(Uuid::from_u128(3), message, "session"),
            derive_id(user, Uuid::from_u128(3), "session"),
        ] {
            assert_ne!(id, other);
        }
    }
}
