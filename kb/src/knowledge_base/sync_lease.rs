//! The lease that lets one sync at a time write a collection.

use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::KnowledgeBase;
use crate::supabase::{Query, SupabaseError};

/// The answer to a request for a lease.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Lease {
    /// Whether the run that asked got it.
    pub acquired: bool,
    /// Computer of the run that holds it.
    pub host: Option<String>,
    /// Start of that run, as the database writes it.
    pub started_at: Option<String>,
}

impl KnowledgeBase {
    /// Asks for the lease of a collection, which ends 60 s after its last renewal.
    pub async fn begin_sync(&self, collection: &str, run: Uuid, host: &str) -> Result<Lease, SupabaseError> {
        let arguments = json!({ "collection": collection, "run_id": run, "host": host });
        self.client.send(Query::call("kb_begin_sync", &arguments)).await
    }

    /// Renews the lease; false if another run holds it.
    pub async fn renew_sync(&self, collection: &str, run: Uuid) -> Result<bool, SupabaseError> {
        let arguments = json!({ "collection": collection, "run_id": run });
        self.client.send(Query::call("kb_renew_sync", &arguments)).await
    }

    /// Returns the lease and stores the summary of the run.
    pub async fn end_sync(&self, collection: &str, run: Uuid, summary: &Value) -> Result<(), SupabaseError> {
        let arguments = json!({ "collection": collection, "run_id": run, "summary": summary });
        self.client.send::<bool>(Query::call("kb_end_sync", &arguments)).await.map(drop)
    }
}
