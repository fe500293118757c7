//! Export and deletion of all data of a user.
//!
//! Pages are read by key, so that rows that are added or deleted meanwhile neither repeat nor hide others. Only an empty page
//! is the last, because PostgREST may shorten any page (`max-rows`).

use chat_core::assistant::AssistantName;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::sessions::{COLUMNS, MESSAGES, TABLE};
use super::{Message, Query, Session, Supabase, Timestamp};
use crate::http::error::HttpError;

/// The columns of [`ExportedMessage`].
const EXPORTED_COLUMNS: &str = "session_id,id,role,content,citations,created_at,refusal,hedged,mode,cut,searched,truncated,sources,latency_ms,feedback_rating,feedback_reason,feedback_comment,feedback_at";
/// The columns of [`RefusedQuestion`].
const REFUSED_COLUMNS: &str = "id,session_id,assistant,question,reason,best_score,created_at";

/// A message as exported, with its citations as stored.
pub(crate) type ExportedMessage = Message<Box<RawValue>, ExportedOnly>;

/// The fields of a message that only the export has.
#[derive(Serialize, Deserialize)]
pub(crate) struct ExportedOnly {
    #[serde(skip_serializing)]
    pub(crate) session_id: Uuid,
    /// Ids of the documents that the answer is based on, shown or not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sources: Vec<Uuid>,
    /// Milliseconds from the request to the end of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_ms: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback_at: Option<Timestamp>,
}

/// A refused question as stored and exported.
#[derive(Serialize, Deserialize)]
pub(crate) struct RefusedQuestion {
    pub(crate) id: Uuid,
    pub(crate) session_id: Option<Uuid>,
    pub(crate) assistant: AssistantName,
    pub(crate) question: String,
    pub(crate) reason: String,
    pub(crate) best_score: Option<f64>,
    pub(crate) created_at: Timestamp,
}

impl Supabase {
    /// Deletes the user's sessions with their messages and the refused questions.
    pub(crate) async fn delete_user_data(&self) -> Result<(), HttpError> {
        self.rpc("chat_delete_user_data", &json!({}))?.read(self.deadline).await.map(drop)
    }

    /// The user's sessions after `after`, ordered by id. `None` if the response would be too large.
    pub(crate) async fn sessions_after(
        &self,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Option<Vec<Session>>, HttpError> {
        let mut query = Query::columns(COLUMNS)
            .filter("user_id", format!("eq.{}", self.user.user_id()))
            .order("id.asc")
            .limit(limit);
        if let Some(id) = after {
            query = query.filter("id", format!("gt.{id}"));
        }
        self.select_if_not_too_large(TABLE, &query).await
    }

    /// The messages of sessions, ordered by session and time, from the one after `after`, which is in the first session. `None`
    /// if the response would be too large.
    pub(crate) async fn messages_after(
        &self,
        sessions: &[Uuid],
        after: Option<(&Timestamp, Uuid)>,
        limit: u32,
    ) -> Result<Option<Vec<ExportedMessage>>, HttpError> {
        let list = sessions.iter().map(Uuid::to_string).collect::<Vec<_>>().join(",");
        let mut query = Query::columns(EXPORTED_COLUMNS)
            .filter("session_id", format!("in.({list})"))
            .order("session_id.asc,created_at.asc,id.asc")
            .limit(limit);
        if let (Some((time, id)), Some(first)) = (after, sessions.first()) {
            let time = time.as_str();
            let later = format!(
                "(session_id.gt.{first},created_at.gt.\"{time}\",and(created_at.eq.\"{time}\",id.gt.{id}))"
            );
            query = query.filter("or", later);
        }
        self.select_if_not_too_large(MESSAGES, &query).await
    }

    /// The user's refused questions after `after`, oldest first. `None` if the response would be too large.
    pub(crate) async fn refusals_after(
        &self,
        after: Option<(&Timestamp, Uuid)>,
        limit: u32,
    ) -> Result<Option<Vec<RefusedQuestion>>, HttpError> {
        // Users cannot read the column of the owner; Row Level Security selects the rows.
        let mut query = Query::columns(REFUSED_COLUMNS).order("created_at.asc,id.asc").limit(limit);
        if let Some((time, id)) = after {
            let time = time.as_str();
            query = query
                .filter("created_at", format!("gte.{time}"))
                .filter("or", format!("(created_at.gt.\"{time}\",id.gt.{id})"));
        }
        self.select_if_not_too_large("chat_refusals", &query).await
    }
}
