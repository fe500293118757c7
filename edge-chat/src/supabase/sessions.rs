//! Sessions and their messages.

use chat_core::assistant::AssistantName;
use chat_core::decision::Searched;
use chat_core::feedback::{Feedback, FeedbackReason, FeedbackRequest, Rating};
use chat_core::generate::AnswerMode;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;
use serde_json::value::RawValue;
use uuid::Uuid;
use worker::Method;

use super::timestamp::Timestamp;
use super::{Exchange, Query, Supabase, parse, unavailable, vector_literal};
use crate::http::error::HttpError;

pub(super) const TABLE: &str = "chat_sessions";
pub(super) const MESSAGES: &str = "chat_messages";
const MESSAGE_COLUMNS: &str = "id,role,content,citations,created_at,refusal,hedged,mode,cut,searched,truncated,feedback_rating,feedback_reason,feedback_comment";
pub(super) const COLUMNS: &str = "id,assistant,title,created_at,updated_at";

/// A session as the client gets it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) id: Uuid,
    pub(crate) assistant: AssistantName,
    pub(crate) title: Option<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

/// A message as stored and as the client gets it: `C` are its citations, and `E` has the fields
/// of the export only.
#[derive(Serialize, Deserialize)]
pub(crate) struct Message<C, E = ()> {
    pub(crate) id: Uuid,
    pub(crate) role: String,
    pub(crate) content: String,
    pub(crate) citations: C,
    pub(crate) created_at: Timestamp,
    /// The reason, if it is a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refusal: Option<String>,
    /// Whether its passages may not answer the question. Clients get it for messages of the assistant
    /// only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hedged: Option<bool>,
    /// The author of the words; absent if they are quotes, and for messages of the user.
    #[serde(skip_serializing_if = "AnswerMode::is_extractive")]
    pub(crate) mode: AnswerMode,
    /// Whether the model had not finished.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cut: bool,
    #[serde(flatten)]
    pub(crate) searched: Searched,
    /// The user's feedback.
    #[serde(flatten, serialize_with = "as_feedback")]
    pub(crate) feedback: FeedbackColumns,
    #[serde(flatten)]
    pub(crate) extra: E,
}

impl<C, E> Message<C, E> {
    pub(crate) fn is_answer(&self) -> bool {
        self.role == "assistant"
    }
}

/// The columns of a message for feedback.
#[derive(Deserialize)]
pub(crate) struct FeedbackColumns {
    feedback_rating: Option<Rating>,
    feedback_reason: Option<FeedbackReason>,
    feedback_comment: Option<String>,
}

/// Writes the columns as the API does: a field `feedback`, if the user said something.
fn as_feedback<S: Serializer>(columns: &FeedbackColumns, serializer: S) -> Result<S::Ok, S::Error> {
    let FeedbackColumns { feedback_rating, feedback_reason: reason, feedback_comment } = columns;
    let feedback =
        feedback_rating.map(|rating| Feedback { rating, reason: *reason, comment: feedback_comment.clone() });
    serializer.collect_map(feedback.map(|feedback| ("feedback", feedback)))
}

impl Supabase {
    /// Whether the session exists and belongs to the user.
    pub(crate) async fn owns_session(&self, session_id: Uuid) -> Result<bool, HttpError> {
        let rows: Vec<IgnoredAny> = self.select(TABLE, &self.own_session("id", session_id)).await?;
        Ok(!rows.is_empty())
    }

    /// Whether the session is the user's own and the assistant answers in it.
    pub(crate) async fn can_continue(
        &self,
        session_id: Uuid,
        assistant: &AssistantName,
    ) -> Result<bool, HttpError> {
        let query =
            self.own_session("id", session_id).filter("assistant", format!("eq.{}", assistant.as_str()));
        let rows: Vec<IgnoredAny> = self.select(TABLE, &query).await?;
        Ok(!rows.is_empty())
    }

