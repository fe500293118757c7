//! The steps of a run: plan, write new documents, remove missing ones, write the others, embed again, calibrate.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use futures_util::{StreamExt, stream};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::fingerprint::fingerprints;
use super::lease::HeldLease;
use super::pipeline::{load, start};
use super::plan::{Change, Move, Plan, Snapshot, Write};
use super::prepare::Preparation;
use super::removal::{Removal, stays};
use super::run_log::RunLog;
use super::writer::Writer;
use super::{Defaults, DocumentResult, Options, Settings, Summary, SyncError};
use crate::calibration::recalibrate;
use crate::knowledge_base::{KnowledgeBase, Status, StoredDocument};
use crate::model_files::ModelError;
use crate::reembed::reembed;
use crate::source::{Listing, LoadError, Rejected, Source};
use crate::supabase::SupabaseError;
use crate::text_embedder::TextEmbedder;

const REMOVALS_PER_REQUEST: usize = 100;

/// Why a document was not written when an error ended the run.
const NOT_PROCESSED: &str = "not processed, because the run was stopped";

/// Why a missing document stays.
const RESTRICTED: &str = "because it is hidden or restricted in the dashboard; `kb remove` deletes it";

/// Documents that are renamed at the same time.
const MAX_CONCURRENT_RENAMES: usize = 4;

/// A run, with everything that it works on.
pub(super) struct SyncRun<'a> {
    pub(super) source: &'a Source,
    pub(super) knowledge_base: &'a KnowledgeBase,
    pub(super) options: &'a Options,
    pub(super) settings: Settings,
    pub(super) defaults: Defaults,
    pub(super) model: &'a str,
    pub(super) log: RunLog<'a>,
}

