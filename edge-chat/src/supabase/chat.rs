//! Database calls of a question: the search, and writing the history.

use std::collections::{BTreeMap, BTreeSet};

use chat_core::answer::Citation;
use chat_core::assistant::AssistantName;
use chat_core::chunk::{MatchedChunk, SearchRows};
use chat_core::generate::AnswerMode;
use chat_core::limits::MAX_SEARCH_BYTES;
use serde::{Serialize, Serializer};
use serde_json::json;
use uuid::Uuid;

use super::{Supabase, read_with, vector_literal};
use crate::citation_use::CitationUse;
use crate::http::error::HttpError;

/// A question and its outcome, for the history.
#[derive(Serialize)]
pub(crate) struct RecordedTurn<'a> {
    pub(crate) session_id: Uuid,
    /// The title, if the session is to be created.
    pub(crate) title: Option<String>,
    pub(crate) question_id: Uuid,
    pub(crate) question: &'a str,
    pub(crate) answer_id: Uuid,
    pub(crate) answer: String,
    #[serde(serialize_with = "without_links")]
    pub(crate) citations: &'a [Citation],
    /// The documents behind the answer, cited or not.
    pub(crate) sources: &'a BTreeSet<Uuid>,
    /// Time from the request to the outcome.
    pub(crate) latency_ms: u64,
    /// The reason, if the outcome is a refusal.
    pub(crate) refusal: Option<&'static str>,
    /// Whether the passages may not answer the question.
    pub(crate) hedged: bool,
    /// The author of the words.
    pub(crate) mode: AnswerMode,
    /// Whether the model had not finished.
    pub(crate) cut: bool,
    pub(crate) assistant: &'a AssistantName,
    /// The question together with the one before it, if the outcome is that of both.
    pub(crate) searched: Option<&'a str>,
    /// Whether the model read only the beginning of the question.
    pub(crate) truncated: bool,
}

/// A refused question.
pub(crate) struct NewRefusal<'a> {
    pub(crate) id: Uuid,
    pub(crate) session_id: Option<Uuid>,
    pub(crate) question: &'a str,
    pub(crate) embedding: &'a [f32],
    /// Cosine of the nearest passage, if there was one.
    pub(crate) best_score: Option<f64>,
    pub(crate) reason: &'static str,
    pub(crate) assistant: &'a AssistantName,
}

impl Supabase {
    /// The passages of the assistant that are nearest to a question, of any similarity: `chat-core` applies the threshold.
    pub(crate) async fn match_chunks(
        &self,
        embedding: &[f32],
        question: &str,
        count: u32,
        assistant: &AssistantName,
    ) -> Result<Vec<MatchedChunk>, HttpError> {
        let parameters = json!({
            "query_embedding": vector_literal(embedding)?,
            "match_count": count,
            "match_threshold": -1,
            "query_text": question,
            "assistant": assistant,
        });
        let mut search = self.trusted_rpc("match_chunks", &parameters)?;
        search.max_bytes = MAX_SEARCH_BYTES;
        let found = read_with(search.what, &search.read(self.deadline).await?, SearchRows::from_json)?;
        if found.left_out > 0 {
            worker::console_error!("match_chunks: {} rows are too large or cannot be parsed", found.left_out);
        }
        Ok(found.rows)
    }

    /// Whether the user may search any document of the assistant; `None` if there is no document at all.
    pub(crate) async fn has_documents(&self, assistant: &AssistantName) -> Result<Option<bool>, HttpError> {
        self.fetch(self.rpc("chat_has_documents", &json!({ "assistant": assistant }))?).await
    }

    /// Writes a turn in one transaction. Idempotent. The future does not borrow the turn.
    pub(crate) fn record_turn<'a>(
        &'a self,
        turn: &RecordedTurn<'_>,
    ) -> impl Future<Output = Result<(), HttpError>> + use<'a> {
        let call = self.trusted_rpc("chat_record_turn", &BTreeMap::from([("turn", turn)]));
        async move { call?.read(self.deadline).await.map(drop) }
    }

    /// Adds to today's counts. Not tried again, because that could count twice.
    pub(crate) async fn count_citation_use(
        &self,
        counts: &CitationUse,
        assistant: &AssistantName,
    ) -> Result<(), HttpError> {
        let parameters = json!({
            "hovered": counts.hovered,
            "opened": counts.opened,
            "copied": counts.copied,
            "assistant": assistant,
        });
        let mut call = self.trusted_rpc("chat_count_citation_use", &parameters)?;
        call.is_idempotent = false;
        call.read(self.deadline).await.map(drop)
    }

    /// Writes a refused question. Idempotent; does nothing if the site owner has turned it off.
    pub(crate) async fn record_refusal(&self, refusal: &NewRefusal<'_>) -> Result<(), HttpError> {
        let parameters = json!({
            "id": refusal.id,
            "session_id": refusal.session_id,
            "question": refusal.question,
            "embedding": vector_literal(refusal.embedding)?,
            "best_score": refusal.best_score,
            "reason": refusal.reason,
            "assistant": refusal.assistant,
        });
        self.trusted_rpc("chat_record_refusal", &parameters)?.read(self.deadline).await.map(drop)
    }
}

/// Links are created when the history is read, because signed links expire and documents may be hidden by then.
fn without_links<S: Serializer>(citations: &&[Citation], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(citations.iter().map(Citation::without_link))
}
