//! Makes one collection of the knowledge base equal to its source.
//!
//! Each document is written as *pending*, which nobody can see, and published in one transaction when all its chunks,
//! sentences and vectors are there. Whatever stops a run, people see the old version or the new one, never a part; what a
//! stopped run leaves behind is deleted by the next one, and what it finished is not done again. A lease in the
//! database ([`lease`]) keeps two runs on one collection apart.

mod embedding;
mod fingerprint;
mod lease;
mod pipeline;
mod plan;
mod prepare;
mod summary;
mod writer;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use embedder::EmbedderError;
use rayon::prelude::*;
use tokio::sync::mpsc;

use crate::embed::TextEmbedder;
use crate::knowledge_base::KnowledgeBase;
use crate::progress::Progress;
use crate::reembed::{ReembedError, reembed};
use crate::source::{Item, ListError, Listing, LoadError, Location, Source, folder};
use crate::supabase::SupabaseError;

use fingerprint::Fingerprint;
use pipeline::{Loading, load, start};
use plan::{Plan, Snapshot, Write};
use prepare::Preparation;
use writer::Writer;

pub use fingerprint::Defaults;
pub use lease::LeaseTimes;
pub use prepare::Extract;
pub use summary::{Entry, Outcome, Summary};

/// A run that would remove at least this many documents, and more than half of the collection, has to be forced, as one
/// that finds no document at all: an empty folder is more often a disk that is not there.
const MANY_REMOVALS: usize = 10;

/// Documents removed together.
const REMOVALS_PER_REQUEST: usize = 100;

/// What the user asked for.
pub struct Options {
    /// First part of the documents' sources.
    pub collection: String,
    /// For documents that do not say otherwise.
    pub defaults: Defaults,
    /// Only show what would be done.
    pub dry_run: bool,
    /// Whether files of a folder are copied to the bucket.
    pub keeps_originals: bool,
    /// Whether most of the collection may be removed.
    pub force: bool,
    /// Reads the text of a file.
    pub extract: Arc<Extract>,
    /// How long to wait for another run, and how often to look.
    pub lease_times: LeaseTimes,
}

/// Why a run could not do anything.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// The source cannot be listed.
    #[error(transparent)]
    List(#[from] ListError),
    /// The knowledge base cannot be read or written.
    #[error(transparent)]
    Supabase(#[from] SupabaseError),
    /// The model cannot be used.
    #[error(transparent)]
    Embedder(#[from] EmbedderError),
    /// Somebody else is at it.
    #[error("another sync of {collection} is running{}; wait for it to end", .host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default())]
    Running {
        /// The collection.
        collection: String,
        /// The computer it runs on.
        host: Option<String>,
    },
    /// The user has had enough.
    #[error("stopped; run it again to go on")]
    Interrupted,
    /// This run stood still so long that another one may have begun.
    #[error("lost the right to write {0}, because this run stood still for a minute; run it again")]
    LeaseLost(String),
    /// More would be removed than a user is likely to want.
    #[error(
        "{removed} of {all} documents of {collection} are not in the source any more; nothing was done. If they are to \
         be removed, run it again with --force"
    )]
    ManyRemovals {
        /// How many.
        removed: usize,
        /// Of how many.
        all: usize,
        /// The collection.
        collection: String,
    },
}

/// What is said and kept while a run goes on.
struct Report<'a> {
    summary: Summary,
    progress: &'a Progress,
}

impl Report<'_> {
    fn record(&mut self, source: &str, outcome: Outcome) {
        let entry = Entry { source: source.to_owned(), outcome };
        if let Some(line) = entry.line() {
            self.progress.line(&line);
        }
        self.progress.document_done(entry.outcome.chunks());
        self.summary.documents.push(entry);
    }
}

