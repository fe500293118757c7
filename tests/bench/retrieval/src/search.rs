//! Asks the knowledge base every question, as the Worker would.

use std::path::Path;

use anyhow::Result;
use chat_core::chunk::MatchedChunk;
use embedder::Embedder;
use futures_util::{StreamExt, TryStreamExt, stream};
use kb::knowledge_base::KnowledgeBase;
use rayon::prelude::*;

/// Passages asked for, as the Worker does by default.
const MATCH_COUNT: u32 = 5;
/// Questions under way at the same time.
const CONCURRENCY: usize = 4;

/// What was found for one question.
pub(crate) struct Found {
    pub(crate) question: String,
    /// By vectors and words.
    pub(crate) rows: Vec<MatchedChunk>,
    /// By passage vectors alone.
    pub(crate) plain_rows: Vec<MatchedChunk>,
}

pub(crate) struct Searcher<'a> {
    pub(crate) knowledge_base: &'a KnowledgeBase,
    embedder: Embedder,
}

impl<'a> Searcher<'a> {
    pub(crate) fn new(knowledge_base: &'a KnowledgeBase, model_dir: &Path) -> Result<Self> {
        Ok(Self { knowledge_base, embedder: Embedder::from_dir(model_dir)? })
    }

    /// Asks all questions; the results keep their order.
    pub(crate) async fn ask<'q>(
        &self,
        what: &str,
        questions: impl IntoIterator<Item = &'q str>,
    ) -> Result<Vec<Found>> {
        let questions: Vec<&str> = questions.into_iter().collect();
        eprintln!("• {} {what} questions", questions.len());
        let embed = |embedder: &mut Embedder, text: &&str| embedder.embed(text).vector;
        let vectors: Vec<_> = questions.par_iter().map_init(|| self.embedder.clone(), embed).collect();
        let found =
            questions.into_iter().zip(&vectors).map(|(question, vector)| self.ask_one(question, vector));
        stream::iter(found).buffered(CONCURRENCY).try_collect().await
    }

    async fn ask_one(&self, question: &str, vector: &[f32]) -> Result<Found> {
        let search = |text| self.knowledge_base.match_chunks(vector, MATCH_COUNT, text);
        Ok(Found {
            question: question.to_owned(),
            rows: search(Some(question)).await?,
            plain_rows: search(None).await?,
        })
    }
}
