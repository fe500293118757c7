//! One sync of a collection at a time.

use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::KnowledgeBase;
use crate::supabase::{Query, SupabaseError};

/// Who may write a collection at the moment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Lease {
    /// True if it is the run that asked.
    pub acquired: bool,
    /// The computer of the run that has it.
    pub host: Option<String>,
    /// When that run began, as the database writes it.
    pub started_at: Option<String>,
}

impl KnowledgeBase {
    /// Asks for the lease of a collection, which ends 60 s after it was last renewed.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn begin_sync(&self, collection: &str, run: Uuid, host: &str) -> Result<Lease, SupabaseError> {
        let arguments = json!({ "collection": collection, "run_id": run, "host": host });
        self.client.send(Query::call("kb_begin_sync", &arguments)).await
    }

    /// Keeps the lease; false if another run has it.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn renew_sync(&self, collection: &str, run: Uuid) -> Result<bool, SupabaseError> {
        let arguments = json!({ "collection": collection, "run_id": run });
        self.client.send(Query::call("kb_renew_sync", &arguments)).await
    }

    /// Gives the lease back and says what was done.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn end_sync(&self, collection: &str, run: Uuid, summary: &Value) -> Result<(), SupabaseError> {
        let arguments = json!({ "collection": collection, "run_id": run, "summary": summary });
        self.client.send::<bool>(Query::call("kb_end_sync", &arguments)).await.map(drop)
    }
}