/// Makes the collection equal to the source. `load_embedder` is called only if there is something to embed; `model` is the
/// fingerprint of what it loads.
///
/// # Errors
/// [`SyncError`] if nothing could be done at all. A failure after that is in the summary, with what went well.
pub async fn sync<E: TextEmbedder + 'static>(
    source: &Source,
    knowledge_base: &KnowledgeBase,
    options: &Options,
    model: &str,
    load_embedder: impl FnOnce() -> Result<E, EmbedderError>,
    progress: &Progress,
) -> Result<Summary, SyncError> {
    let started = Instant::now();
    let report = Report { summary: Summary::new(&options.collection, options.dry_run), progress };
    let run = Run { source, knowledge_base, options, model, report };
    let mut summary = if options.dry_run {
        run.plan_only().await?
    } else {
        let lease =
            lease::acquire(knowledge_base, &options.collection, options.lease_times, progress).await?;
        let outcome = lease.guard(run.execute(load_embedder)).await;
        lease.release(outcome.as_ref().ok()).await;
        outcome?
    };
    summary.seconds = started.elapsed().as_secs_f64();
    Ok(summary)
}

struct Run<'a> {
    source: &'a Source,
    knowledge_base: &'a KnowledgeBase,
    options: &'a Options,
    model: &'a str,
    report: Report<'a>,
}