    /// The user's sessions with an assistant, last used first. `before` is the time and id of the last one seen.
    pub(crate) async fn sessions(
        &self,
        assistant: &AssistantName,
        before: Option<(&Timestamp, Uuid)>,
        limit: u32,
    ) -> Result<Vec<Session>, HttpError> {
        let query = Query::columns(COLUMNS)
            .filter("user_id", format!("eq.{}", self.user.user_id()))
            .filter("assistant", format!("eq.{}", assistant.as_str()))
            .order("updated_at.desc,id.desc")
            .limit(limit);
        let query = match before {
            // In this form Postgres finds the page with one index scan.
            Some((time, id)) => query
                .filter("updated_at", format!("lte.{}", time.as_str()))
                .filter("or", format!("(updated_at.lt.\"{}\",id.lt.{id})", time.as_str())),
            None => query,
        };
        self.select(TABLE, &query).await
    }

    pub(crate) async fn session(&self, id: Uuid) -> Result<Option<Session>, HttpError> {
        let rows = self.select(TABLE, &self.own_session(COLUMNS, id)).await?;
        Ok(rows.into_iter().next())
    }

    /// Renames a session. `None` if it does not exist.
    pub(crate) async fn rename_session(&self, id: Uuid, title: &str) -> Result<Option<Session>, HttpError> {
        let mut update = self.request(Method::Patch, TABLE, &self.own_session(COLUMNS, id));
        update.headers.push(("Prefer", "return=representation".to_owned()));
        update.body = Some(json!({ "title": title }).to_string());
        let rows: Vec<Session> = self.fetch(update).await?;
        Ok(rows.into_iter().next())
    }

    /// Deletes a session with its messages. Returns whether it existed.
    pub(crate) async fn delete_session(&self, id: Uuid) -> Result<bool, HttpError> {
        let mut delete = self.request(Method::Delete, TABLE, &self.own_session("id", id));
        delete.headers.push(("Prefer", "return=representation".to_owned()));
        let rows: Vec<IgnoredAny> = self.fetch(delete).await?;
        Ok(!rows.is_empty())
    }

    /// Stores the user's feedback on an answer; `None` removes it. Returns whether there is such an
    /// answer.
    pub(crate) async fn give_feedback(
        &self,
        session_id: Uuid,
        message_id: Uuid,
        request: Option<&FeedbackRequest>,
    ) -> Result<bool, HttpError> {
        let feedback = request.map(|request| &request.feedback);
        let embedding = request.and_then(|request| request.embedding.as_deref());
        let parameters = json!({
            "session_id": session_id,
            "message_id": message_id,
            "rating": feedback.map(|feedback| feedback.rating),
            "reason": feedback.and_then(|feedback| feedback.reason),
            "comment": feedback.and_then(|feedback| feedback.comment.as_deref()),
            "embedding": embedding.map(vector_literal).transpose()?,
        });
        self.fetch(self.trusted_rpc("chat_give_feedback", &parameters)?).await
    }

    /// Messages of a session, oldest first. `after` is the time of the last one seen. Also returns how many were requested:
    /// `limit`, or fewer if the response would be too large.
    pub(crate) async fn messages(
        &self,
        session_id: Uuid,
        after: Option<&Timestamp>,
        mut limit: u32,
    ) -> Result<(Vec<Message<Vec<Box<RawValue>>>>, u32), HttpError> {
        loop {
            let exchange = self.messages_exchange(session_id, after, limit);
            match exchange.read_if_not_too_large(self.deadline).await? {
                Some(body) => return Ok((parse(MESSAGES, &body)?, limit)),
                None if limit == 1 => return Err(unavailable(MESSAGES, "one message is too large")),
                None => limit = limit.div_ceil(2),
            }
        }
    }

    fn messages_exchange(&self, session_id: Uuid, after: Option<&Timestamp>, limit: u32) -> Exchange {
        let query = Query::columns(MESSAGE_COLUMNS)
            .filter("session_id", format!("eq.{session_id}"))
            .order("created_at.asc,id.asc")
            .limit(limit);
        let query = match after {
            // The times within a session are unique.
            Some(time) => query.filter("created_at", format!("gt.{}", time.as_str())),
            None => query,
        };
        self.request(Method::Get, MESSAGES, &query)
    }

    fn own_session(&self, columns: &'static str, id: Uuid) -> Query {
        Query::columns(columns)
            .filter("id", format!("eq.{id}"))
            .filter("user_id", format!("eq.{}", self.user.user_id()))
    }
}
