//! Supabase, as the user sees it: every call carries the user's own token, and Row Level Security decides.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use chat_core::chunk::MatchedChunk;
use chat_core::error::ErrorCode;
use futures_util::future::{Either, select};
use postgrest::{Builder, Postgrest};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};
use uuid::Uuid;
use worker::Delay;

use crate::auth::Authenticated;
use crate::config::Config;
use crate::error::Failure;

/// Supabase on behalf of one user.
pub(crate) struct Supabase {
    client: Postgrest,
    user: Authenticated,
    timeout: Duration,
}

/// A message to write to the history. The database gives it a time after the last one of its session.
pub(crate) struct NewMessage<'a> {
    pub(crate) id: Uuid,
    pub(crate) session_id: Uuid,
    pub(crate) role: &'static str,
    pub(crate) content: &'a str,
    pub(crate) citations: Value,
}

/// A question that got no answer.
pub(crate) struct NewRefusal<'a> {
    pub(crate) id: Uuid,
    pub(crate) session_id: Option<Uuid>,
    pub(crate) question: &'a str,
    pub(crate) embedding: &'a [f32],
    /// Cosine of the nearest passage, if there was one.
    pub(crate) best_score: Option<f64>,
    pub(crate) reason: &'static str,
}

impl Supabase {
    pub(crate) fn as_user(config: &Config, user: Authenticated) -> Self {
        let client = Postgrest::new(format!("{}/rest/v1", config.supabase_url))
            .insert_header("apikey", &config.publishable_key);
        Self { client, user, timeout: config.upstream_timeout }
    }

    /// The passages nearest to a question. The threshold is `chat-core`'s to apply, so here any similarity will do.
    pub(crate) async fn match_chunks(
        &self,
        embedding: &[f32],
        question: &str,
        count: u32,
    ) -> Result<Vec<MatchedChunk>, Failure> {
        let parameters = json!({
            "query_embedding": vector_literal(embedding)?,
            "match_count": count,
            "match_threshold": -1,
            "query_text": question,
        });
        self.send("match_chunks", self.client.rpc("match_chunks", parameters.to_string())).await
    }

    /// Whether the user can see any document that can be searched.
    pub(crate) async fn has_documents(&self) -> Result<bool, Failure> {
        let documents =
            self.client.from("kb_documents").select("id").eq("status", "ready").eq("enabled", "true");
        let rows: Vec<IgnoredAny> = self.send("kb_documents", documents.limit(1)).await?;
        Ok(!rows.is_empty())
    }

    /// Whether the session exists and is the user's.
    pub(crate) async fn owns_session(&self, session_id: Uuid) -> Result<bool, Failure> {
        let session = self
            .client
            .from("chat_sessions")
            .select("id")
            .eq("id", session_id.to_string())
            .eq("user_id", self.user.user_id().to_string());
        let rows: Vec<IgnoredAny> = self.send("chat_sessions", session).await?;
        Ok(!rows.is_empty())
    }

    pub(crate) async fn create_session(&self, session_id: Uuid, title: &str) -> Result<(), Failure> {
        let row = json!({ "id": session_id, "title": title });
        self.insert("chat_sessions", row).await
    }

    pub(crate) async fn delete_session(&self, session_id: Uuid) -> Result<(), Failure> {
        let session =
            self.client.from("chat_sessions").eq("id", session_id.to_string()).delete().select("id");
        self.send::<Vec<IgnoredAny>>("chat_sessions", session).await.map(drop)
    }

