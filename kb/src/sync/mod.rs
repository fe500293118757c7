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
mod removal;
mod summary;
mod writer;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use embedder::EmbedderError;
use rayon::prelude::*;
use tokio::sync::mpsc;

use crate::calibration::recalibrate;
use crate::embed::TextEmbedder;
use crate::knowledge_base::{KnowledgeBase, StoredDocument};
use crate::progress::Progress;
use crate::reembed::reembed;
use crate::source::{Item, ListError, Listing, LoadError, Location, Source};
use crate::supabase::SupabaseError;

use fingerprint::Fingerprint;
use lease::Held;
use pipeline::{Loading, load, start};
use plan::{Move, Plan, Snapshot, Write};
use prepare::Preparation;
use removal::Removal;
use writer::Writer;

pub use fingerprint::Defaults;
pub use lease::LeaseTimes;
pub use prepare::Extract;
pub use summary::{Entry, Outcome, Summary};

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
    #[error("another sync of {collection} is still running{}; run this again when it has ended", .host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default())]
    Running {
        /// The collection.
        collection: String,
        /// The computer it runs on.
        host: Option<String>,
    },
    /// The user has had enough.
    #[error("stopped; run it again to go on")]
    Interrupted,
    /// Another run may have begun, because this one stood still for a minute or its lease was deleted.
    #[error("lost the right to write {0}, which another run has now; run it again")]
    LeaseLost(String),
    /// A document that was hidden or restricted in the dashboard would go, and something new come.
    #[error(
        "{document} was hidden or restricted in the dashboard and is not in the source any more, but new documents are: it \
         may be one of them under another name, which everybody would see. Nothing was done. Hide or restrict the new ones \
         at their source, or run it again with --force"
    )]
    HiddenRemoval {
        /// Its source; the first of them.
        document: String,
    },
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

/// Makes the collection equal to the source and the calibration true. `load_embedder` is called only if there is something to
/// embed; `model` is the fingerprint of what it loads.
///
/// # Errors
/// [`SyncError`] if nothing could be done at all. A failure after that is in the summary, with what went well.
pub async fn sync<E: TextEmbedder + 'static>(
    source: &Source,
    knowledge_base: &KnowledgeBase,
    options: &Options,
    model: &str,
    load_embedder: impl Fn() -> Result<E, EmbedderError>,
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
        let outcome = lease.guard(run.execute(&lease, load_embedder)).await;
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

impl<'a> Run<'a> {
    async fn plan_only(mut self) -> Result<Summary, SyncError> {
        let Planned { plan, size, .. } = self.plan().await?;
        self.report.summary.plan = plan.lines();
        if let Err(error) = self.removal(&plan, size).check(&plan.removed) {
            self.report.progress.line(&error.to_string());
        }
        for source in plan.unchanged {
            self.report.record(&source, Outcome::Unchanged);
        }
        Ok(self.report.summary)
    }