impl<'a> SyncRun<'a> {
    pub(super) async fn plan_only(mut self) -> Result<Summary, SyncError> {
        let Planned { plan, kept, size, .. } = self.plan().await?;
        self.log.summary.plan = plan.lines();
        if let Err(error) = self.removal(&plan, size).check(plan.removed.len(), kept) {
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
        let Planned { plan, kept, size, leftovers, notes, unreadable, listed } = self.plan().await?;
        self.removal(&plan, size).check(plan.removed.len(), kept)?;
        self.log.progress.state(&plan.outline());
        for line in plan.removals_and_moves() {
            self.log.progress.line(&line);
        }
        // Planning may take so long that the lease ends and another run begins.
        lease.confirm().await?;
        if lease.stored.as_ref() != Some(&self.settings) {
            self.knowledge_base.store_settings(&self.options.collection, &self.settings).await?;
        }
        self.knowledge_base.delete_with_originals(&leftovers, false).await?;
        for (source, reason) in unreadable {
            let name = source.rsplit('/').next().unwrap_or(&source);
            self.knowledge_base.note_failure(&source, name, &reason, None).await?;
        }
        let needs_embedder = !plan.write.is_empty() || self.has_chunks_to_embed().await?;
        let embedder = if needs_embedder { Some(load_embedder()?) } else { None };
        let removal = self.removal(&plan, size);
        let stopped = self.apply(plan, removal, kept, listed, lease, embedder.as_ref()).await;
        self.log.progress.finish();
        match stopped {
            Ok(()) => {
                let failed: HashSet<_> = self.log.summary.failed_sources().collect();
                let ids: Vec<_> = notes
                    .iter()
                    .filter(|note| !failed.contains(note.source.as_str()))
                    .map(|note| note.id)
                    .collect();
                self.knowledge_base.delete(&ids, false).await?;
                self.calibrate(|| embedder.map_or_else(load_embedder, Ok)).await;
            }
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
        removal: Removal<'_>,
        kept: usize,
        listed: Instant,
        lease: &HeldLease<'_>,
        embedder: Option<&E>,
    ) -> Result<(), SyncError> {
        let Plan { write, moved, removed, unchanged, recovered, unreadable: _ } = plan;
        for source in unchanged {
            self.log.record(&source, DocumentResult::Unchanged);
        }
        self.knowledge_base.note_current(&recovered, json!({})).await?;
        self.rename(moved).await?;
        if !write.is_empty() {
            self.log.progress.start("documents", Some(write.len()));
        }
        let (added, others): (Vec<_>, Vec<_>) =
            write.into_iter().partition(|write| write.change == Change::Added);
        let number_removed = removed.len();
        // New documents first, then what they may replace. Reading the pages of a large site again takes hours, and a run that is stopped
        // meanwhile has done the rest.
        if let Err(error) = self.add_and_remove(added, removed, listed, lease, embedder).await {
            self.report_open(others.iter().map(|write| &write.source), NOT_PROCESSED);
            return Err(error);
        }
        let gone = self.write(others, embedder).await?;
        self.log.progress.finish();
        let (hidden, gone): (Vec<_>, Vec<_>) = gone.into_iter().partition(|document| removal.keeps(document));
        // Loading may have shown that many further documents are gone.
        match removal.check(number_removed + gone.len(), kept + hidden.len()) {
            Ok(()) => self.remove(gone, lease).await?,
            Err(error) => self.report_open(gone.iter().map(|document| &document.source), &error.to_string()),
        }
        self.report(hidden, &stays(RESTRICTED));
        if let Some(embedder) = embedder {
            // Passages that an administrator edited, and passages with vectors of another model.
            let (knowledge_base, collection) = (self.knowledge_base, &self.options.collection);
            let done =
                reembed(knowledge_base, embedder, self.model, Some(collection), None, self.log.progress)
                    .await?;
            self.log.summary.counts.reembedded = done.written;
            for refused in done.refused {
                self.log.record(&refused.source, DocumentResult::Failed { reason: refused.reason });
            }
        }
        Ok(())
    }

    async fn add_and_remove<E: TextEmbedder + 'static>(
        &mut self,
        added: Vec<Write>,
        removed: Vec<StoredDocument>,
        listed: Instant,
        lease: &HeldLease<'_>,
        embedder: Option<&E>,
    ) -> Result<(), SyncError> {
        // A new document has no stored version that could be gone.
        self.write(added, embedder).await?;
        let missing = self.still_missing(removed, listed).await;
        self.remove(missing, lease).await
    }

    /// Lists the source again after a pause, and returns the documents that are still missing.
    /// Programs replace files by deleting them, and pages of a list shift while others delete
    /// files.
    async fn still_missing(
        &mut self,
        documents: Vec<StoredDocument>,
        listed: Instant,
    ) -> Vec<StoredDocument> {
        if documents.is_empty() || matches!(self.source, Source::Web { .. }) {
            return documents;
        }
        tokio::time::sleep(self.options.missing_for.saturating_sub(listed.elapsed())).await;
        let problem = match self.source.list(self.knowledge_base.client()).await {
            Ok(listing) if listing.nameless.is_none() => {
                let collection = &self.options.collection;
                let found: HashSet<_> =
                    listing.items.iter().map(|item| format!("{collection}/{}", item.path)).collect();
                let (back, missing): (Vec<_>, Vec<_>) = documents.into_iter().partition(|document| {
                    found.contains(&document.source) || self.may_be_in(&listing, document)
                });
                let reason = "may be in the source again; the next run reads it".to_owned();
                self.report(back, &DocumentResult::Skipped { reason });
                return missing;
            }
            Ok(_) => "a part of the source can no longer be read".to_owned(),
            Err(error) => error.to_string(),
        };
        let reason = format!("is not removed: {problem}");
        self.report_open(documents.iter().map(|document| &document.source), &reason);
        Vec::new()
    }

    async fn remove(
        &mut self,
        documents: Vec<StoredDocument>,
        lease: &HeldLease<'_>,
    ) -> Result<(), SyncError> {
        if !documents.is_empty() {
            lease.confirm().await?;
        }
        for batch in documents.chunks(REMOVALS_PER_REQUEST) {
            // Somebody may have hidden one of them since the run began.
            let kept = self.knowledge_base.delete_with_originals(batch, !self.options.force).await?;
            for document in batch {
                let is_kept = kept.contains(&document.id);
                let result = if is_kept { stays(RESTRICTED) } else { DocumentResult::Removed };
                self.log.record(&document.source, result);
            }
        }
        Ok(())
    }

    fn report(&mut self, documents: Vec<StoredDocument>, result: &DocumentResult) {
        for document in documents {
            self.log.record(&document.source, result.clone());
        }
    }

    fn report_open<'s>(&mut self, sources: impl Iterator<Item = &'s String>, reason: &str) {
        for source in sources {
            self.log.record(source, DocumentResult::Failed { reason: reason.to_owned() });
        }
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
        embedder: Option<&E>,
    ) -> Result<Vec<StoredDocument>, SupabaseError> {
        // Nothing to write needs no embedder.
        let (Some(embedder), false) = (embedder, writes.is_empty()) else { return Ok(Vec::new()) };
        spread(&mut writes);
        let mut open: Vec<String> = writes.iter().map(|write| write.source.clone()).collect();
        let preparation = Preparation {
            defaults: self.defaults.clone(),
            extract: Arc::clone(&self.options.extract),
            keeps_originals: self.keeps_originals(),
        };
        let (sender, loading) = mpsc::channel(1);
        let mut steps = start(loading, preparation, embedder.clone());
        let mut writer = Writer::new(self.knowledge_base, self.model, &self.defaults, &mut self.log);
        let loads = load(writes, self.source, self.knowledge_base.client(), sender);
        let writes = async {
            while let Some(step) = steps.recv().await {
                writer.write(step).await?;
            }
            Ok(())
        };
        let stopped = tokio::try_join!(loads, writes).map(drop);
        let gone = writer.into_gone();
        let recorded = self.log.summary.documents.iter().map(|entry| &entry.source);
        let settled: HashSet<&String> =
            recorded.chain(gone.iter().map(|document| &document.source)).collect();
        open.retain(|source| !settled.contains(source));
        let reason = match &stopped {
            Ok(()) => "could not be read: its reader ended unexpectedly",
            Err(_) => NOT_PROCESSED,
        };
        self.report_open(open.iter(), reason);
        stopped.map(|()| gone)
    }

