//! The reports of `kb watch` about itself.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::KnowledgeBase;
use crate::supabase::{Query, SupabaseError};

/// A `kb watch`, as it last reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Its sources, separated by `, `.
    pub sources: String,
    /// Computer that it runs on.
    pub host: Option<String>,
    /// Pause between two rounds; `None` if it runs one at a time, started by something else.
    pub interval_seconds: Option<u64>,
    /// Timestamps as the database writes them. It reports every minute while it runs.
    pub seen_at: String,
    /// End of its last round.
    pub finished_at: Option<String>,
    /// Why its last round failed.
    pub failure: Option<String>,
    pub stopped_at: Option<String>,
}

/// An event that a `kb watch` reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchEvent<'a> {
    Running,
    /// A round has ended, with the reason if it failed.
    Finished(Option<&'a str>),
    Stopped,
}

impl KnowledgeBase {
    /// Records what a `kb watch` of these sources does.
    pub async fn report_watch(
        &self,
        sources: &str,
        host: &str,
        interval_seconds: Option<u64>,
        event: WatchEvent<'_>,
    ) -> Result<(), SupabaseError> {
        let (event, failure) = match event {
            WatchEvent::Running => ("running", None),
            WatchEvent::Finished(failure) => ("finished", failure),
            WatchEvent::Stopped => ("stopped", None),
        };
        let arguments = json!({
            "sources": sources, "event": event, "host": host, "interval_seconds": interval_seconds, "failure": failure,
        });
        self.client.send::<Value>(Query::call("kb_report_watch", &arguments)).await.map(drop)
    }

    /// Every `kb watch` that has reported.
    pub async fn watches(&self) -> Result<Vec<Watch>, SupabaseError> {
        let columns = "sources,host,interval_seconds,seen_at,finished_at,failure,stopped_at";
        self.client.send(Query::select("kb_watches", columns).order("sources.asc")).await
    }
}
