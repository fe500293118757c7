//! New vectors for passages whose vectors are missing, stale, or from another model. The text of the passages does not change,
//! so edits of an administrator are kept.
//!
//! Each batch is written separately, and passages with new vectors are not found again: the next run continues a stopped one,
//! and two runs at the same time at worst do the same work twice. The database skips passages that were edited after they
//! were read.

use std::collections::{BTreeMap, HashSet};

use chat_core::statement::Part;
use uuid::Uuid;

use crate::knowledge_base::{ChunkToEmbed, KnowledgeBase, NewSentence, NewVectors, Reason};
use crate::passage::{MAX_TOKENS, PassageStatement, texts};
use crate::progress::Progress;
use crate::supabase::SupabaseError;
use crate::text_embedder::{TextEmbedder, embed_all};

/// Passages embedded and written together: with their sentences about as many texts as in a batch of `kb sync`.
const PASSAGES_PER_BATCH: usize = 64;

/// Passages counted per request: the maximum of the server.
const PASSAGES_PER_SURVEY_REQUEST: usize = 1000;

/// The passages that need vectors.
#[derive(Debug, Default, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Survey {
    /// Number of passages.
    pub chunks: usize,
    /// Number of passages by reason.
    pub reasons: BTreeMap<Reason, usize>,
    /// Number of passages by source of their document and by reason.
    pub documents: BTreeMap<String, BTreeMap<Reason, usize>>,
}

/// The result of a run.
#[derive(Debug, Default, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Reembedded {
    /// Passages with new vectors.
    pub written: usize,
    /// Passages whose text changed while they were embedded; the next run embeds them.
    pub changed_meanwhile: usize,
    /// Passages longer than the limit of the model; their ends are not searched by meaning.
    pub too_long: usize,
    /// Passages whose vectors the database refused; they stay as they were.
    pub refused: Vec<Refused>,
}

/// A passage whose vectors the database refused.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Refused {
    /// Source of its document.
    pub source: String,
    pub chunk_id: Uuid,
    pub reason: String,
}

/// Counts the passages that need vectors of `model`.
pub async fn survey(knowledge_base: &KnowledgeBase, model: &str) -> Result<Survey, SupabaseError> {
    let mut survey = Survey::default();
    let mut after = None;
    loop {
        let chunks =
            knowledge_base.chunks_to_embed(Some(model), None, after, PASSAGES_PER_SURVEY_REQUEST).await?;
        let Some(last) = chunks.last() else { return Ok(survey) };
        after = Some(last.chunk_id);
        survey.chunks += chunks.len();
        for chunk in chunks {
            *survey.reasons.entry(chunk.reason).or_default() += 1;
            *survey.documents.entry(chunk.source).or_default().entry(chunk.reason).or_default() += 1;
        }
    }
}

/// Embeds every passage that needs it, of one collection or of all. Shows how much is left if `found`,
/// their number, is known.
///
/// # Errors
/// If a request fails. Vectors that were written before stay.
pub async fn reembed<E: TextEmbedder>(
    knowledge_base: &KnowledgeBase,
    embedder: &E,
    model: &str,
    collection: Option<&str>,
    found: Option<usize>,
    progress: &Progress,
) -> Result<Reembedded, SupabaseError> {
    progress.start("passages", found);
    let done = ReembedRun { knowledge_base, embedder, model, collection, progress }.execute().await;
    progress.finish();
    done
}

struct ReembedRun<'a, E> {
    knowledge_base: &'a KnowledgeBase,
    embedder: &'a E,
    model: &'a str,
    collection: Option<&'a str>,
    progress: &'a Progress,
}

impl<E: TextEmbedder> ReembedRun<'_, E> {
    async fn execute(self) -> Result<Reembedded, SupabaseError> {
        let mut done = Reembedded::default();
        let mut after = None;
        loop {
            let chunks = self
                .knowledge_base
                .chunks_to_embed(Some(self.model), self.collection, after, PASSAGES_PER_BATCH)
                .await?;
            let Some(last) = chunks.last() else { return Ok(done) };
            after = Some(last.chunk_id);
            let new = embed(&chunks, self.embedder, &mut done);
            match self.knowledge_base.write_vectors(&new, self.model).await {
                Ok(written) => done.add(written, new.len()),
                Err(error) if error.concerns_only_this_document() => {
                    self.write_one_by_one(&new, &mut done).await?
                }
                Err(error) => return Err(error),
            }
            self.progress.advance(new.len());
        }
    }

    /// A refused passage must not prevent the others from being written.
    async fn write_one_by_one(
        &self,
        vectors: &[NewVectors<'_>],
        done: &mut Reembedded,
    ) -> Result<(), SupabaseError> {
        for new in vectors {
            match self.knowledge_base.write_vectors(std::slice::from_ref(new), self.model).await {
                Ok(written) => done.add(written, 1),
                Err(error) if error.concerns_only_this_document() => done.refused.push(Refused {
                    source: new.chunk.source.clone(),
                    chunk_id: new.chunk.chunk_id,
                    reason: error.to_string(),
                }),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Reembedded {
    /// Counts the passages that were written, out of `sent`.
    fn add(&mut self, written: Vec<Uuid>, sent: usize) {
        let written = written.into_iter().collect::<HashSet<_>>().len();
        self.written += written;
        self.changed_meanwhile += sent.saturating_sub(written);
    }
}

fn embed<'a, E: TextEmbedder>(
    chunks: &'a [ChunkToEmbed],
    embedder: &E,
    done: &mut Reembedded,
) -> Vec<NewVectors<'a>> {
    let count_tokens = |text: &str| embedder.count_tokens(text);
    let mut all_texts = Vec::new();
    let mut read = Vec::new();
    for chunk in chunks {
        let (statements, parts) = chunk.statements();
        let texts = texts(chunk.section.as_deref(), &chunk.content, &statements, &parts, &count_tokens);
        done.too_long += usize::from(texts.first().is_some_and(|whole| count_tokens(whole) > MAX_TOKENS));
        all_texts.extend(texts);
        read.push((chunk, statements, parts));
    }
    let mut vectors = embed_all(embedder, &all_texts).into_iter();
    let new = |(chunk, statements, parts): (&'a ChunkToEmbed, Vec<PassageStatement>, Vec<Part>)| NewVectors {
        chunk,
        vector: vectors.next().unwrap_or_default(),
        heading: chunk.section.as_ref().and_then(|_| vectors.next()),
        parts,
        sentences: statements
            .into_iter()
            .zip(vectors.by_ref())
            .map(|(statement, vector)| NewSentence { statement, vector })
            .collect(),
    };
    read.into_iter().map(new).collect()
}
