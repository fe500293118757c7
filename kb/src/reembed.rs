//! New vectors for passages whose own are missing, out of date, or of another model. The passages stay as they are, so
//! that what an administrator has edited is kept.
//!
//! Each batch is written on its own, and what has its vectors is not found again: a run that was stopped is taken up by
//! the next one, and two at once do the same work twice at worst. The database leaves alone what was edited since it
//! was read.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::chunk::{MAX_TOKENS, headings, innermost_heading, with_context};
use crate::knowledge_base::{ChunkToEmbed, KnowledgeBase, NewSentence, NewVectors, Reason};
use crate::progress::Progress;
use crate::sentence::{Sentence, sentences};
use crate::supabase::SupabaseError;
use crate::text_embedder::{TextEmbedder, vectors};

/// Passages embedded and written together: with their sentences about as many texts as `kb sync` writes at a time.
const PASSAGES_PER_BATCH: usize = 64;

/// Passages counted per request, the most that the server gives.
const PASSAGES_PER_SURVEY_REQUEST: usize = 1000;

/// How often a line says how far a run is.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// What there is to do.
#[derive(Debug, Default, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Survey {
    /// Passages.
    pub chunks: usize,
    /// Passages by reason.
    pub reasons: BTreeMap<Reason, usize>,
    /// Passages by reason, by source of their document.
    pub documents: BTreeMap<String, BTreeMap<Reason, usize>>,
}

/// What was done.
#[derive(Debug, Default, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Reembedded {
    /// Passages with new vectors.
    pub written: usize,
    /// Passages whose text was changed while they were embedded; the next run takes them.
    pub changed_meanwhile: usize,
    /// Passages longer than what the model reads; their ends are not searched by meaning.
    pub too_long: usize,
    /// Passages whose vectors the database does not take; they stay as they are.
    pub refused: Vec<Refused>,
}

/// A passage whose vectors the database does not take.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Refused {
    /// Source of its document.
    pub source: String,
    /// Row of the passage.
    pub chunk_id: Uuid,
    /// What the database said.
    pub reason: String,
}

/// Counts the passages that need vectors of `model`.
///
/// # Errors
/// If the knowledge base cannot be read.
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

/// Embeds every passage of a collection that needs it.
///
/// # Errors
/// If the knowledge base cannot be read or written. What was written until then stays.
pub async fn reembed<E: TextEmbedder>(
    knowledge_base: &KnowledgeBase,
    embedder: &E,
    model: &str,
    collection: &str,
    progress: &Progress,
) -> Result<Reembedded, SupabaseError> {
    let pace = Pace::new(progress, None);
    ReembedRun { knowledge_base, embedder, model, collection: Some(collection), pace }.execute().await
}

/// Embeds what a survey found, for every reason, and says how much is left.
///
/// # Errors
/// If the knowledge base cannot be read or written. What was written until then stays.
pub async fn reembed_surveyed<E: TextEmbedder>(
    knowledge_base: &KnowledgeBase,
    embedder: &E,
    model: &str,
    survey: &Survey,
    progress: &Progress,
) -> Result<Reembedded, SupabaseError> {
    let pace = Pace::new(progress, Some(survey.chunks));
    ReembedRun { knowledge_base, embedder, model, collection: None, pace }.execute().await
}

struct ReembedRun<'a, E> {
    knowledge_base: &'a KnowledgeBase,
    embedder: &'a E,
    model: &'a str,
    collection: Option<&'a str>,
    pace: Pace<'a>,
}

impl<E: TextEmbedder> ReembedRun<'_, E> {
    async fn execute(mut self) -> Result<Reembedded, SupabaseError> {
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
            self.pace.report(done.written + done.changed_meanwhile + done.refused.len());
        }
    }

    /// A passage that the database refuses must not keep the others from their vectors.
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
    /// Counts what was written of so many passages.
    fn add(&mut self, written: Vec<Uuid>, of: usize) {
        let written = written.into_iter().collect::<HashSet<_>>().len();
        self.written += written;
        self.changed_meanwhile += of.saturating_sub(written);
    }
}

fn embed<'a, E: TextEmbedder>(
    chunks: &'a [ChunkToEmbed],
    embedder: &E,
    done: &mut Reembedded,
) -> Vec<NewVectors<'a>> {
    let count_tokens = |text: &str| embedder.count_tokens(text);
    let mut texts = Vec::new();
    let mut of_chunks: Vec<(&ChunkToEmbed, Vec<Sentence>)> = Vec::new();
    for chunk in chunks {
        let context = headings(chunk.section.as_deref(), &count_tokens);
        let whole = with_context(context.as_deref(), &chunk.content);
        if count_tokens(&whole) > MAX_TOKENS {
            done.too_long += 1;
        }
        texts.push(whole);
        texts.extend(chunk.section.as_deref().map(|section| innermost_heading(section).to_owned()));
        let sentences = sentences(&chunk.content);
        let embedded = |sentence: &Sentence| sentence.embedded_text(context.as_deref(), &chunk.content);
        texts.extend(sentences.iter().map(embedded));
        of_chunks.push((chunk, sentences));
    }
    let mut vectors = vectors(embedder, &texts).into_iter();
    let new = |(chunk, sentences): (&'a ChunkToEmbed, Vec<Sentence>)| NewVectors {
        chunk,
        vector: vectors.next().unwrap_or_default(),
        heading: chunk.section.as_ref().and_then(|_| vectors.next()),
        sentences: sentences
            .into_iter()
            .zip(vectors.by_ref())
            .map(|(sentence, vector)| NewSentence { range: sentence.range, vector })
            .collect(),
    };
    of_chunks.into_iter().map(new).collect()
}

/// Says now and then how far a run is.
struct Pace<'a> {
    progress: &'a Progress,
    expected: Option<usize>,
    started: Instant,
    last_line: Instant,
}

impl<'a> Pace<'a> {
    fn new(progress: &'a Progress, expected: Option<usize>) -> Self {
        let now = Instant::now();
        Self { progress, expected, started: now, last_line: now }
    }

    fn report(&mut self, done: usize) {
        if self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            self.progress.line(&pace_line(done, self.expected, self.started.elapsed()));
        }
    }
}

fn pace_line(done: usize, expected: Option<usize>, elapsed: Duration) -> String {
    let rate = done as f64 / elapsed.as_secs_f64().max(0.001);
    match expected {
        Some(expected) if done < expected => {
            let left = Duration::from_secs_f64((expected - done) as f64 / rate.max(0.001));
            let left = indicatif::HumanDuration(left);
            format!("embedded {done} of {expected} passages, {rate:.1} passages/s, {left} left")
        }
        _ => format!("embedded {done} passages, {rate:.1} passages/s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_fast_and_how_long() {
        let seconds = Duration::from_secs;
        assert_eq!(
            pace_line(50, Some(200), seconds(10)),
            "embedded 50 of 200 passages, 5.0 passages/s, 30 seconds left"
        );
        assert_eq!(pace_line(50, None, seconds(10)), "embedded 50 passages, 5.0 passages/s");
        // Somebody edited more while it ran.
        assert_eq!(pace_line(50, Some(40), seconds(10)), "embedded 50 passages, 5.0 passages/s");
        assert!(pace_line(0, Some(40), seconds(0)).contains("left"));
    }
}
