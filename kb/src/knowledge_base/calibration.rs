//! What questions about something else reach, as it was measured.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{KnowledgeBase, Status};
use crate::supabase::{Query, SupabaseError};

/// The row of `kb_calibration`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Fingerprint of the vectors.
    pub model: String,
    /// Language of the questions.
    pub language: String,
    /// Middle of their evidence, in log-odds.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// How many questions were asked.
    pub questions: u64,
    /// As the database writes it.
    #[serde(skip_serializing)]
    pub updated_at: String,
}

impl KnowledgeBase {
    /// What was measured last; `None` if nothing was.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn calibration(&self) -> Result<Option<Calibration>, SupabaseError> {
        let columns = "model,language,mean,deviation,questions,updated_at";
        let rows: Vec<Calibration> = self.client.send(Query::select("kb_calibration", columns)).await?;
        Ok(rows.into_iter().next())
    }

    /// Stores what was measured in place of what was before.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub async fn write_calibration(&self, calibration: &Calibration) -> Result<(), SupabaseError> {
        let Calibration { model, language, mean, deviation, questions, updated_at: _ } = calibration;
        let row = json!({
            "id": true, "model": model, "language": language,
            "mean": mean, "deviation": deviation, "questions": questions,
        });
        self.client.send(Query::upsert("kb_calibration", "id", &[row])).await
    }

    /// Leaves the chat to its default.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub async fn remove_calibration(&self) -> Result<(), SupabaseError> {
        self.client.send(Query::delete("kb_calibration").eq("id", "true")).await
    }

    /// Whether a document that people find was changed after a moment, as the database writes it.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn has_changed_since(&self, moment: &str) -> Result<bool, SupabaseError> {
        let changed = Query::select("kb_documents", "id").eq("status", Status::Ready.name());
        let rows: Vec<Value> = self.client.send(changed.gt("updated_at", moment).limit(1)).await?;
        Ok(!rows.is_empty())
    }

    /// The language of most passages that people find, as in `kb_chunks.language`; `None` if there are none.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn main_language(&self) -> Result<Option<String>, SupabaseError> {
        #[derive(Deserialize)]
        struct Row {
            language: String,
            chunks: i64,
        }
        // The empty lexeme counts the passages.
        let query = Query::select("kb_lexemes", "language,chunks").eq("lexeme", "");
        let rows: Vec<Row> = self.client.send(query).await?;
        let most = rows.into_iter().filter(|row| row.chunks > 0);
        Ok(most.max_by(|a, b| (a.chunks, &b.language).cmp(&(b.chunks, &a.language))).map(|row| row.language))
    }

    /// Sources of documents with more letters of other scripts than Latin ones, at most 1,000.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn non_latin_documents(&self) -> Result<Vec<String>, SupabaseError> {
        #[derive(Deserialize)]
        struct Row {
            source: String,
        }
        let rows: Vec<Row> = self.client.send(Query::call("kb_non_latin_documents", &json!({}))).await?;
        Ok(rows.into_iter().map(|row| row.source).collect())
    }
}
