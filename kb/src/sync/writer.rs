//! What the pipeline gives → the knowledge base.
//!
//! The chunks of a batch are one request, whatever documents they are of. A document that the database refuses costs the
//! others nothing but a second request; an error that would hit every other document too ends the run.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use uuid::Uuid;

use super::Report;
use super::embedding::{Batch, Part, Step};
use super::fingerprint::Defaults;
use super::plan::{Change, Write};
use super::prepare::{CHANGED_MEANWHILE, Settled};
use super::summary::Outcome;
use crate::knowledge_base::{KnowledgeBase, NewChunk, StoredDocument};
use crate::source::Location;
use crate::supabase::SupabaseError;

/// Documents whose original is uploaded, and which are published, at the same time.
const PUBLISHERS: usize = 4;

/// Writes the steps of one run.
pub(super) struct Writer<'a, 'b> {
    knowledge_base: &'a KnowledgeBase,
    model: &'a str,
    defaults: &'a Defaults,
    report: &'a mut Report<'b>,
    /// Documents that were refused and whose later parts are of no use.
    refused: HashSet<Uuid>,
    /// Documents that their source turned out not to have any more.
    gone: Vec<StoredDocument>,
}

impl<'a, 'b> Writer<'a, 'b> {
    pub(super) fn new(
        knowledge_base: &'a KnowledgeBase,
        model: &'a str,
        defaults: &'a Defaults,
        report: &'a mut Report<'b>,
    ) -> Self {
        Self { knowledge_base, model, defaults, report, refused: HashSet::new(), gone: Vec::new() }
    }

    pub(super) async fn write(&mut self, step: Step) -> Result<(), SupabaseError> {
        let started = Instant::now();
        let outcome = match step {
            Step::Settled(settled) => self.settle(*settled).await,
            Step::Batch(batch) => self.write_batch(batch).await,
        };
        self.report.add_writing(started.elapsed());
        outcome
    }

    /// What is to be removed, if it is not too much.
    pub(super) fn into_gone(self) -> Vec<StoredDocument> {
        self.gone
    }

    async fn settle(&mut self, settled: Settled) -> Result<(), SupabaseError> {
        match settled {
            Settled::Unchanged(write, version) => {
                if let (Some(stored), Some(version)) = (&write.replaces, &version)
                    && stored.source_version.as_ref() != Some(version)
                {
                    self.knowledge_base.note_version(stored.id, version).await?;
                }
                self.report.record(&write.source, Outcome::Unchanged);
                Ok(())
            }
            Settled::Gone(write, reason) => match write.replaces {
                Some(stored) => {
                    self.gone.push(stored);
                    Ok(())
                }
                None => self.fail(&write, reason).await,
            },
            Settled::Failed(write, reason) => self.fail(&write, reason).await,
        }
    }

    /// An older version, if there is one, stays; else the administrator finds a note in the table.
    async fn fail(&mut self, write: &Write, reason: String) -> Result<(), SupabaseError> {
        let noted = match write.replaces {
            Some(_) => Ok(()),
            None => self.knowledge_base.note_failure(&write.source, write.item.name(), &reason).await,
        };
        self.report.record(&write.source, Outcome::Failed { reason });
        match noted {
            Err(error) if !error.concerns_only_this_document() => Err(error),
            _ => Ok(()),
        }
    }

    async fn write_batch(&mut self, batch: Batch) -> Result<(), SupabaseError> {
        self.report.add_embedding(batch.embedding);
        let first: Vec<_> =
            batch.parts.iter().filter(|part| part.is_first).map(|part| &part.document.document).collect();
        if !first.is_empty()
            && let Err(error) = self.knowledge_base.begin(&first).await
        {
            self.begin_one_by_one(&batch.parts, error).await?;
        }
        self.write_chunks(&batch.parts).await?;
        self.publish(batch.parts).await
    }

    async fn begin_one_by_one(&mut self, parts: &[Part], error: SupabaseError) -> Result<(), SupabaseError> {
        if !error.concerns_only_this_document() {
            return Err(error);
        }
        for part in parts.iter().filter(|part| part.is_first) {
            let begun = self.knowledge_base.begin(&[&part.document.document]).await;
            self.unless_refused(part, begun).await?;
        }
        Ok(())
    }

