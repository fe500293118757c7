//! How the chat does: the views `chat_metrics` and `content_gaps`, and the last syncs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::KnowledgeBase;
use crate::supabase::{Query, SupabaseError};

/// A day on which somebody asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Day {
    /// In UTC, `2026-11-22`.
    pub day: String,
    /// Asked.
    pub questions: u64,
    /// Answered.
    pub answers: u64,
    /// Refused for lack of evidence.
    pub refusals: u64,
    /// Share of answers among answers and refusals, 0 to 1.
    pub answer_rate: Option<f64>,
    /// Who asked.
    pub users: u64,
    /// Half of the answers took no longer.
    pub latency_p50_ms: Option<u64>,
    /// 95 of 100 answers took no longer.
    pub latency_p95_ms: Option<u64>,
    /// Different documents that answers cited.
    pub cited_documents: u64,
}

/// Similar questions that were not answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// The one nearest to the middle of its group.
    pub question: String,
    /// How often it was asked.
    pub questions: u64,
    /// By how many users.
    pub users: u64,
    /// Highest cosine of any passage to any of the questions.
    pub best_score: Option<f64>,
    /// Why they were refused.
    pub reasons: Vec<String>,
    /// As the database writes it.
    pub first_asked: String,
    /// As the database writes it.
    pub last_asked: String,
}

/// The last run of `kb sync` for a collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastSync {
    /// What was synced.
    pub collection: String,
    /// As the database writes it.
    pub started_at: String,
    /// When it last said that it goes on.
    pub renewed_at: String,
    /// `None` while it goes on, or if it was cut off.
    pub finished_at: Option<String>,
    /// The computer it ran on.
    pub host: Option<String>,
    /// What it did.
    pub summary: Option<Value>,
}

impl KnowledgeBase {
    /// The last days on which somebody asked, the latest first.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn days(&self, count: usize) -> Result<Vec<Day>, SupabaseError> {
        self.client.send(Query::select("chat_metrics", "*").order("day.desc").limit(count)).await
    }

    /// What is asked and not answered, by most users first.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn gaps(&self, count: usize) -> Result<Vec<Gap>, SupabaseError> {
        let columns = "question,questions,users,best_score,reasons,first_asked,last_asked";
        let query = Query::select("content_gaps", columns).order("users.desc,questions.desc,last_asked.desc");
        self.client.send(query.limit(count)).await
    }

    /// The last sync of each collection, by collection.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn last_syncs(&self) -> Result<Vec<LastSync>, SupabaseError> {
        let columns = "collection,started_at,renewed_at,finished_at,host,summary";
        self.client.send(Query::select("kb_syncs", columns).order("collection.asc")).await
    }
}
