//! Metrics: the views `chat_metrics` and `content_gaps`, and the last syncs.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::KnowledgeBase;
use crate::output::moment;
use crate::supabase::{Query, SupabaseError};

/// Assistants for which a day has an entry, at most.
const MAX_ASSISTANTS: usize = 20;

/// Documents and collections with a trouble to read, at most.
const MAX_TROUBLES: usize = 1000;

/// The metrics of an assistant on a day with questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Day {
    /// Date in UTC, such as `2026-11-22`.
    pub day: String,
    /// The assistant that was asked.
    pub assistant: String,
    pub questions: u64,
    pub answers: u64,
    /// Refused for lack of evidence.
    pub refusals: u64,
    /// Answers divided by answers and refusals.
    pub answer_rate: Option<f64>,
    /// Number of users who asked.
    pub users: u64,
    pub latency_p50_ms: Option<u64>,
    pub latency_p95_ms: Option<u64>,
    /// Number of different documents that answers cited.
    pub cited_documents: u64,
    /// Answers that users liked.
    pub liked: u64,
    /// Answers that users disliked.
    pub disliked: u64,
}

/// A group of similar unanswered questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// The assistant that was asked.
    pub assistant: String,
    /// The most central question of the group.
    pub question: String,
    /// Number of questions in the group.
    pub questions: u64,
    /// Number of users who asked one.
    pub users: u64,
    /// Highest cosine of any passage to any of the questions.
    pub best_score: Option<f64>,
    pub reasons: Vec<String>,
    /// Timestamp as the database writes it.
    pub first_asked: String,
    pub last_asked: String,
}

/// The last run of `kb sync` for a collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastSync {
    pub collection: String,
    /// Timestamps as the database writes them.
    pub started_at: String,
    /// Last renewal of its lease.
    pub renewed_at: String,
    /// `None` if it is running or was interrupted.
    pub finished_at: Option<String>,
    /// Computer that it ran on.
    pub host: Option<String>,
    pub summary: Option<Value>,
}

/// A document or collection that is not as new as its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// The document's key, or the name of the collection.
    pub source: String,
    pub reason: String,
    /// Timestamp as the database writes it.
    pub since: Option<String>,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.reason)?;
        self.since.iter().try_for_each(|since| write!(f, " (since {} UTC)", moment(since)))
    }
}

impl KnowledgeBase {
    /// The last `count` days with questions, latest first, with one entry for each assistant that was asked.
    pub async fn days(&self, count: usize) -> Result<Vec<Day>, SupabaseError> {
        let rows = count.saturating_mul(MAX_ASSISTANTS);
        let query = Query::select("chat_metrics", "*").order("day.desc,assistant.asc").limit(rows);
        let days: Vec<Day> = self.client.send(query).await?;
        let mut dates: Vec<_> = days.iter().map(|day| day.day.clone()).collect();
        dates.dedup();
        dates.truncate(count);
        Ok(days.into_iter().filter(|day| dates.contains(&day.day)).collect())
    }

    /// Up to `count` groups of unanswered questions, those of most users first.
    pub async fn gaps(&self, count: usize) -> Result<Vec<Gap>, SupabaseError> {
        let columns = "assistant,question,questions,users,best_score,reasons,first_asked,last_asked";
        let query = Query::select("content_gaps", columns).order("users.desc,questions.desc,last_asked.desc");
        self.client.send(query.limit(count)).await
    }

    /// What is not as new as its source, the oldest first, in one collection or in all.
    pub async fn troubles(&self, collection: Option<&str>) -> Result<Vec<Trouble>, SupabaseError> {
        let query =
            Query::select("kb_troubles", "source,reason,since").order("since.asc").limit(MAX_TROUBLES);
        let query = collection.into_iter().fold(query, |query, name| query.eq("collection", name));
        self.client.send(query).await
    }

    /// The last sync of each collection.
    pub async fn last_syncs(&self) -> Result<Vec<LastSync>, SupabaseError> {
        let columns = "collection,started_at,renewed_at,finished_at,host,summary";
        self.client.send(Query::select("kb_syncs", columns).order("collection.asc")).await
    }
}
