//! The table `assistants`.

use serde::{Deserialize, Serialize};

use super::KnowledgeBase;
use crate::supabase::{Query, SupabaseError};

/// An assistant, what it searches, and for whom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assistant {
    pub name: String,
    /// True if it can be used.
    pub enabled: bool,
    /// Heading of its chat, if it has one of its own.
    pub title: Option<String>,
    /// The collections that it searches; all if `None`.
    pub collections: Option<Vec<String>>,
    /// Its users, as claim:value; every signed-in user if `None`.
    pub audience: Option<Vec<String>>,
}

/// The evidence thresholds of an assistant; the default if `None`.
#[derive(Debug, Clone, Deserialize)]
pub struct AssistantThresholds {
    pub name: String,
    /// Minimum similarity of the best passage.
    pub evidence_threshold: Option<f64>,
    /// Minimum confidence in the passages.
    pub evidence_confidence: Option<f64>,
}

impl KnowledgeBase {
    /// All assistants, by name.
    pub async fn assistants(&self) -> Result<Vec<Assistant>, SupabaseError> {
        let columns = "name,enabled,title,collections,audience";
        self.client.send(Query::select("assistants", columns).order("name.asc")).await
    }

    /// The thresholds of the enabled assistants, by name.
    pub async fn assistant_thresholds(&self) -> Result<Vec<AssistantThresholds>, SupabaseError> {
        let columns = "name,evidence_threshold,evidence_confidence";
        self.client.send(Query::select("assistants", columns).eq("enabled", "true").order("name.asc")).await
    }
}
