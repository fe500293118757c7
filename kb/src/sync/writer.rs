//! Writes the output of the pipeline to the knowledge base.
//!
//! The chunks of a batch are one request, whatever documents they belong to. If the database rejects a document, the others
//! of its batch are sent again without it. An error that would affect every document ends the run.

use std::collections::HashSet;
use std::time::Instant;

use futures_util::{StreamExt, stream};
use serde_json::json;
use uuid::Uuid;

use super::batch::{Batch, Part};
use super::fingerprint::Defaults;
use super::plan::Write;
use super::prepare::{CHANGED_MEANWHILE, Outcome, Settled};
use super::run_log::RunLog;
use super::summary::DocumentResult;
use crate::knowledge_base::{KnowledgeBase, NewChunk, PendingDocument, StoredDocument};
use crate::source::Location;
use crate::supabase::SupabaseError;

/// Documents that are uploaded and published at the same time.
const MAX_CONCURRENT_PUBLICATIONS: usize = 4;

/// Writes the documents of one run.
pub(super) struct Writer<'a, 'b> {
    knowledge_base: &'a KnowledgeBase,
    model: &'a str,
    defaults: &'a Defaults,
    log: &'a mut RunLog<'b>,
    /// Documents that the database rejected; their later parts are not sent.
    rejected: HashSet<Uuid>,
    /// Documents whose source no longer has them, as loading them showed.
    gone: Vec<StoredDocument>,
}

impl<'a, 'b> Writer<'a, 'b> {
    pub(super) fn new(
        knowledge_base: &'a KnowledgeBase,
        model: &'a str,
        defaults: &'a Defaults,
        log: &'a mut RunLog<'b>,
    ) -> Self {
        Self { knowledge_base, model, defaults, log, rejected: HashSet::new(), gone: Vec::new() }
    }

    pub(super) async fn write(&mut self, outcome: Outcome<Batch>) -> Result<(), SupabaseError> {
        let started = Instant::now();
        let written = match outcome {
            Ok(batch) => self.write_batch(batch).await,
            Err(settled) => self.settle(*settled).await,
        };
        self.log.summary.writing_seconds += started.elapsed().as_secs_f64();
        written
    }

    /// The documents that are no longer in the source. The caller removes them unless they are suspiciously many.
    pub(super) fn into_gone(self) -> Vec<StoredDocument> {
        self.gone
    }

    async fn settle(&mut self, settled: Settled) -> Result<(), SupabaseError> {
        match settled {
            Settled::Unchanged(write, version) => {
                if let Some(stored) = &write.replaces
                    && (stored.failure.is_some() || version.is_some() && stored.source_version != version)
                {
                    let version = version.as_ref().or(stored.source_version.as_ref());
                    let changes = json!({ "source_version": version });
                    self.knowledge_base.note_current(&[stored.id], changes).await?;
                }
                self.log.record(&write.source, DocumentResult::Unchanged);
                Ok(())
            }
            Settled::SameText(write, document) => {
                match keep_text(self.knowledge_base, self.defaults, &write, &document).await {
                    Ok(()) => self.log.record(&write.source, DocumentResult::Unchanged),
                    Err(PublishError::Document(reason)) => self.fail(&write, reason, None).await?,
                    Err(PublishError::Stop(error)) => return Err(error),
                }
                Ok(())
            }
            Settled::Gone(write, reason) => match write.replaces {
                Some(stored) => {
                    self.gone.push(stored);
                    Ok(())
                }
                None => self.fail(&write, reason, None).await,
            },
            Settled::NotPublished(write, reason) => {
                match write.replaces {
                    Some(stored) => self.gone.push(stored),
                    None => self.log.record(&write.source, DocumentResult::Skipped { reason }),
                }
                Ok(())
            }
            Settled::Failed(write, reason, version) => self.fail(&write, reason, version).await,
            // Not noted in the table: it may be most of a site, and says nothing about the page.
            Settled::NotRequested(write, reason) => {
                self.log.record(&write.source, DocumentResult::Failed { reason });
                Ok(())
            }
        }
    }

    /// Keeps the older version, if there is one, and notes the failure in the table for the administrator.
    async fn fail(
        &mut self,
        write: &Write,
        reason: String,
        version: Option<String>,
    ) -> Result<(), SupabaseError> {
        let name = write.item.name();
        let noted = self.knowledge_base.note_failure(&write.source, name, &reason, version.as_deref()).await;
        self.log.record(&write.source, DocumentResult::Failed { reason });
        match noted {
            Err(error) if !error.concerns_only_this_document() => Err(error),
            _ => Ok(()),
        }
    }

