//! Asks the knowledge base every question as the Worker does.

use std::path::Path;

use anyhow::Result;
use chat_core::evidence::Background;
use embedder::Embedder;
use futures_util::{StreamExt, TryStreamExt, stream};
use kb::knowledge_base::KnowledgeBase;
use rayon::prelude::*;

use crate::dataset::{Dataset, Question};
use crate::results::{Found, Results};

/// The default of the Worker.
const MATCH_COUNT: u32 = 5;
/// Number of concurrent questions.
const CONCURRENCY: usize = 4;

pub(crate) struct Searcher<'a> {
    knowledge_base: &'a KnowledgeBase,
    embedder: Embedder,
}

impl<'a> Searcher<'a> {
    pub(crate) fn new(knowledge_base: &'a KnowledgeBase, model_dir: &Path) -> Result<Self> {
        Ok(Self { knowledge_base, embedder: Embedder::from_dir(model_dir)? })
    }

    /// Asks all questions of a set.
    pub(crate) async fn ask_all(&self, set: Dataset) -> Result<Results> {
        let calibration = self.knowledge_base.calibration().await?;
        let background =
            calibration.map(|measured| Background { mean: measured.mean, deviation: measured.deviation });
        let background = background.unwrap_or_default();
        eprintln!(
            "  questions about something else reach {:.2} ± {:.2}",
            background.mean, background.deviation
        );
        Ok(Results {
            set: set.name,
            answerable: self.ask("answerable", set.answerable, background).await?,
            near: self.ask("near-unanswerable", set.near, background).await?,
            off_topic: self.ask("off-topic", set.off_topic, background).await?,
        })
    }

    /// The results keep the order of the questions.
    async fn ask(&self, what: &str, questions: Vec<Question>, background: Background) -> Result<Vec<Found>> {
        if !questions.is_empty() {
            eprintln!("  {} {what} questions", questions.len());
        }
        let embed = |embedder: &mut Embedder, question: &Question| embedder.embed(&question.question).vector;
        let vectors: Vec<_> = questions.par_iter().map_init(|| self.embedder.clone(), embed).collect();
        let found = questions
            .into_iter()
            .zip(&vectors)
            .map(|(question, vector)| self.ask_one(question, vector, background));
        stream::iter(found).buffered(CONCURRENCY).try_collect().await
    }

    async fn ask_one(&self, question: Question, vector: &[f32], background: Background) -> Result<Found> {
        let search = |text| self.knowledge_base.match_chunks(vector, MATCH_COUNT, text, None);
        Ok(Found {
            rows: search(Some(&question.question)).await?,
            plain_rows: search(None).await?,
            question: question.question,
            documents: question.documents,
            answers: question.answers,
            background,
        })
    }
}