    async fn execute<E: TextEmbedder + 'static>(
        mut self,
        lease: &Held<'_>,
        load_embedder: impl Fn() -> Result<E, EmbedderError>,
    ) -> Result<Summary, SyncError> {
        let Planned { plan, size, leftovers, unreadable } = self.plan().await?;
        self.removal(&plan, size).check(&plan.removed)?;
        self.report.progress.line(&plan.outline());
        for line in plan.departures() {
            self.report.progress.line(&line);
        }
        // The plan may have taken so long that another run has begun.
        lease.confirm().await?;
        self.knowledge_base.discard_all(&leftovers).await?;
        for (source, reason) in unreadable {
            let name = source.rsplit('/').next().unwrap_or(&source);
            self.knowledge_base.note_failure(&source, name, &reason).await?;
        }
        let embeds = !plan.write.is_empty() || self.has_chunks_to_embed().await?;
        let embedder = if embeds { Some(load_embedder()?) } else { None };
        let stopped = self.carry_out(plan, size, lease, embedder.as_ref()).await;
        self.report.progress.finish();
        match stopped {
            Ok(()) => self.calibrate(|| embedder.map_or_else(load_embedder, Ok)).await,
            Err(SyncError::Supabase(error)) => self.report.summary.stopped = Some(error.to_string()),
            Err(error) => return Err(error),
        }
        Ok(self.report.summary)
    }

    /// A failure is a warning: the chat goes on with what was measured before.
    async fn calibrate<E: TextEmbedder>(&mut self, load_embedder: impl FnOnce() -> Result<E, EmbedderError>) {
        let Report { summary, progress } = &mut self.report;
        let measured =
            recalibrate(self.knowledge_base, self.model, summary.has_changes(), load_embedder, progress);
        match measured.await {
            Ok(calibration) => summary.calibration = calibration,
            Err(error) => {
                progress.line(&format!("warning: not calibrated: {error}"));
                summary.calibration_failure = Some(error.to_string());
            }
        }
    }

    /// Up to the first error that would hit every later step, too.
    async fn carry_out<E: TextEmbedder + 'static>(
        &mut self,
        plan: Plan,
        size: usize,
        lease: &Held<'_>,
        embedder: Option<&E>,
    ) -> Result<(), SyncError> {
        let mut removal = self.removal(&plan, size);
        let Plan { write, moved, mut removed, unchanged } = plan;
        for source in unchanged {
            self.report.record(&source, Outcome::Unchanged);
        }
        self.rename(moved).await?;
        if let Some(embedder) = embedder {
            let gone = self.write(write, embedder).await?;
            // Found out only now, these may be too many all the same.
            let all: Vec<_> = removed.iter().chain(&gone).cloned().collect();
            removal.adds = false;
            match removal.check(&all) {
                Ok(()) => removed = all,
                Err(error) => {
                    for document in gone {
                        self.report.record(&document.source, Outcome::Failed { reason: error.to_string() });
                    }
                }
            }
        }
        if !removed.is_empty() {
            lease.confirm().await?;
        }
        for batch in removed.chunks(REMOVALS_PER_REQUEST) {
            self.knowledge_base.discard_all(batch).await?;
            for document in batch {
                self.report.record(&document.source, Outcome::Removed);
            }
        }
        if let Some(embedder) = embedder {
            // Passages that an administrator edited, and those with vectors of another model.
            let (knowledge_base, collection) = (self.knowledge_base, &self.options.collection);
            let done =
                reembed(knowledge_base, embedder, self.model, collection, self.report.progress).await?;
            self.report.summary.reembedded = done.written;
            for refused in done.refused {
                self.report.record(&refused.source, Outcome::Failed { reason: refused.reason });
            }
        }
        Ok(())
    }

    async fn rename(&mut self, moved: Vec<Move>) -> Result<(), SupabaseError> {
        for step in moved {
            let (name, stored) = (step.item.name(), step.item.location.in_bucket());
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
        Ok(())
    }

    /// Gives back what its source turned out not to have any more.
    async fn write<E: TextEmbedder + 'static>(
        &mut self,
        writes: Vec<Write>,
        embedder: &E,
    ) -> Result<Vec<StoredDocument>, SupabaseError> {
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        self.report.progress.start(writes.len());
        let mut open: Vec<String> = writes.iter().map(|write| write.source.clone()).collect();
        let preparation = Preparation {
            defaults: self.options.defaults.clone(),
            extract: Arc::clone(&self.options.extract),
            keeps_originals: self.keeps_originals(),
        };
        let (sender, loading) = mpsc::channel::<Loading>(1);
        let mut steps = start(loading, preparation, embedder.clone());
        let mut writer =
            Writer::new(self.knowledge_base, self.model, &self.options.defaults, &mut self.report);
        let loads = load(writes, self.source, self.knowledge_base.client(), sender);
        let writes = async {
            while let Some(step) = steps.recv().await {
                writer.write(step).await?;
            }
            Ok(())
        };
        let stopped = tokio::try_join!(loads, writes).map(drop);
        let gone = writer.into_gone();
        let settled: HashSet<_> =
            self.report.summary.documents.iter().map(|entry| entry.source.as_str()).collect();
        open.retain(|source| gone.iter().all(|document| document.source != *source));
        open.retain(|source| !settled.contains(source.as_str()));
        let reason = match &stopped {
            Ok(()) => "could not be read: its reader ended unexpectedly".to_owned(),
            Err(_) => "not done, because the run was stopped".to_owned(),
        };
        for source in open {
            self.report.record(&source, Outcome::Failed { reason: reason.clone() });
        }
        stopped.map(|()| gone)
    }

    async fn plan(&mut self) -> Result<Planned, SyncError> {
        let listing = self.source.list(self.knowledge_base.client()).await?;
        let Listing { items, skipped, failed, is_complete } = listing;
        for rejected in skipped {
            self.report.record(&rejected.path, Outcome::Skipped { reason: rejected.reason });
        }
        for rejected in failed {
            self.report.record(&rejected.path, Outcome::Failed { reason: rejected.reason });
        }
        let documents = self.knowledge_base.documents_of(&self.options.collection).await?;
        let mut kept = HashSet::new();
        if !is_complete {
            kept.extend(documents.iter().map(|document| document.source.clone()));
        }
        let mut unreadable = Vec::new();
        let mut known = Vec::with_capacity(items.len());
        for (item, fingerprint) in fingerprints(items, &self.options.defaults).await {
            match fingerprint {
                Ok(fingerprint) => known.push((item, fingerprint)),
                Err(error) => {
                    let source = format!("{}/{}", self.options.collection, item.path);
                    let reason = error.to_string();
                    self.report.record(&source, Outcome::Failed { reason: reason.clone() });
                    if documents.iter().all(|document| document.source != source) {
                        unreadable.push((source.clone(), reason));
                    }
                    kept.insert(source);
                }
            }
        }
        let mut snapshot = Snapshot::new(documents);
        let (size, leftovers) = (snapshot.len(), std::mem::take(&mut snapshot.leftovers));
        let (collection, defaults) = (&self.options.collection, &self.options.defaults);
        let mut plan = snapshot.plan(collection, known, &kept, defaults, self.keeps_originals());
        if !plan.removed.is_empty() && matches!(self.source, Source::Bucket) {
            // Pages of a list shift while others delete files: what is really gone is not in a second list either.
            let again = self.source.list(self.knowledge_base.client()).await?.items;
            let there: HashSet<_> = again.iter().map(|item| format!("{collection}/{}", item.path)).collect();
            plan.removed.retain(|document| !there.contains(&document.source));
        }
        Ok(Planned { plan, size, leftovers, unreadable })
    }

    fn removal(&self, plan: &Plan, size: usize) -> Removal<'a> {
        Removal {
            collection: &self.options.collection,
            all: size,
            has_documents: plan.has_documents(),
            adds: plan.adds(),
            is_forced: self.options.force,
        }
    }

    fn keeps_originals(&self) -> bool {
        self.options.keeps_originals && matches!(self.source, Source::Folder(_))
    }

    async fn has_chunks_to_embed(&self) -> Result<bool, SupabaseError> {
        let collection = Some(self.options.collection.as_str());
        let next = self.knowledge_base.chunks_to_embed(Some(self.model), collection, None, 1).await?;
        Ok(!next.is_empty())
    }
}

