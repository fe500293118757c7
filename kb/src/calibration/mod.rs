//! Calibrates a knowledge base: measures how much evidence unrelated questions reach in it.
//!
//! Evidence means more in a small knowledge base than in one that contains something similar to every question. So
//! general questions ([`bank`]) are asked after each sync, and `chat-core` compares a question's evidence with theirs.

mod bank;
mod statistics;

use std::fmt;

use chat_core::chunk::MatchedChunk;
use chat_core::evidence::{Background, EvidenceThresholds, assess, check_model};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::knowledge_base::{Calibration, KnowledgeBase};
use crate::model_files::ModelError;
use crate::output::counted;
use crate::progress::Progress;
use crate::supabase::SupabaseError;
use crate::text_embedder::{TextEmbedder, embed_all};

/// Number of passages per search, the default of the Worker.
const MATCH_COUNT: u32 = 5;
/// Questions asked at the same time.
const MAX_CONCURRENT_SEARCHES: usize = 4;

/// Why the knowledge base was not calibrated. The previous calibration stays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// Vectors of different models cannot be compared.
    #[error("some vectors are from another model; run `kb reembed`")]
    OtherModel,
    /// The knowledge base cannot be read or written.
    #[error(transparent)]
    Supabase(#[from] SupabaseError),
    /// The model cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Measures and stores a new calibration if `changed` (passages were written or removed) or the stored one is outdated.
/// `load_embedder` is called only if something is measured; `model` is the fingerprint of the model that it loads.
///
/// If there are no questions in the most frequent language of the passages, the stored calibration is removed: the default is
/// better than questions in another language, which reach less evidence.
pub async fn recalibrate<E: TextEmbedder>(
    knowledge_base: &KnowledgeBase,
    model: &str,
    changed: bool,
    load_embedder: impl FnOnce() -> Result<E, ModelError>,
    progress: &Progress,
) -> Result<Option<Calibration>, CalibrationError> {
    let stored = knowledge_base.calibration().await?;
    if let Some(stored) = &stored
        && !changed
        && stored.model == model
        && !knowledge_base.has_changed_since(&stored.updated_at).await?
    {
        return Ok(None);
    }
    let language = knowledge_base.main_language().await?;
    let questions = language.as_deref().and_then(bank::questions);
    let measured = match (language, questions) {
        (Some(language), Some(questions)) => {
            progress.line(&format!("calibrating: {}", counted(questions.len() as u64, "question")));
            let embedder = load_embedder()?;
            let evidence = measure_evidence(questions, knowledge_base, model, &embedder).await?;
            let count = evidence.len();
            statistics::background(evidence).map(|background| Calibration {
                model: model.to_owned(),
                language,
                mean: background.mean,
                deviation: background.deviation,
                questions: count as u64,
                updated_at: String::new(),
            })
        }
        _ => None,
    };
    match &measured {
        Some(calibration) => knowledge_base.write_calibration(calibration).await?,
        None if stored.is_some() => knowledge_base.remove_calibration().await?,
        None => {}
    }
    Ok(measured)
}

/// The evidence of the questions for which there is any.
async fn measure_evidence(
    questions: Vec<String>,
    knowledge_base: &KnowledgeBase,
    model: &str,
    embedder: &impl TextEmbedder,
) -> Result<Vec<f64>, CalibrationError> {
    let vectors = embed_all(embedder, &questions);
    let searches = questions.iter().zip(&vectors).map(async |(question, vector)| {
        let rows = knowledge_base.match_chunks(vector, MATCH_COUNT, Some(question), None).await?;
        check_model(Some(model), &rows).map_err(|_| CalibrationError::OtherModel)?;
        Ok::<_, CalibrationError>(evidence(question, &rows))
    });
    let all: Vec<Option<f64>> =
        stream::iter(searches).buffered(MAX_CONCURRENT_SEARCHES).try_collect().await?;
    Ok(all.into_iter().flatten().collect())
}

fn evidence(question: &str, rows: &[MatchedChunk]) -> Option<f64> {
    assess(question, rows, &EvidenceThresholds::default()).evidence
}

impl Calibration {
    pub fn background(&self) -> Background {
        Background { mean: self.mean, deviation: self.deviation }
    }
}

/// Returns whether the bank has questions in a language, as in `kb_chunks.language`.
pub fn has_questions(language: &str) -> bool {
    bank::questions(language).is_some()
}

/// Formats as `evidence -4.2 ± 2.0`.
pub fn describe(background: &Background) -> String {
    format!("evidence {:.1} ± {:.1}", background.mean, background.deviation)
}

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (asked, reached) = (counted(self.questions, "question"), describe(&self.background()));
        write!(f, "calibrated: {asked} about something else reach {reached}")
    }
}