    async fn write_batch(&mut self, batch: Batch) -> Result<(), SupabaseError> {
        self.log.summary.embedding_seconds += batch.embedding.as_secs_f64();
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
            self.tolerate_rejection(part, begun).await?;
        }
        Ok(())
    }

    async fn write_chunks(&mut self, parts: &[Part]) -> Result<(), SupabaseError> {
        let parts: Vec<&Part> = parts.iter().filter(|part| !self.is_rejected(part)).collect();
        let chunks: Vec<&NewChunk> = parts.iter().flat_map(|part| &part.chunks).collect();
        match self.knowledge_base.write_chunks(&chunks, self.model).await {
            Ok(()) => Ok(()),
            Err(error) if !error.concerns_only_this_document() => Err(error),
            Err(_) => {
                for part in parts {
                    let chunks: Vec<&NewChunk> = part.chunks.iter().collect();
                    let written = self.knowledge_base.write_chunks(&chunks, self.model).await;
                    self.tolerate_rejection(part, written).await?;
                }
                Ok(())
            }
        }
    }

    fn is_rejected(&self, part: &Part) -> bool {
        self.rejected.contains(&part.document.document.id)
    }

    async fn tolerate_rejection(
        &mut self,
        part: &Part,
        written: Result<(), SupabaseError>,
    ) -> Result<(), SupabaseError> {
        match written {
            Ok(()) => Ok(()),
            Err(error) if error.concerns_only_this_document() => {
                self.rejected.insert(part.document.document.id);
                // If this fails, nobody sees the rows, and the next run deletes them.
                let _ = self.knowledge_base.discard(&part.document.document).await;
                self.fail(&part.document.write, error.to_string(), None).await
            }
            Err(error) => Err(error),
        }
    }

    /// Publishes the documents that are complete with this batch.
    async fn publish(&mut self, parts: Vec<Part>) -> Result<(), SupabaseError> {
        let complete: Vec<Part> =
            parts.into_iter().filter(|part| part.is_last && !self.is_rejected(part)).collect();
        let (knowledge_base, defaults) = (self.knowledge_base, self.defaults);
        let mut published = stream::iter(complete)
            .map(|part| async move { (publish(knowledge_base, defaults, &part).await, part) })
            .buffered(MAX_CONCURRENT_PUBLICATIONS);
        let mut stopped = Ok(());
        while let Some((outcome, part)) = published.next().await {
            match outcome {
                Ok(restricted_like) => self.log.record_written(&part, restricted_like),
                Err(PublishError::Document(reason)) => {
                    let _ = self.knowledge_base.discard(&part.document.document).await;
                    if let Err(error) = self.fail(&part.document.write, reason, None).await {
                        stopped = Err(error);
                    }
                }
                Err(PublishError::Stop(error)) => stopped = Err(error),
            }
        }
        stopped
    }
}

enum PublishError {
    /// Only this document is affected.
    Document(String),
    /// Every other document would fail, too.
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
) -> Result<Option<String>, PublishError> {
    let (write, document) = (&part.document.write, &part.document.document);
    upload_original(knowledge_base, defaults, write, document).await?;
    let restricted_like = knowledge_base.publish(document, write.item.location.in_bucket()).await?;
    delete_old_original(knowledge_base, write, document).await;
    Ok(restricted_like)
}

/// Keeps the passages of a document, with the corrections of an administrator, and notes which file they are from now.
async fn keep_text(
    knowledge_base: &KnowledgeBase,
    defaults: &Defaults,
    write: &Write,
    document: &PendingDocument,
) -> Result<(), PublishError> {
    let Some(stored) = &write.replaces else { return Ok(()) };
    upload_original(knowledge_base, defaults, write, document).await?;
    let path = document.original.as_deref().or(write.item.location.in_bucket());
    let PendingDocument { content_hash, source_version, .. } = document;
    let changes =
        json!({ "content_hash": content_hash, "source_version": source_version, "storage_path": path });
    knowledge_base.note_current(&[stored.id], changes).await?;
    delete_old_original(knowledge_base, write, document).await;
    Ok(())
}

async fn upload_original(
    knowledge_base: &KnowledgeBase,
    defaults: &Defaults,
    write: &Write,
    document: &PendingDocument,
) -> Result<(), PublishError> {
    if let (Some(path), Location::File(file)) = (&document.original, &write.item.location) {
        // The file is read again instead of kept in memory; its content must be the one that the chunks came from.
        let bytes = file.read().map_err(|error| PublishError::Document(error.to_string()))?;
        let format = write.item.format;
        let hash = format.map(|format| defaults.content_hash(format, &bytes));
        if hash.as_ref() != Some(&document.content_hash) {
            return Err(PublishError::Document(CHANGED_MEANWHILE.to_owned()));
        }
        knowledge_base.client().upload(path, document.content_type, bytes).await?;
    }
    Ok(())
}

async fn delete_old_original(knowledge_base: &KnowledgeBase, write: &Write, document: &PendingDocument) {
    if let Some(old) = write.replaces.as_ref().and_then(|stored| stored.original())
        && document.original.as_deref() != Some(old)
    {
        // Nothing refers to the old file any more. If the deletion fails, `kb doctor` reports the file.
        let _ = knowledge_base.client().delete_files(&[old.to_owned()]).await;
    }
}
