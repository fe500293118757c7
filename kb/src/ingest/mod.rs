//! Files → knowledge base.
//!
//! Each document is written as *pending*, which nobody can see, and published in one transaction when all its chunks,
//! sentences and vectors are there. Whatever stops a run, people see the old version or the new one, never a part; what a
//! stopped run leaves behind is deleted by the next one.

mod plan;
mod summary;

use std::time::Instant;

use embedder::EmbedderError;
use rayon::prelude::*;
use uuid::Uuid;

use crate::chunk::{Chunk, chunk_document};
use crate::document::Document;
use crate::embed::{TextEmbedder, vectors};
use crate::files::{Discovery, SourceFile};
use crate::knowledge_base::{KnowledgeBase, NewChunk, NewDocument, NewSentence};
use crate::progress::Progress;
use crate::rest::RestError;
use crate::sentence::{Sentence, sentences};

use plan::{Change, Snapshot};
pub use summary::{Entry, Outcome, Summary};

/// Texts embedded together before their documents are written: enough to keep all cores busy, and little to lose.
const TEXTS_PER_ROUND: usize = 1024;

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

/// Brings the knowledge base up to date with the files found, which are written in `language`.
///
/// `load_embedder` is called only if there is something to embed; `model` is the fingerprint of what it loads.
///
/// # Errors
/// [`IngestError`] if nothing could be done at all. A failure after that is in the summary, with what went well.
pub async fn ingest<E: TextEmbedder>(
    found: Discovery,
    language: &str,
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
    let documents = run.read(found.files, language);
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

/// A document that is new or has changed, cut into passages.
struct Prepared {
    document: Document,
    change: Change,
    title: Option<String>,
    passages: Vec<Passage>,
}

/// A chunk and its sentences.
struct Passage {
    chunk: Chunk,
    sentences: Vec<Sentence>,
}

impl Run<'_> {
    fn record(&mut self, source: &str, outcome: Outcome) {
        let entry = Entry { source: source.to_owned(), outcome };
        if let Some(line) = entry.line() {
            self.progress.line(&line);
        }
        self.summary.documents.push(entry);
    }

    fn read(&mut self, files: Vec<SourceFile>, language: &str) -> Vec<Document> {
        let mut documents = Vec::with_capacity(files.len());
        for file in files {
            let source = file.source.clone();
            match Document::read(file, language) {
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
        let prepare = |(document, change): (Document, Change)| {
            let chunked = chunk_document(&document.text, document.file.format, &count_tokens);
            let passage = |chunk: Chunk| {
                let sentences = sentences(chunk.content(&document.text));
                Passage { chunk, sentences }
            };
            let passages = chunked.chunks.into_iter().map(passage).collect();
            Prepared { document, change, title: chunked.title, passages }
        };
        let prepared: Vec<Prepared> = changed.into_par_iter().map(prepare).collect();
        let (prepared, empty): (Vec<_>, Vec<_>) =
            prepared.into_iter().partition(|prepared| !prepared.passages.is_empty());
        for document in empty {
            let reason = "has no text that could answer a question".to_owned();
            self.record(&document.document.file.source, Outcome::Failed { reason });
        }
        prepared
    }

    /// Embeds and writes; at an error that would hit every other document too, the rest is recorded as failed.
    async fn write(&mut self, prepared: Vec<Prepared>, embedder: &impl TextEmbedder) {
        let chunks: usize = prepared.iter().map(|document| document.passages.len()).sum();
        let sentences: usize = prepared.iter().map(Prepared::sentence_count).sum();
        let documents = prepared.len();
        self.progress.start(
            &format!("{chunks} chunks and {sentences} sentences of {documents} documents"),
            chunks + sentences,
        );
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
        let started = Instant::now();
        let vectors = vectors(embedder, &texts, || self.progress.text_embedded());
        self.summary.embedding_seconds += started.elapsed().as_secs_f64();
        let mut vectors = vectors.iter();
        for (at, prepared) in round.iter().enumerate() {
            let document = prepared.as_new(self.model, &mut vectors);
            let started = Instant::now();
            let written = self.knowledge_base.write(&document).await;
            self.summary.writing_seconds += started.elapsed().as_secs_f64();
            let source = &prepared.document.file.source;
            match written {
                Ok(()) => {
                    self.summary.vector_bytes += document.vector_bytes();
                    self.record(
                        source,
                        prepared.change.done(prepared.passages.len(), prepared.sentence_count()),
                    );
                }
                Err(error) if error.concerns_only_this_document() => {
                    self.record(source, Outcome::Failed { reason: error.to_string() });
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
    let mut texts = 0;
    let fitting = documents.iter().take_while(|document| {
        texts += document.passages.len() + document.sentence_count();
        texts <= TEXTS_PER_ROUND
    });
    fitting.count().max(1)
}

impl Prepared {
    fn sentence_count(&self) -> usize {
        self.passages.iter().map(|passage| passage.sentences.len()).sum()
    }

    /// Each chunk followed by its sentences.
    fn embedded_texts(&self) -> impl Iterator<Item = String> {
        self.passages.iter().flat_map(|Passage { chunk, sentences }| {
            let content = chunk.content(&self.document.text);
            let of_sentences = sentences.iter().map(|sentence| sentence.embedded_text(content));
            std::iter::once(chunk.embedded_text(&self.document.text)).chain(of_sentences)
        })
    }

    /// Takes the vectors of [`Self::embedded_texts`] off the iterator.
    fn as_new<'a>(
        &'a self,
        model: &'a str,
        vectors: &mut impl Iterator<Item = &'a Vec<f32>>,
    ) -> NewDocument<'a> {
        let new_chunk = |Passage { chunk, sentences }: &'a Passage| {
            Some(NewChunk {
                content: chunk.content(&self.document.text),
                section: chunk.section.as_deref(),
                vector: vectors.next()?,
                sentences: sentences
                    .iter()
                    .zip(vectors.by_ref())
                    .map(|(sentence, vector)| NewSentence { range: sentence.range.clone(), vector })
                    .collect(),
            })
        };
        NewDocument {
            source: &self.document.file.source,
            name: self.document.name(),
            title: self.title.as_deref(),
            content_type: self.document.file.format.content_type(),
            language: &self.document.language,
            content_hash: &self.document.content_hash,
            model,
            chunks: self.passages.iter().map_while(new_chunk).collect(),
        }
    }
}
