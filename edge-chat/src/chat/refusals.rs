//! Notes questions that got no answer, so that the administrator sees what the knowledge base lacks.

use chat_core::refusal::Refusal;
use chat_core::request::ChatRequest;

use crate::http::error::Failure;
use crate::supabase::{NewRefusal, Supabase};

/// Notes the question under its own id: once, however often it is tried.
pub(super) async fn record(
    supabase: &Supabase,
    question: &ChatRequest,
    refusal: &Refusal,
    best_similarity: Option<f64>,
) -> Result<(), Failure> {
    let row = NewRefusal {
        id: question.message_id,
        // Only a session that was written can be pointed at.
        session_id: refusal.session_id,
        question: &question.message,
        embedding: &question.embedding,
        best_score: best_similarity,
        reason: refusal.reason.as_str(),
    };
    supabase.insert_refusal(&row).await
}
