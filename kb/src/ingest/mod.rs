//! Files → knowledge base.
//!
//! Each document is written as *pending*, which nobody can see, and published in one transaction when all its chunks
//! and vectors are there. Whatever stops a run, people see the old version or the new one, never a part; what a
//! stopped run leaves behind is deleted by the next one.

mod plan;
mod summary;

use std::time::Instant;

use embedder::EmbedderError;
use rayon::prelude::*;
use uuid::Uuid;

use crate::chunk::{ChunkedDocument, chunk_document};
use crate::document::Document;
use crate::embed::{TextEmbedder, vectors};
use crate::files::{Discovery, SourceFile};
use crate::knowledge_base::{KnowledgeBase, NewChunk, NewDocument};
use crate::progress::Progress;
use crate::rest::RestError;

use plan::{Change, Snapshot};
pub use summary::{Entry, Outcome, Summary};

/// Chunks embedded together before their documents are written: enough to keep all cores busy, and little to lose.
const CHUNKS_PER_ROUND: usize = 256;

/// Why a run could not do anything.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// The knowledge base cannot be read or written.
    #[error(transparent)]
    Rest(#[from] RestError),
    /// The model cannot be used.
    #[error(transparent)]
    Embedder(#[from] EmbedderError),
}

/// Brings the knowledge base up to date with the files found.
///
/// `load_embedder` is called only if there is something to embed; `model` is the fingerprint of what it loads.
///
/// # Errors
/// [`IngestError`] if nothing could be done at all. A failure after that is in the summary, with what went well.
pub async fn ingest<E: TextEmbedder>(
    found: Discovery,
    knowledge_base: &KnowledgeBase,
    model: &str,
    load_embedder: impl FnOnce() -> Result<E, EmbedderError>,
    progress: &Progress,
) -> Result<Summary, IngestError> {
    let started = Instant::now();
    let mut run = Run { knowledge_base, model, progress, summary: Summary::default() };
    for rejected in found.skipped {
        run.record(&rejected.path.to_string_lossy(), Outcome::Skipped { reason: rejected.reason });
    }
    for rejected in found.failed {
        run.record(&rejected.path.to_string_lossy(), Outcome::Failed { reason: rejected.reason });
    }
    let documents = run.read(found.files);
    let changed = run.keep_changed(documents).await?;
    if !changed.is_empty() {
        let embedder = load_embedder()?;
        let prepared = run.prepare(changed, &embedder);
        run.write(prepared, &embedder).await;
    }
    run.summary.seconds = started.elapsed().as_secs_f64();
    Ok(run.summary)
}

struct Run<'a> {
    knowledge_base: &'a KnowledgeBase,
    model: &'a str,
    progress: &'a Progress,
    summary: Summary,
}

/// A document that is new or has changed, cut into chunks.
struct Prepared {
    document: Document,
    change: Change,
    chunked: ChunkedDocument,
}