impl Run<'_> {
    async fn plan_only(mut self) -> Result<Summary, SyncError> {
        let (plan, _) = self.plan().await?;
        self.report.summary.plan = plan.lines();
        for source in plan.unchanged {
            self.report.record(&source, Outcome::Unchanged);
        }
        Ok(self.report.summary)
    }

    async fn execute<E: TextEmbedder + 'static>(
        mut self,
        load_embedder: impl FnOnce() -> Result<E, EmbedderError>,
    ) -> Result<Summary, SyncError> {
        let (plan, snapshot) = self.plan().await?;
        self.guard_removals(&plan, snapshot.size)?;
        self.report.progress.lines(&plan.lines());
        self.knowledge_base.discard_all(&snapshot.leftovers).await?;
        let embeds = !plan.write.is_empty() || self.has_stale_chunks().await?;
        let embedder = if embeds { Some(load_embedder()?) } else { None };
        for source in plan.unchanged {
            self.report.record(&source, Outcome::Unchanged);
        }
        let stopped = self.carry_out(plan.write, plan.moved, plan.removed, embedder.as_ref()).await;
        self.report.progress.finish();
        if let Err(error) = stopped {
            self.report.summary.stopped = Some(error.to_string());
        }
        Ok(self.report.summary)
    }

    /// Up to the first error that would hit every later step, too.
    async fn carry_out<E: TextEmbedder + 'static>(
        &mut self,
        write: Vec<Write>,
        moved: Vec<plan::Move>,
        removed: Vec<crate::knowledge_base::StoredDocument>,
        embedder: Option<&E>,
    ) -> Result<(), SupabaseError> {
        for step in moved {
            let stored = match &step.item.location {
                Location::Stored(path) => Some(path.as_str()),
                Location::File(_) | Location::Page(_) => None,
            };
            let name = step.item.name();
            let moved = self.knowledge_base.move_document(step.from.id, &step.source, name, stored).await;
            let outcome = match moved {
                Ok(()) => Outcome::Moved { from: step.from.source.clone() },
                Err(error) if error.concerns_only_this_document() => {
                    Outcome::Failed { reason: error.to_string() }
                }
                Err(error) => return Err(error),
            };
            self.report.record(&step.source, outcome);
        }
        if let Some(embedder) = embedder {
            self.write(write, embedder).await?;
        }
        for batch in removed.chunks(REMOVALS_PER_REQUEST) {
            self.knowledge_base.discard_all(batch).await?;
            for document in batch {
                self.report.record(&document.source, Outcome::Removed);
            }
        }
        if let Some(embedder) = embedder {
            // Passages that an administrator edited. A failure leaves them as they are, for the next run.
            match reembed(self.knowledge_base, embedder, self.model, false, self.report.progress).await {
                Ok(done) => self.report.summary.reembedded = done.written,
                Err(ReembedError::Supabase(error)) => return Err(error),
            }
        }
        Ok(())
    }

    async fn write<E: TextEmbedder + 'static>(
        &mut self,
        writes: Vec<Write>,
        embedder: &E,
    ) -> Result<(), SupabaseError> {
        if writes.is_empty() {
            return Ok(());
        }
        self.report.progress.start(writes.len());
        let mut open: Vec<String> = writes.iter().map(|write| write.source.clone()).collect();
        let preparation = Preparation {
            defaults: self.options.defaults.clone(),
            extract: Arc::clone(&self.options.extract),
            keeps_originals: self.options.keeps_originals && matches!(self.source, Source::Folder(_)),
        };
        let (sender, loading) = mpsc::channel::<Loading>(1);
        let mut steps = start(loading, preparation, embedder.clone());
        let mut writer = Writer::new(self.knowledge_base, self.model, &mut self.report);
        let loads = load(writes, self.source, self.knowledge_base.client(), sender);
        let writes = async {
            while let Some(step) = steps.recv().await {
                writer.write(step).await?;
            }
            Ok(())
        };
        let stopped = tokio::try_join!(loads, writes).map(drop);
        let settled: HashSet<_> =
            self.report.summary.documents.iter().map(|entry| entry.source.as_str()).collect();
        open.retain(|source| !settled.contains(source.as_str()));
        let reason = match &stopped {
            Ok(()) => "could not be read: its reader ended unexpectedly".to_owned(),
            Err(_) => "not done, because the run was stopped".to_owned(),
        };
        for source in open {
            self.report.record(&source, Outcome::Failed { reason: reason.clone() });
        }
        stopped
    }

    async fn plan(&mut self) -> Result<(Plan, Before), SyncError> {
        let listing = self.source.list(self.knowledge_base.client()).await?;
        let Listing { items, skipped, failed, is_complete } = listing;
        for rejected in skipped {
            self.report.record(&rejected.path, Outcome::Skipped { reason: rejected.reason });
        }
        for rejected in failed {
            self.report.record(&rejected.path, Outcome::Failed { reason: rejected.reason });
        }
        let documents = self.knowledge_base.documents_of(&self.options.collection).await?;
        let other_model = self.knowledge_base.documents_of_other_models(self.model).await?;
        let mut kept = HashSet::new();
        if !is_complete {
            kept.extend(documents.iter().map(|document| document.source.clone()));
        }
        let defaults = &self.options.defaults;
        let fingerprints: Vec<_> = items.par_iter().map(|item| fingerprint(item, defaults)).collect();
        let mut known = Vec::with_capacity(items.len());
        for (item, fingerprint) in items.into_iter().zip(fingerprints) {
            match fingerprint {
                Ok(fingerprint) => known.push((item, fingerprint)),
                Err(error) => {
                    let source = format!("{}/{}", self.options.collection, item.path);
                    self.report.record(&source, Outcome::Failed { reason: error.to_string() });
                    kept.insert(source);
                }
            }
        }
        let mut snapshot = Snapshot::new(documents, other_model);
        let before = Before { size: snapshot.len(), leftovers: std::mem::take(&mut snapshot.leftovers) };
        Ok((snapshot.plan(&self.options.collection, known, &kept, defaults), before))
    }

    fn guard_removals(&self, plan: &Plan, all: usize) -> Result<(), SyncError> {
        let removed = plan.removed.len();
        let is_most = removed >= MANY_REMOVALS && removed * 2 > all;
        let is_all = removed > 0 && plan.has_no_documents();
        if self.options.force || !(is_most || is_all) {
            return Ok(());
        }
        Err(SyncError::ManyRemovals { removed, all, collection: self.options.collection.clone() })
    }

    async fn has_stale_chunks(&self) -> Result<bool, SupabaseError> {
        let next = self.knowledge_base.chunks_to_embed(self.model, None, 1).await?;
        Ok(!next.is_empty())
    }
}

/// What has to be known of a collection besides the plan.
struct Before {
    size: usize,
    leftovers: Vec<crate::knowledge_base::StoredDocument>,
}

/// What tells about an item's content without its being processed.
fn fingerprint(item: &Item, defaults: &Defaults) -> Result<Fingerprint, LoadError> {
    Ok(match (&item.location, &item.version, item.format) {
        (Location::File(path), _, Some(format)) => {
            Fingerprint::Content(defaults.content_hash(format, &folder::read(path)?))
        }
        (_, Some(version), _) => Fingerprint::Version(defaults.source_version(version)),
        _ => Fingerprint::Unknown,
    })
}
