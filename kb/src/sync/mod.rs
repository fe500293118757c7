//! Makes one collection of the knowledge base equal to its source.
//!
//! Each document is written as *pending*, which nobody can see, and published in one transaction when all its chunks,
//! sentences and vectors are there. Whenever a run stops, users see the old version or the new one, never a part of it. The
//! next run deletes what a stopped run left behind and does not repeat what it finished. A lease in the database
//! (`lease`) ensures that one run at a time writes a collection.

mod alike;
mod batch;
mod error;
mod fingerprint;
mod lease;
mod options;
mod pipeline;
mod plan;
mod prepare;
mod removal;
mod run;
mod run_log;
mod settings;
mod sketch;
mod summary;
mod writer;

use std::time::Instant;

use crate::knowledge_base::KnowledgeBase;
use crate::model_files::ModelError;
use crate::progress::Progress;
use crate::source::Source;
use crate::text_embedder::TextEmbedder;

use run::SyncRun;
use run_log::RunLog;

pub use error::SyncError;
pub use fingerprint::Defaults;
pub use lease::LeaseTimes;
pub(crate) use lease::host;
pub use options::Options;
pub use prepare::Extract;
pub use settings::Settings;
pub use summary::{Counts, DocumentResult, Entry, Summary, Written};

/// Makes the collection equal to the source, and calibrates the knowledge base again if it changed. `load_embedder` is called
/// only if there is something to embed; `model` is the fingerprint of the model that it loads.
///
/// # Errors
/// [`SyncError`] if nothing could be done. Later failures are in the summary, together with what succeeded.
pub async fn sync<E: TextEmbedder + 'static>(
    source: &Source,
    knowledge_base: &KnowledgeBase,
    options: &Options,
    model: &str,
    load_embedder: impl Fn() -> Result<E, ModelError>,
    progress: &Progress,
) -> Result<Summary, SyncError> {
    let started = Instant::now();
    let log = RunLog::new(Summary::new(&options.collection, options.dry_run), progress);
    let run = |stored: Option<&Settings>| {
        let settings = options.settings.resolve(stored, options.change_settings, &options.collection)?;
        let defaults = settings.defaults();
        Ok::<_, SyncError>(SyncRun { source, knowledge_base, options, settings, defaults, model, log })
    };
    let mut summary = if options.dry_run {
        let stored = knowledge_base.settings_of(&options.collection).await?;
        run(stored.as_ref())?.plan_only().await?
    } else {
        let lease =
            lease::acquire(knowledge_base, &options.collection, options.lease_times, progress).await?;
        let work = async { run(lease.stored.as_ref())?.execute(&lease, load_embedder).await };
        let outcome = lease.guard(work).await;
        lease.release(&outcome).await;
        outcome?
    };
    summary.seconds = started.elapsed().as_secs_f64();
    Ok(summary)
}
