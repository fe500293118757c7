//! The steps of a run: plan, write, remove, embed again, calibrate.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use super::fingerprint::fingerprints;
use super::lease::HeldLease;
use super::pipeline::{Loading, load, start};
use super::plan::{Move, Plan, Snapshot, Write};
use super::prepare::Preparation;
use super::removal::Removal;
use super::run_log::RunLog;
use super::writer::Writer;
use super::{DocumentResult, Options, Summary, SyncError};
use crate::calibration::recalibrate;
use crate::knowledge_base::{KnowledgeBase, StoredDocument};
use crate::reembed::reembed;
use crate::source::{Listing, Source};
use crate::supabase::SupabaseError;
use crate::text_embedder::{ModelError, TextEmbedder};

const REMOVALS_PER_REQUEST: usize = 100;

/// Documents that are renamed at the same time.
const MAX_CONCURRENT_RENAMES: usize = 4;

/// One run, with what it works on.
pub(super) struct SyncRun<'a> {
    pub(super) source: &'a Source,
    pub(super) knowledge_base: &'a KnowledgeBase,
    pub(super) options: &'a Options,
    pub(super) model: &'a str,
    pub(super) log: RunLog<'a>,
}

impl<'a> SyncRun<'a> {
    pub(super) async fn plan_only(mut self) -> Result<Summary, SyncError> {
        let Planned { plan, size, .. } = self.plan().await?;
        self.log.summary.plan = plan.lines();
        if let Err(error) = self.removal(&plan, size).check(&plan.removed) {
            self.log.progress.line(&error.to_string());
        }
        for source in plan.unchanged {
            self.log.record(&source, DocumentResult::Unchanged);
        }
        Ok(self.log.summary)
    }

