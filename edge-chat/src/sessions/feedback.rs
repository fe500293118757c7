//! `/api/sessions/{id}/messages/{message_id}/feedback`: the user's feedback on an answer.

use chat_core::feedback::FeedbackRequest;
use uuid::Uuid;
use worker::Response;

use crate::call::Call;
use crate::http::error::HttpError;
use crate::http::reply::Reply;

/// `PUT`: replaces the feedback before.
pub(crate) async fn give_feedback(
    mut call: Call,
    session_id: Uuid,
    message_id: Uuid,
) -> Result<Reply, HttpError> {
    let user = call.user().await?;
    let request = FeedbackRequest::parse(&call.body().await?)?;
    let supabase = call.supabase(user);
    let write = supabase.give_feedback(session_id, message_id, Some(&request));
    if call.trace.time("write", write).await? {
        Ok(Reply::new(Response::from_json(&request.feedback)?, "feedback"))
    } else {
        Err(answer_not_found())
    }
}

/// `DELETE`. Idempotent.
pub(crate) async fn remove_feedback(
    call: Call,
    session_id: Uuid,
    message_id: Uuid,
) -> Result<Reply, HttpError> {
    let supabase = call.supabase(call.user().await?);
    if call.trace.time("write", supabase.give_feedback(session_id, message_id, None)).await? {
        Ok(Reply::new(Response::empty()?.with_status(204), "feedback removed"))
    } else {
        Err(answer_not_found())
    }
}

fn answer_not_found() -> HttpError {
    HttpError::not_found("There is no such answer in your history. Questions and refusals take no feedback.")
}