/// The plan, and what has to be known besides.
struct Planned {
    plan: Plan,
    /// Documents that were there before.
    size: usize,
    /// Documents that are not ready.
    leftovers: Vec<StoredDocument>,
    /// New documents that cannot be read, and why.
    unreadable: Vec<(String, String)>,
}

/// What tells about the content of items without their being processed. On other threads: it takes its time, and the
/// lease has to be renewed.
async fn fingerprints(items: Vec<Item>, defaults: &Defaults) -> Vec<(Item, Result<Fingerprint, LoadError>)> {
    let defaults = defaults.clone();
    let all = move || {
        let with_fingerprint = |item: Item| {
            let fingerprint = fingerprint(&item, &defaults);
            (item, fingerprint)
        };
        items.into_par_iter().map(with_fingerprint).collect()
    };
    match tokio::task::spawn_blocking(all).await {
        Ok(fingerprints) => fingerprints,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}

/// What tells about an item's content without its being processed.
fn fingerprint(item: &Item, defaults: &Defaults) -> Result<Fingerprint, LoadError> {
    Ok(match (&item.location, &item.version, item.format) {
        (Location::File(file), _, Some(format)) => {
            Fingerprint::Content(defaults.content_hash_of(format, &mut file.reader()?)?)
        }
        (_, Some(version), _) => Fingerprint::Version(defaults.source_version(version)),
        _ => Fingerprint::Unknown,
    })
}