impl Run<'_> {
    fn record(&mut self, source: &str, outcome: Outcome) {
        let entry = Entry { source: source.to_owned(), outcome };
        if let Some(line) = entry.line() {
            self.progress.line(&line);
        }
        self.summary.documents.push(entry);
    }

    fn read(&mut self, files: Vec<SourceFile>) -> Vec<Document> {
        let mut documents = Vec::with_capacity(files.len());
        for file in files {
            let source = file.source.clone();
            match Document::read(file) {
                Ok(document) => documents.push(document),
                Err(error) => self.record(&source, Outcome::Failed { reason: error.to_string() }),
            }
        }
        documents
    }

    async fn keep_changed(&mut self, documents: Vec<Document>) -> Result<Vec<(Document, Change)>, RestError> {
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        let snapshot = Snapshot::take(self.knowledge_base, self.model).await?;
        let leftovers: Vec<Uuid> =
            documents.iter().flat_map(|document| snapshot.leftovers_of(document)).collect();
        self.knowledge_base.delete(&leftovers).await?;
        let mut changed = Vec::new();
        for document in documents {
            match snapshot.change(&document) {
                Some(change) => changed.push((document, change)),
                None => self.record(&document.file.source, Outcome::Unchanged),
            }
        }
        Ok(changed)
    }

    fn prepare(&mut self, changed: Vec<(Document, Change)>, embedder: &impl TextEmbedder) -> Vec<Prepared> {
        let count_tokens = |text: &str| embedder.count_tokens(text);
        let chunk = |(document, change): (Document, Change)| {
            let chunked = chunk_document(&document.text, document.file.format, &count_tokens);
            Prepared { document, change, chunked }
        };
        let prepared: Vec<Prepared> = changed.into_par_iter().map(chunk).collect();
        let (prepared, empty): (Vec<_>, Vec<_>) =
            prepared.into_iter().partition(|prepared| !prepared.chunked.chunks.is_empty());
        for document in empty {
            let reason = "has no text that could answer a question".to_owned();
            self.record(&document.document.file.source, Outcome::Failed { reason });
        }
        prepared
    }

    /// Embeds and writes; at an error that would hit every other document too, the rest is recorded as failed.
    async fn write(&mut self, prepared: Vec<Prepared>, embedder: &impl TextEmbedder) {
        self.progress
            .start(prepared.len(), prepared.iter().map(|document| document.chunked.chunks.len()).sum());
        let mut rest = prepared.as_slice();
        while !rest.is_empty() {
            let (round, later) = rest.split_at(round_len(rest));
            rest = match self.write_round(round, embedder).await {
                Ok(()) => later,
                Err(Stopped { at, error }) => {
                    self.give_up(rest.get(at..).unwrap_or_default(), &error);
                    &[]
                }
            };
        }
        self.progress.finish();
    }

    async fn write_round(&mut self, round: &[Prepared], embedder: &impl TextEmbedder) -> Result<(), Stopped> {
        let texts: Vec<String> = round.iter().flat_map(Prepared::embedded_texts).collect();
        let vectors = vectors(embedder, &texts, || self.progress.chunk_embedded());
        let mut vectors = vectors.as_slice();
        for (at, prepared) in round.iter().enumerate() {
            let (own, later) = vectors.split_at(prepared.chunked.chunks.len().min(vectors.len()));
            vectors = later;
            match self.knowledge_base.write(&prepared.as_new(self.model, own)).await {
                Ok(()) => self.record(&prepared.document.file.source, prepared.change.done(own.len())),
                Err(error) if error.concerns_only_this_document() => {
                    self.record(
                        &prepared.document.file.source,
                        Outcome::Failed { reason: error.to_string() },
                    );
                }
                Err(error) => return Err(Stopped { at, error: error.into() }),
            }
        }
        Ok(())
    }

    fn give_up(&mut self, documents: &[Prepared], error: &IngestError) {
        let reasons =
            std::iter::once(error.to_string()).chain(std::iter::repeat("not tried after that".to_owned()));
        for (prepared, reason) in documents.iter().zip(reasons) {
            self.record(&prepared.document.file.source, Outcome::Failed { reason });
        }
    }
}

/// A round ended at its document number `at`.
struct Stopped {
    at: usize,
    error: IngestError,
}

/// How many of the documents to embed next: at least one.
fn round_len(documents: &[Prepared]) -> usize {
    let mut chunks = 0;
    let fitting = documents.iter().take_while(|document| {
        chunks += document.chunked.chunks.len();
        chunks <= CHUNKS_PER_ROUND
    });
    fitting.count().max(1)
}

impl Prepared {
    fn embedded_texts(&self) -> impl Iterator<Item = String> {
        self.chunked.chunks.iter().map(|chunk| chunk.embedded_text(&self.document.text))
    }

    fn as_new<'a>(&'a self, model: &'a str, vectors: &'a [Vec<f32>]) -> NewDocument<'a> {
        let new_chunk = |(chunk, vector): (&'a crate::chunk::Chunk, &'a Vec<f32>)| NewChunk {
            content: chunk.content(&self.document.text),
            section: chunk.section.as_deref(),
            vector,
        };
        NewDocument {
            source: &self.document.file.source,
            name: self.document.name(),
            title: self.chunked.title.as_deref(),
            content_type: self.document.file.format.content_type(),
            content_hash: &self.document.content_hash,
            model,
            chunks: self.chunked.chunks.iter().zip(vectors).map(new_chunk).collect(),
        }
    }
}
