//! The lease that lets one sync at a time write a collection.

use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::KnowledgeBase;
use crate::supabase::{Query, SupabaseError};
use crate::sync::Settings;

/// The answer to a request for a lease.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Lease {
    /// True if the run that asked got it.
    pub acquired: bool,
    /// Computer of the run that holds it.
    pub host: Option<String>,
    /// Start of that run, as the database writes it.
    pub started_at: Option<String>,
    /// The settings of the collection, if there was a run before.
    pub settings: Option<Settings>,
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

    /// The settings of a collection, if there was a run.
    pub async fn settings_of(&self, collection: &str) -> Result<Option<Settings>, SupabaseError> {
        #[derive(Deserialize)]
        struct Row {
            settings: Option<Settings>,
        }
        let query = Query::select("kb_syncs", "settings").eq("collection", collection);
        let rows: Vec<Row> = self.client.send(query).await?;
        Ok(rows.into_iter().find_map(|row| row.settings))
    }

    /// Stores the settings of a collection.
    pub async fn store_settings(&self, collection: &str, settings: &Settings) -> Result<(), SupabaseError> {
        let query = Query::update("kb_syncs", &json!({ "settings": settings }), "collection");
        self.client.send::<Value>(query.eq("collection", collection)).await.map(drop)
    }

    /// Returns the lease and stores the summary of the run, and why it did not come to its end.
    pub async fn end_sync(
        &self,
        collection: &str,
        run: Uuid,
        summary: &Value,
        failure: Option<&str>,
    ) -> Result<(), SupabaseError> {
        let arguments =
            json!({ "collection": collection, "run_id": run, "summary": summary, "failure": failure });
        self.client.send::<bool>(Query::call("kb_end_sync", &arguments)).await.map(drop)
    }
}
