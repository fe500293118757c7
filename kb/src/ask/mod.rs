//! Answers a question natively in the same steps as the widget and the Worker: vector, `match_chunks`, reader, `chat-core`.

mod explain;
mod json;
mod read;
mod reply;

use chat_core::answer::Answer;
use chat_core::assistant::AssistantName;
use chat_core::chunk::MatchedChunk;
use chat_core::decision::Searched;
use chat_core::evidence::{Assessment, EvidenceThresholds, PassageAssessment, check_model};
use chat_core::follow_up::{JoinedSearch, joined, may_lean, respond_to_follow_up};
use chat_core::limits::MAX_MESSAGE_CHARS;
use chat_core::refusal::{Reason, Refusal};
use chat_core::request::MAX_MODEL_TOKENS;
use chat_core::{DecidedBy, Reading, Response, Verdict, passages_to_read, respond};
use uuid::Uuid;

use crate::knowledge_base::KnowledgeBase;
use crate::passage::SECTION_SEPARATOR;
use crate::supabase::SupabaseError;
use crate::text_embedder::TextEmbedder;

pub use explain::explanation;
pub use json::report;
pub use read::{PassageReader, read};
pub use reply::reply;

/// Search settings; the Worker has the same.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Number of passages to search for.
    pub match_count: u32,
    pub thresholds: EvidenceThresholds,
    /// The assistant whose collections are searched; all if `None`.
    pub assistant: Option<AssistantName>,
    /// The question before this one, which it may lean on.
    pub previous: Option<String>,
}

/// A question, the search results, and the conclusion.
#[derive(Debug)]
pub struct Asked {
    /// The question, trimmed.
    pub question: String,
    /// The text that was searched, if it was not just the question.
    pub searched: Searched,
    pub thresholds: EvidenceThresholds,
    pub rows: Vec<MatchedChunk>,
    /// Assessment of the search results.
    pub assessment: Assessment,
    pub conclusion: Conclusion,
    /// The evidence that decided.
    pub decided_by: DecidedBy,
    /// The reading of the passages; `None` without a reader.
    pub reading: Option<Reading>,
}

/// The reply that a user would see, except that settings of the Worker may replace suggestions.
#[derive(Debug)]
pub enum Conclusion {
    /// The evidence was sufficient.
    Answer(Answer),
    /// The evidence was not sufficient.
    Refusal(Refusal),
}

/// Why a question could not be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// Only white space.
    #[error("the question is empty")]
    Empty,
    /// Longer than the Worker allows.
    #[error("the question has {0} characters; at most {MAX_MESSAGE_CHARS} are allowed")]
    TooLong(usize),
    /// Vectors of different models cannot be compared.
    #[error("the knowledge base was embedded with another model than that of this kb; run `kb reembed`")]
    OtherModel,
    /// The knowledge base cannot be searched.
    #[error(transparent)]
    Rest(#[from] SupabaseError),
}