    async fn write_chunks(&mut self, parts: &[Part]) -> Result<(), SupabaseError> {
        let parts: Vec<&Part> = parts.iter().filter(|part| !self.is_refused(part)).collect();
        let chunks: Vec<&NewChunk> = parts.iter().flat_map(|part| &part.chunks).collect();
        match self.knowledge_base.write_chunks(&chunks, self.model).await {
            Ok(()) => Ok(()),
            Err(error) if !error.concerns_only_this_document() => Err(error),
            Err(_) => {
                for part in parts {
                    let chunks: Vec<&NewChunk> = part.chunks.iter().collect();
                    let written = self.knowledge_base.write_chunks(&chunks, self.model).await;
                    self.unless_refused(part, written).await?;
                }
                Ok(())
            }
        }
    }

    fn is_refused(&self, part: &Part) -> bool {
        self.refused.contains(&part.document.document.id)
    }

    async fn unless_refused(
        &mut self,
        part: &Part,
        written: Result<(), SupabaseError>,
    ) -> Result<(), SupabaseError> {
        match written {
            Ok(()) => Ok(()),
            Err(error) if error.concerns_only_this_document() => {
                self.refused.insert(part.document.document.id);
                // Only tidiness: nobody sees it, and the next run deletes it.
                let _ = self.knowledge_base.discard(&part.document.document).await;
                self.report
                    .record(&part.document.write.source, Outcome::Failed { reason: error.to_string() });
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Makes the documents visible that are complete with this batch.
    async fn publish(&mut self, parts: Vec<Part>) -> Result<(), SupabaseError> {
        let complete: Vec<Part> =
            parts.into_iter().filter(|part| part.is_last && !self.is_refused(part)).collect();
        let (knowledge_base, defaults) = (self.knowledge_base, self.defaults);
        let mut published = stream::iter(complete)
            .map(|part| async move { (publish(knowledge_base, defaults, &part).await, part) })
            .buffered(PUBLISHERS);
        let mut stopped = Ok(());
        while let Some((outcome, part)) = published.next().await {
            match outcome {
                Ok(()) => self.report.written(&part),
                Err(PublishError::Document(reason)) => {
                    self.report.record(&part.document.write.source, Outcome::Failed { reason });
                    let _ = self.knowledge_base.discard(&part.document.document).await;
                }
                Err(PublishError::Stop(error)) => stopped = Err(error),
            }
        }
        stopped
    }
}

enum PublishError {
    /// This document is at fault.
    Document(String),
    /// So would be every other.
    Stop(SupabaseError),
}

impl From<SupabaseError> for PublishError {
    fn from(error: SupabaseError) -> Self {
        if error.concerns_only_this_document() {
            Self::Document(error.to_string())
        } else {
            Self::Stop(error)
        }
    }
}

async fn publish(
    knowledge_base: &KnowledgeBase,
    defaults: &Defaults,
    part: &Part,
) -> Result<(), PublishError> {
    let write = &part.document.write;
    let document = &part.document.document;
    if let (Some(path), Location::File(file)) = (&document.original, &write.item.location) {
        // Read again rather than kept in memory since; the chunks must be of the same content.
        let bytes = file.read().map_err(|error| PublishError::Document(error.to_string()))?;
        let format = write.item.format;
        let hash = format.map(|format| defaults.content_hash(format, &bytes));
        if hash.as_ref() != Some(&document.content_hash) {
            return Err(PublishError::Document(CHANGED_MEANWHILE.to_owned()));
        }
        knowledge_base.client().upload(path, document.content_type, bytes).await?;
    }
    knowledge_base.publish(document, write.item.location.in_bucket()).await?;
    if let Some(old) = write.replaces.as_ref().and_then(|stored| stored.original())
        && document.original.as_deref() != Some(old)
    {
        // Nothing refers to it any more; `kb doctor` finds it if it stays.
        let _ = knowledge_base.client().delete_files(&[old.to_owned()]).await;
    }
    Ok(())
}

impl Report<'_> {
    fn written(&mut self, part: &Part) {
        let document = &part.document;
        let chunks = document.passages.len();
        let sentences = document.passages.iter().map(|passage| passage.sentences.len()).sum();
        let notes = document.notes.clone();
        let outcome = match (document.write.change, &document.write.replaces) {
            (Change::Added, _) | (_, None) => Outcome::Added { chunks, sentences, notes },
            _ => Outcome::Changed { chunks, sentences, notes },
        };
        self.record(&document.write.source, outcome);
    }

    fn add_writing(&mut self, time: Duration) {
        self.summary.writing_seconds += time.as_secs_f64();
    }

    fn add_embedding(&mut self, time: Duration) {
        self.summary.embedding_seconds += time.as_secs_f64();
    }
}
