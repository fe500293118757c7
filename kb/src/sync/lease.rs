//! The right to write a collection, which one run has at a time.

use std::time::Duration;

use serde_json::json;
use uuid::Uuid;

use super::SyncError;
use super::summary::Summary;
use crate::knowledge_base::KnowledgeBase;
use crate::progress::Progress;

/// When to do what about the lease, which ends 60 s after it was last renewed.
#[derive(Debug, Clone, Copy)]
pub struct LeaseTimes {
    /// How often it is renewed.
    pub renewal: Duration,
    /// How long to wait for another run.
    pub patience: Duration,
    /// How often to look whether it has ended.
    pub poll: Duration,
}

impl Default for LeaseTimes {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { renewal: seconds(15), patience: seconds(3600), poll: seconds(2) }
    }
}

/// How long to try to give it back.
const RELEASE: Duration = Duration::from_secs(10);

/// A lease that this run has.
pub(super) struct Held<'a> {
    knowledge_base: &'a KnowledgeBase,
    collection: &'a str,
    run: Uuid,
    times: LeaseTimes,
}

/// Waits for the lease as long as its holder may be a run that was killed.
pub(super) async fn acquire<'a>(
    knowledge_base: &'a KnowledgeBase,
    collection: &'a str,
    times: LeaseTimes,
    progress: &Progress,
) -> Result<Held<'a>, SyncError> {
    let run = Uuid::new_v4();
    let mut waited = Duration::ZERO;
    loop {
        let lease = knowledge_base.begin_sync(collection, run, &host()).await?;
        if lease.acquired {
            return Ok(Held { knowledge_base, collection, run, times });
        }
        if waited >= times.patience {
            return Err(SyncError::Running { collection: collection.to_owned(), host: lease.host });
        }
        if waited.is_zero() {
            let host = lease.host.as_deref().unwrap_or("another computer");
            progress.line(&format!(
                "another sync of {collection} is running on {host}, or was stopped less than a minute ago: waiting for it"
            ));
        }
        tokio::time::sleep(times.poll).await;
        waited += times.poll;
    }
}

impl Held<'_> {
    /// Does the work while the lease lasts; ends with an error when it was lost.
    pub(super) async fn guard<T>(
        &self,
        work: impl Future<Output = Result<T, SyncError>>,
    ) -> Result<T, SyncError> {
        tokio::select! {
            outcome = work => outcome,
            error = self.renew() => Err(error),
            () = interruption() => Err(SyncError::Interrupted),
        }
    }

    /// Keeps the lease, or says that it is lost.
    ///
    /// # Errors
    /// If another run has it, or the server cannot be asked.
    pub(super) async fn confirm(&self) -> Result<(), SyncError> {
        match self.knowledge_base.renew_sync(self.collection, self.run).await? {
            true => Ok(()),
            false => Err(SyncError::LeaseLost(self.collection.to_owned())),
        }
    }

    /// Until the lease is lost. That the server cannot be asked now and then is no loss: what is written then fails too.
    async fn renew(&self) -> SyncError {
        loop {
            tokio::time::sleep(self.times.renewal).await;
            if let Err(error @ SyncError::LeaseLost(_)) = self.confirm().await {
                return error;
            }
        }
    }

    /// Lets the next run begin at once. If that fails, the lease ends by itself.
    pub(super) async fn release(&self, summary: Option<&Summary>) {
        let summary = summary.map_or_else(|| json!({}), |summary| summary.counts_json());
        let end = self.knowledge_base.end_sync(self.collection, self.run, &summary);
        let _ = tokio::time::timeout(RELEASE, end).await;
    }
}

/// Waits for Ctrl-C, so that the lease is given back and the next run need not wait for its end.
async fn interruption() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// What people know this computer by.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("HOSTNAME").ok()).or_else(|| std::env::var("COMPUTERNAME").ok());
    name.map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "unknown".to_owned())
}