    /// Writes all messages, in this order, or none.
    pub(crate) async fn insert_messages(&self, messages: &[NewMessage<'_>]) -> Result<(), Failure> {
        let rows = messages.iter().map(|message| {
            json!({
                "id": message.id,
                "session_id": message.session_id,
                "role": message.role,
                "content": message.content,
                "citations": message.citations,
            })
        });
        self.insert("chat_messages", rows.collect()).await
    }

    /// Writes a refused question, unless it is there already.
    pub(crate) async fn insert_refusal(&self, refusal: &NewRefusal<'_>) -> Result<(), Failure> {
        const TABLE: &str = "chat_refusals";
        let row = json!({
            "id": refusal.id,
            "session_id": refusal.session_id,
            "question": refusal.question,
            "embedding": vector_literal(refusal.embedding)?,
            "best_score": refusal.best_score,
            "reason": refusal.reason,
        });
        let insert = self.client.from(TABLE).insert(row.to_string()).select("id");
        self.send_with::<Vec<IgnoredAny>>(TABLE, insert, Some("resolution=ignore-duplicates")).await.map(drop)
    }

    async fn insert(&self, table: &'static str, rows: Value) -> Result<(), Failure> {
        let insert = self.client.from(table).insert(rows.to_string()).select("id");
        self.send::<Vec<IgnoredAny>>(table, insert).await.map(drop)
    }

    async fn send<T: DeserializeOwned>(&self, what: &'static str, request: Builder) -> Result<T, Failure> {
        self.send_with(what, request, None).await
    }

    /// `prefer`: a wish to PostgREST besides those the builder states.
    async fn send_with<T: DeserializeOwned>(
        &self,
        what: &'static str,
        request: Builder,
        prefer: Option<&'static str>,
    ) -> Result<T, Failure> {
        let mut request = request.auth(self.user.token()).build();
        if let Some(prefer) = prefer {
            request = request.header("Prefer", prefer);
        }
        let exchange = async {
            let response = request.send().await.map_err(|_| unavailable(what, "no connection"))?;
            let status = response.status().as_u16();
            let body = response.bytes().await.map_err(|_| unavailable(what, "the answer was cut off"))?;
            if let Some(failure) = failure_of(what, status) {
                return Err(failure);
            }
            serde_json::from_slice(&body).map_err(|error| {
                // The position only: the parser's message may quote what it read.
                unavailable(
                    what,
                    &format!("unexpected JSON at line {}, column {}", error.line(), error.column()),
                )
            })
        };
        within(self.timeout, what, exchange).await
    }
}

/// A vector as text: PostgREST hands a JSON array to Postgres as an array, which is not a vector.
fn vector_literal(vector: &[f32]) -> Result<String, Failure> {
    serde_json::to_string(vector).map_err(|error| Failure::internal(error.to_string()))
}

/// Gives up on a future that takes too long; dropping it cancels its request.
pub(crate) async fn within<T>(
    limit: Duration,
    what: &str,
    future: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    match select(pin!(future), pin!(Delay::from(limit))).await {
        Either::Left((result, _)) => result,
        Either::Right(_) => {
            let message = "The knowledge base took too long to answer. Please try again.";
            let detail = format!("{what}: no answer within {} ms", limit.as_millis());
            Err(Failure::new(ErrorCode::UpstreamTimeout, message).with_detail(detail))
        }
    }
}

fn failure_of(what: &str, status: u16) -> Option<Failure> {
    let detail = || format!("{what}: HTTP {status}");
    match status {
        200..=299 => None,
        401 => Some(
            Failure::new(ErrorCode::Unauthorized, "Your session is no longer valid. Sign in again.")
                .with_detail(detail()),
        ),
        403 => Some(
            Failure::new(
                ErrorCode::Forbidden,
                "You may not use this knowledge base. Ask an admin for access.",
            )
            .with_detail(detail()),
        ),
        429 | 500.. => Some(unavailable(what, &format!("HTTP {status}"))),
        // Any other refusal means that the database and this Worker do not fit together.
        _ => Some(Failure::internal(detail())),
    }
}

fn unavailable(what: &str, detail: &str) -> Failure {
    Failure::new(
        ErrorCode::UpstreamUnavailable,
        "The knowledge base cannot be reached right now. Please try again in a moment.",
    )
    .with_detail(format!("{what}: {detail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_of_supabase_has_its_own_meaning() {
        let code = |status| failure_of("x", status).map(|failure| failure.error.code);
        assert_eq!(code(200), None);
        assert_eq!(code(206), None);
        assert_eq!(code(401), Some(ErrorCode::Unauthorized));
        assert_eq!(code(403), Some(ErrorCode::Forbidden));
        assert_eq!(code(404), Some(ErrorCode::Internal));
        assert_eq!(code(429), Some(ErrorCode::UpstreamUnavailable));
        assert_eq!(code(500), Some(ErrorCode::UpstreamUnavailable));
        assert_eq!(code(503), Some(ErrorCode::UpstreamUnavailable));
    }
}
