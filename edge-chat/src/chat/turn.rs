//! Writes a question and its outcome to the user's history.

use chat_core::outcome::Outcome;
use chat_core::request::ChatRequest;
use chat_core::title::session_title;
use serde_json::json;
use uuid::Uuid;

use crate::error::Failure;
use crate::supabase::{NewMessage, Supabase};

/// Where a turn is written.
pub(crate) struct Turn {
    pub(crate) session_id: Uuid,
    /// The id the assistant's message gets.
    pub(crate) answer_id: Uuid,
}

/// Writes the turn; for a question without a session, also the session.
pub(crate) async fn record(
    supabase: &Supabase,
    question: &ChatRequest,
    outcome: &Outcome,
    turn: &Turn,
) -> Result<(), Failure> {
    let is_new_session = question.session_id.is_none();
    if is_new_session {
        supabase.create_session(turn.session_id, &session_title(&question.message)).await?;
    }
    let answer = outcome.text();
    let asked = NewMessage {
        id: question.message_id,
        session_id: turn.session_id,
        role: "user",
        content: &question.message,
        citations: json!([]),
    };
    let answered = NewMessage {
        id: turn.answer_id,
        session_id: turn.session_id,
        role: "assistant",
        content: &answer,
        citations: json!(outcome.citations()),
    };
    let written = supabase.insert_messages(&[asked, answered]).await;
    if written.is_err() && is_new_session {
        // An empty session would stand in the user's list. If this fails too, so be it: the first error is told.
        let _ = supabase.delete_session(turn.session_id).await;
    }
    written
}