    async fn plan(&mut self) -> Result<Planned, SyncError> {
        let listing = self.source.list(self.knowledge_base.client()).await?;
        let listed = Instant::now();
        for Rejected { path, reason } in &listing.skipped {
            self.log.record(path, DocumentResult::Skipped { reason: reason.clone() });
        }
        for Rejected { path, reason } in &listing.failed {
            self.log.record(path, DocumentResult::Failed { reason: reason.clone() });
        }
        let documents = self.knowledge_base.documents_in(&self.options.collection).await?;
        let unlisted = documents.iter().filter(|document| self.may_be_in(&listing, document));
        let mut unread: HashSet<_> = unlisted.map(|document| document.source.clone()).collect();
        let is_ready = |document: &&StoredDocument| document.status == Status::Ready;
        let ready: HashSet<&str> =
            documents.iter().filter(is_ready).map(|document| document.source.as_str()).collect();
        let mut may_be_renamed = listing.nameless;
        let mut unreadable = Vec::new();
        let mut known = Vec::with_capacity(listing.items.len());
        for (item, fingerprint) in fingerprints(listing.items, &self.defaults).await {
            match fingerprint {
                Ok(fingerprint) => known.push((item, fingerprint)),
                Err(error) => {
                    let source = format!("{}/{}", self.options.collection, item.path);
                    let reason = error.to_string();
                    self.log.record(&source, DocumentResult::Failed { reason: reason.clone() });
                    if !ready.contains(source.as_str()) && matches!(error, LoadError::Unreadable(_)) {
                        may_be_renamed.get_or_insert_with(|| source.clone());
                    }
                    unreadable.push((source.clone(), reason));
                    unread.insert(source);
                }
            }
        }
        let mut snapshot = Snapshot::new(documents);
        let (size, leftovers) = (snapshot.len(), std::mem::take(&mut snapshot.leftovers));
        let notes = snapshot.notes.values().cloned().collect();
        let (collection, defaults) = (&self.options.collection, &self.defaults);
        let mut plan = snapshot.plan(collection, known, &unread, defaults, self.keeps_originals());
        for (source, reason) in &plan.unreadable {
            self.log.record(source, DocumentResult::Failed { reason: reason.clone() });
        }
        let removal = self.removal(&plan, size);
        let restricted: Vec<_> = plan.removed.extract_if(.., |document| removal.keeps(document)).collect();
        let kept = restricted.len();
        self.report(restricted, &stays(RESTRICTED));
        if let Some(file) = may_be_renamed {
            let reason = format!("because {file} cannot be read and may be this document under another name");
            self.report(std::mem::take(&mut plan.removed), &stays(&reason));
        }
        Ok(Planned { plan, kept, size, leftovers, notes, unreadable, listed })
    }

    /// Returns whether a document may still be in its source, in a part of it that could not be
    /// listed.
    fn may_be_in(&self, listing: &Listing, document: &StoredDocument) -> bool {
        let collection = &self.options.collection;
        let path = document.source.strip_prefix(collection.as_str()).and_then(|path| path.strip_prefix('/'));
        path.is_none_or(|path| listing.may_have(path))
    }

    fn removal(&self, plan: &Plan, size: usize) -> Removal<'a> {
        Removal {
            collection: &self.options.collection,
            all: size,
            has_documents: plan.has_documents(),
            is_forced: self.options.force,
        }
    }

    fn keeps_originals(&self) -> bool {
        self.settings.originals != Some(false) && matches!(self.source, Source::Folder(_))
    }

    async fn has_chunks_to_embed(&self) -> Result<bool, SupabaseError> {
        let collection = Some(self.options.collection.as_str());
        let next = self.knowledge_base.chunks_to_embed(Some(self.model), collection, None, 1).await?;
        Ok(!next.is_empty())
    }
}

/// Sorts documents at random. So those that are done tell how long the rest takes: by name, short pages
/// of one folder may come before long ones of the next. And where each run is stopped before its end,
/// each document has its turn some night.
fn spread(writes: &mut [Write]) {
    let run = Uuid::new_v4();
    writes.sort_by_cached_key(|write| Sha256::new().chain_update(run).chain_update(&write.source).finalize());
}

/// A plan and its context.
struct Planned {
    plan: Plan,
    /// Number of missing documents that stay, because they are hidden or restricted in the dashboard.
    kept: usize,
    /// Ready documents before the run.
    size: usize,
    /// Unfinished versions.
    leftovers: Vec<StoredDocument>,
    /// Notes of documents that could not be read before.
    notes: Vec<StoredDocument>,
    /// Documents that cannot be read, and why.
    unreadable: Vec<(String, String)>,
    /// When the source was listed.
    listed: Instant,
}
