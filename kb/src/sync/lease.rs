//! The lease of a collection: one run at a time may write it.

use std::time::Duration;

use serde_json::json;
use uuid::Uuid;

use super::summary::Summary;
use super::{Settings, SyncError};
use crate::knowledge_base::KnowledgeBase;
use crate::progress::Progress;
use crate::stop::stop_requested;

/// Timing of the lease, which ends 60 s after its last renewal.
#[derive(Debug, Clone, Copy)]
pub struct LeaseTimes {
    pub renewal: Duration,
    /// Maximum wait for another run.
    pub max_wait: Duration,
    /// Interval between attempts to get the lease.
    pub poll: Duration,
}

impl Default for LeaseTimes {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { renewal: seconds(15), max_wait: seconds(3600), poll: seconds(2) }
    }
}

/// Maximum time spent on returning the lease.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(10);

/// A lease that this run holds.
pub(super) struct HeldLease<'a> {
    knowledge_base: &'a KnowledgeBase,
    collection: &'a str,
    run: Uuid,
    times: LeaseTimes,
    /// The settings of the collection, if there was a run before.
    pub(super) stored: Option<Settings>,
}

/// Waits for the lease: its holder may be running, or may have been killed less than a minute ago.
pub(super) async fn acquire<'a>(
    knowledge_base: &'a KnowledgeBase,
    collection: &'a str,
    times: LeaseTimes,
    progress: &Progress,
) -> Result<HeldLease<'a>, SyncError> {
    let run = Uuid::new_v4();
    let mut waited = Duration::ZERO;
    loop {
        let lease = knowledge_base.begin_sync(collection, run, &host()).await?;
        if lease.acquired {
            let stored = lease.settings;
            return Ok(HeldLease { knowledge_base, collection, run, times, stored });
        }
        if waited >= times.max_wait {
            return Err(SyncError::Running { collection: collection.to_owned(), host: lease.host });
        }
        if waited.is_zero() {
            let host = lease.host.as_deref().unwrap_or("another computer");
            progress.line(&format!(
                "another sync of {collection} is running on {host}, or was killed less than a minute ago; waiting for its lease"
            ));
        }
        tokio::select! {
            () = tokio::time::sleep(times.poll) => {}
            () = stop_requested() => return Err(SyncError::Interrupted),
        }
        waited += times.poll;
    }
}

impl HeldLease<'_> {
    /// Runs `work` while renewing the lease; stops with an error when the lease is lost or the program is asked to stop.
    pub(super) async fn guard<T>(
        &self,
        work: impl Future<Output = Result<T, SyncError>>,
    ) -> Result<T, SyncError> {
        tokio::select! {
            outcome = work => outcome,
            error = self.renew() => Err(error),
            () = stop_requested() => Err(SyncError::Interrupted),
        }
    }

    /// Renews the lease.
    ///
    /// # Errors
    /// If another run holds it, or the request fails.
    pub(super) async fn confirm(&self) -> Result<(), SyncError> {
        match self.knowledge_base.renew_sync(self.collection, self.run).await? {
            true => Ok(()),
            false => Err(SyncError::LeaseLost(self.collection.to_owned())),
        }
    }

    /// Renews the lease until it is lost. A failed request is ignored: writes fail, too, while the server is unreachable.
    async fn renew(&self) -> SyncError {
        loop {
            tokio::time::sleep(self.times.renewal).await;
            if let Err(error @ SyncError::LeaseLost(_)) = self.confirm().await {
                return error;
            }
        }
    }

    /// Returns the lease, so that the next run need not wait. If that fails, the lease expires.
    pub(super) async fn release(&self, outcome: &Result<Summary, SyncError>) {
        let (summary, failure) = match outcome {
            Ok(summary) => (json!(summary.counts), summary.stopped.clone()),
            Err(error) => (json!({}), Some(error.to_string())),
        };
        let end = self.knowledge_base.end_sync(self.collection, self.run, &summary, failure.as_deref());
        let _ = tokio::time::timeout(RELEASE_TIMEOUT, end).await;
    }
}

/// Host name of this computer.
pub(crate) fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("HOSTNAME").ok()).or_else(|| std::env::var("COMPUTERNAME").ok());
    name.map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "unknown".to_owned())
}
