//! Asks the knowledge base every question as the Worker does.

use std::path::Path;

use anyhow::Result;
use chat_core::chunk::MatchedChunk;
use chat_core::evidence::Background;
use chat_core::follow_up::joined;
use embedder::Embedder;
use futures_util::{StreamExt, TryStreamExt, stream};
use kb::knowledge_base::KnowledgeBase;
use rayon::prelude::*;

use crate::dataset::{Dataset, Question, Turn};
use crate::results::{Found, FoundInTurn, Results};

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
            dialogues: self.ask("second", set.dialogues, background).await?,
        })
    }

    /// The results keep the order of the questions.
    async fn ask(&self, what: &str, questions: Vec<Question>, background: Background) -> Result<Vec<Found>> {
        if !questions.is_empty() {
            eprintln!("  {} {what} questions", questions.len());
        }
        let vectors: Vec<_> =
            questions.par_iter().map_init(|| self.embedder.clone(), Vectors::of_question).collect();
        let found = questions
            .into_iter()
            .zip(&vectors)
            .map(|(question, vectors)| self.ask_one(question, vectors, background));
        stream::iter(found).buffered(CONCURRENCY).try_collect().await
    }

    async fn ask_one(&self, question: Question, vectors: &Vectors, background: Background) -> Result<Found> {
        let turn = match (question.turn, &vectors.joined) {
            (Some(Turn { previous, kind, rewrite }), Some(vector)) => {
                let joined = joined(&question.question, &previous);
                let joined_rows = self.search(vector, Some(&joined)).await?;
                let rewrite = match (rewrite, &vectors.rewrite) {
                    (Some(rewrite), Some(vector)) => {
                        let rows = self.search(vector, Some(&rewrite)).await?;
                        Some((rewrite, rows))
                    }
                    _ => None,
                };
                Some(FoundInTurn {
                    previous,
                    kind,
                    joined_rows,
                    rewrite,
                    reading: None,
                    rewrite_reading: None,
                })
            }
            _ => None,
        };
        Ok(Found {
            rows: self.search(&vectors.question, Some(&question.question)).await?,
            plain_rows: self.search(&vectors.question, None).await?,
            question: question.question,
            documents: question.documents,
            answers: question.answers,
            background,
            reading: None,
            turn,
        })
    }

    async fn search(&self, vector: &[f32], text: Option<&str>) -> Result<Vec<MatchedChunk>> {
        Ok(self.knowledge_base.match_chunks(vector, MATCH_COUNT, text, None).await?)
    }
}

/// The vectors of a question.
struct Vectors {
    question: Vec<f32>,
    /// Of the question together with the one before it.
    joined: Option<Vec<f32>>,
    /// Of the follow-up in words that need no question before it.
    rewrite: Option<Vec<f32>>,
}

impl Vectors {
    fn of_question(embedder: &mut Embedder, question: &Question) -> Self {
        let mut vector = |text: &str| embedder.embed(text).vector;
        let turn = question.turn.as_ref();
        Self {
            question: vector(&question.question),
            joined: turn.map(|turn| vector(&joined(&question.question, &turn.previous))),
            rewrite: turn.and_then(|turn| turn.rewrite.as_deref()).map(vector),
        }
    }
}