/// Asks the knowledge base; `model` is the fingerprint of `embedder`. Without a reader, the search decides alone.
///
/// # Errors
/// [`AskError`] if the question cannot be searched for. A refusal is not an error.
pub async fn ask(
    question: &str,
    knowledge_base: &KnowledgeBase,
    model: &str,
    embedder: &mut impl TextEmbedder,
    reader: Option<&mut dyn PassageReader>,
    settings: &Settings,
) -> Result<Asked, AskError> {
    let question = checked(question)?;
    let is_too_long = |text: &str| embedder.count_tokens(text) > MAX_MODEL_TOKENS;
    let truncated = is_too_long(question);
    let both = match &settings.previous {
        // Like the widget, which does not send it then.
        Some(previous) => {
            Some(joined(question, checked(previous)?)).filter(|text| may_lean(question) && !is_too_long(text))
        }
        None => None,
    };
    let rows = search(question, knowledge_base, model, embedder, settings).await?;
    let thresholds = &settings.thresholds;
    let both = match both {
        Some(text) => {
            let rows = search(&text, knowledge_base, model, embedder, settings).await?;
            Some((text, rows))
        }
        None => None,
    };
    let joined = both.as_ref().map(|(text, rows)| JoinedSearch { text, rows });
    let reading = reader.map(|reader| {
        let (text, passages) = passages_to_read(question, &rows, joined, thresholds);
        read(reader, &text, &passages)
    });
    let (response, is_joined) = match joined {
        Some(joined) => respond_to_follow_up(question, &rows, joined, reading.as_ref(), thresholds, true),
        None => (respond(question, &rows, reading.as_ref(), thresholds, true), false),
    };
    let Response { assessment, verdict, decided_by, .. } = response;
    let (rows, both) = match both {
        Some((text, rows)) if is_joined => (rows, Some(text)),
        _ => (rows, None),
    };
    let conclusion = match verdict {
        Verdict::Answer(quotes) => Conclusion::Answer(quotes),
        Verdict::Refuse(reason) => {
            let is_empty = rows.is_empty() && !knowledge_base.has_documents().await?;
            let reason = if is_empty { Reason::EmptyKb } else { reason };
            Conclusion::Refusal(Refusal::new(reason, &rows, settings.thresholds.similarity))
        }
    };
    Ok(Asked {
        question: question.to_owned(),
        thresholds: settings.thresholds,
        searched: Searched { searched: both, truncated },
        rows,
        assessment,
        conclusion,
        decided_by,
        reading,
    })
}

async fn search(
    text: &str,
    knowledge_base: &KnowledgeBase,
    model: &str,
    embedder: &mut impl TextEmbedder,
    settings: &Settings,
) -> Result<Vec<MatchedChunk>, AskError> {
    let vector = embedder.vector(text);
    let assistant = settings.assistant.as_ref().map(AssistantName::as_str);
    let rows = knowledge_base.match_chunks(&vector, settings.match_count, Some(text), assistant).await?;
    check_model(Some(model), &rows).map_err(|_| AskError::OtherModel)?;
    Ok(rows)
}

/// Applies the limits of the Worker to a question.
fn checked(question: &str) -> Result<&str, AskError> {
    let question = question.trim();
    match question.chars().count() {
        0 => Err(AskError::Empty),
        length if length > MAX_MESSAGE_CHARS => Err(AskError::TooLong(length)),
        _ => Ok(question),
    }
}

impl Asked {
    /// The passages with their rows, best first.
    fn passages(&self) -> impl Iterator<Item = (&PassageAssessment, &MatchedChunk)> {
        self.assessment.passages.iter().filter_map(|passage| {
            let row = self.rows.iter().find(|row| row.chunk_id == passage.chunk_id)?;
            Some((passage, row))
        })
    }

    /// The largest z of the statements of a passage; `None` if it was not read.
    fn best_z(&self, chunk_id: Uuid) -> Option<f64> {
        let read = self.reading.iter().flat_map(|reading| &reading.passages);
        let of_passage = read.filter(|passage| passage.chunk_id == chunk_id);
        of_passage.flat_map(|passage| &passage.z).flatten().copied().reduce(f32::max).map(f64::from)
    }

    /// Similarity of the sentence that is nearest to the question.
    fn best_sentence(&self) -> Option<f64> {
        self.assessment.passages.iter().filter_map(|passage| passage.best_sentence).reduce(f64::max)
    }

    /// The similarity that the threshold applies to: that of the nearest passage or sentence.
    fn best_similarity(&self) -> Option<f64> {
        self.assessment.best_similarity.into_iter().chain(self.best_sentence()).reduce(f64::max)
    }
}

/// Title and section of a passage. A section path usually begins with the title.
fn place(title: &str, section: Option<&str>) -> String {
    match section {
        Some(section) if section.starts_with(title) => section.to_owned(),
        Some(section) => format!("{title}{SECTION_SEPARATOR}{section}"),
        None => title.to_owned(),
    }
}

#[cfg(test)]
mod tests;