    pub(super) async fn execute<E: TextEmbedder + 'static>(
        mut self,
        lease: &HeldLease<'_>,
        load_embedder: impl Fn() -> Result<E, ModelError>,
    ) -> Result<Summary, SyncError> {
        let Planned { plan, size, leftovers, unreadable } = self.plan().await?;
        self.removal(&plan, size).check(&plan.removed)?;
        self.log.progress.state(&plan.outline());
        for line in plan.removals_and_moves() {
            self.log.progress.line(&line);
        }
        // Planning may take so long that the lease ends and another run begins.
        lease.confirm().await?;
        self.knowledge_base.delete_with_originals(&leftovers).await?;
        for (source, reason) in unreadable {
            let name = source.rsplit('/').next().unwrap_or(&source);
            self.knowledge_base.note_failure(&source, name, &reason).await?;
        }
        let needs_embedder = !plan.write.is_empty() || self.has_chunks_to_embed().await?;
        let embedder = if needs_embedder { Some(load_embedder()?) } else { None };
        let stopped = self.apply(plan, size, lease, embedder.as_ref()).await;
        self.log.progress.finish();
        match stopped {
            Ok(()) => self.calibrate(|| embedder.map_or_else(load_embedder, Ok)).await,
            Err(SyncError::Supabase(error)) => self.log.summary.stopped = Some(error.to_string()),
            Err(error) => return Err(error),
        }
        Ok(self.log.summary)
    }

    /// A failure is only a warning: the chat goes on with the previous calibration.
    async fn calibrate<E: TextEmbedder>(&mut self, load_embedder: impl FnOnce() -> Result<E, ModelError>) {
        let RunLog { summary, progress, .. } = &mut self.log;
        let measured =
            recalibrate(self.knowledge_base, self.model, summary.has_changes(), load_embedder, progress);
        match measured.await {
            Ok(calibration) => summary.calibration = calibration,
            Err(error) => {
                progress.state(&format!("warning: not calibrated: {error}"));
                summary.calibration_failure = Some(error.to_string());
            }
        }
    }

    /// Stops at the first error that would affect every later step, too.
    async fn apply<E: TextEmbedder + 'static>(
        &mut self,
        plan: Plan,
        size: usize,
        lease: &HeldLease<'_>,
        embedder: Option<&E>,
    ) -> Result<(), SyncError> {
        let mut removal = self.removal(&plan, size);
        let Plan { write, moved, mut removed, unchanged } = plan;
        for source in unchanged {
            self.log.record(&source, DocumentResult::Unchanged);
        }
        self.rename(moved).await?;
        if let Some(embedder) = embedder {
            let gone = self.write(write, embedder).await?;
            // Loading may show that further documents are gone, so check the removals again.
            let all: Vec<_> = removed.iter().chain(&gone).cloned().collect();
            removal.adds_documents = false;
            match removal.check(&all) {
                Ok(()) => removed = all,
                Err(error) => {
                    for document in gone {
                        self.log
                            .record(&document.source, DocumentResult::Failed { reason: error.to_string() });
                    }
                }
            }
        }
        if !removed.is_empty() {
            lease.confirm().await?;
        }
        for batch in removed.chunks(REMOVALS_PER_REQUEST) {
            self.knowledge_base.delete_with_originals(batch).await?;
            for document in batch {
                self.log.record(&document.source, DocumentResult::Removed);
            }
        }
        if let Some(embedder) = embedder {
            // Passages that an administrator edited, and passages with vectors of another model.
            let (knowledge_base, collection) = (self.knowledge_base, &self.options.collection);
            let done = reembed(knowledge_base, embedder, self.model, collection, self.log.progress).await?;
            self.log.summary.reembedded = done.written;
            for refused in done.refused {
                self.log.record(&refused.source, DocumentResult::Failed { reason: refused.reason });
            }
        }
        Ok(())
    }

    async fn rename(&mut self, moved: Vec<Move>) -> Result<(), SupabaseError> {
        let knowledge_base = self.knowledge_base;
        let mut renamed = stream::iter(moved)
            .map(|step| async move {
                let (name, stored) = (step.item.name(), step.item.location.in_bucket());
                (knowledge_base.move_document(step.from.id, &step.source, name, stored).await, step)
            })
            .buffered(MAX_CONCURRENT_RENAMES);
        while let Some((moved, step)) = renamed.next().await {
            let outcome = match moved {
                Ok(()) => DocumentResult::Moved { from: step.from.source.clone() },
                Err(error) if error.concerns_only_this_document() => {
                    DocumentResult::Failed { reason: error.to_string() }
                }
                Err(error) => return Err(error),
            };
            self.log.record(&step.source, outcome);
        }
        Ok(())
    }

    /// Returns the documents that are no longer in the source, as loading them showed.
    async fn write<E: TextEmbedder + 'static>(
        &mut self,
        mut writes: Vec<Write>,
        embedder: &E,
    ) -> Result<Vec<StoredDocument>, SupabaseError> {
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        spread(&mut writes);
        self.log.begin_writing(&writes);
        let mut open: Vec<String> = writes.iter().map(|write| write.source.clone()).collect();
        let preparation = Preparation {
            defaults: self.options.defaults.clone(),
            extract: Arc::clone(&self.options.extract),
            keeps_originals: self.keeps_originals(),
        };
        let (sender, loading) = mpsc::channel::<Loading>(1);
        let mut steps = start(loading, preparation, embedder.clone());
        let mut writer = Writer::new(self.knowledge_base, self.model, &self.options.defaults, &mut self.log);
        let loads = load(writes, self.source, self.knowledge_base.client(), sender);
        let writes = async {
            while let Some(step) = steps.recv().await {
                writer.write(step).await?;
            }
            Ok(())
        };
        let stopped = tokio::try_join!(loads, writes).map(drop);
        let gone = writer.into_gone();
        self.log.end_writing();
        let recorded = self.log.summary.documents.iter().map(|entry| &entry.source);
        let settled: HashSet<&String> =
            recorded.chain(gone.iter().map(|document| &document.source)).collect();
        open.retain(|source| !settled.contains(source));
        let reason = match &stopped {
            Ok(()) => "could not be read: its reader ended unexpectedly".to_owned(),
            Err(_) => "not processed, because the run was stopped".to_owned(),
        };
        for source in open {
            self.log.record(&source, DocumentResult::Failed { reason: reason.clone() });
        }
        stopped.map(|()| gone)
    }

    async fn plan(&mut self) -> Result<Planned, SyncError> {
        let listing = self.source.list(self.knowledge_base.client()).await?;
        let Listing { items, skipped, failed, is_complete } = listing;
        for rejected in skipped {
            self.log.record(&rejected.path, DocumentResult::Skipped { reason: rejected.reason });
        }
        for rejected in failed {
            self.log.record(&rejected.path, DocumentResult::Failed { reason: rejected.reason });
        }
        let documents = self.knowledge_base.documents_in(&self.options.collection).await?;
        let mut kept = HashSet::new();
        if !is_complete {
            kept.extend(documents.iter().map(|document| document.source.clone()));
        }
        let stored: HashSet<&str> = documents.iter().map(|document| document.source.as_str()).collect();
        let mut unreadable = Vec::new();
        let mut known = Vec::with_capacity(items.len());
        for (item, fingerprint) in fingerprints(items, &self.options.defaults).await {
            match fingerprint {
                Ok(fingerprint) => known.push((item, fingerprint)),
                Err(error) => {
                    let source = format!("{}/{}", self.options.collection, item.path);
                    let reason = error.to_string();
                    self.log.record(&source, DocumentResult::Failed { reason: reason.clone() });
                    if !stored.contains(source.as_str()) {
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
            // Pages of a list shift while others delete files: only a file that a second list lacks, too, is gone.
            let again = self.source.list(self.knowledge_base.client()).await?.items;
            let still_listed: HashSet<_> =
                again.iter().map(|item| format!("{collection}/{}", item.path)).collect();
            plan.removed.retain(|document| !still_listed.contains(&document.source));
        }
        Ok(Planned { plan, size, leftovers, unreadable })
    }

    fn removal(&self, plan: &Plan, size: usize) -> Removal<'a> {
        Removal {
            collection: &self.options.collection,
            all: size,
            has_documents: plan.has_documents(),
            adds_documents: plan.adds_documents(),
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

/// Sorts documents by a hash of their source, the same in every run. In this order, the first tenth is like the rest, so that it
/// tells how long the rest takes: in the order of their names, short pages of one folder may come before long ones of the next.
fn spread(writes: &mut [Write]) {
    writes.sort_by_cached_key(|write| Sha256::digest(&write.source));
}

/// A plan and its context.
struct Planned {
    plan: Plan,
    /// Ready documents before the run.
    size: usize,
    /// Rows that are not ready: unfinished versions and notes of failures.
    leftovers: Vec<StoredDocument>,
    /// New documents that cannot be read, and why.
    unreadable: Vec<(String, String)>,
}
