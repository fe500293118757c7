//! The stored calibration: how much evidence unrelated questions reach.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{KnowledgeBase, Status};
use crate::supabase::{Query, SupabaseError};

/// The row of `kb_calibration`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    pub model: String,
    pub language: String,
    /// Median of their evidence, in log-odds.
    pub mean: f64,
    /// Standard deviation of their evidence.
    pub deviation: f64,
    pub questions: u64,
    /// Timestamp as the database writes it.
    #[serde(skip_serializing)]
    pub updated_at: String,
}

impl KnowledgeBase {
    /// The last calibration, if there is one.
    pub async fn calibration(&self) -> Result<Option<Calibration>, SupabaseError> {
        let columns = "model,language,mean,deviation,questions,updated_at";
        let rows: Vec<Calibration> = self.client.send(Query::select("kb_calibration", columns)).await?;
        Ok(rows.into_iter().next())
    }

    /// Replaces the stored calibration.
    pub async fn write_calibration(&self, calibration: &Calibration) -> Result<(), SupabaseError> {
        let Calibration { model, language, mean, deviation, questions, updated_at: _ } = calibration;
        let row = json!({
            "id": true, "model": model, "language": language,
            "mean": mean, "deviation": deviation, "questions": questions,
        });
        self.client.send(Query::upsert("kb_calibration", "id", &[row])).await
    }

    /// Removes the calibration, so that the chat uses its default.
    pub async fn remove_calibration(&self) -> Result<(), SupabaseError> {
        self.client.send(Query::delete("kb_calibration").eq("id", "true")).await
    }

    /// Returns whether a ready document changed after a timestamp of the database.
    pub async fn has_changed_since(&self, moment: &str) -> Result<bool, SupabaseError> {
        let changed = Query::select("kb_documents", "id").eq("status", Status::Ready.name());
        let rows: Vec<Value> = self.client.send(changed.gt("updated_at", moment).limit(1)).await?;
        Ok(!rows.is_empty())
    }

    /// The most frequent language of searchable passages, as in `kb_chunks.language`.
    pub async fn main_language(&self) -> Result<Option<String>, SupabaseError> {
        #[derive(Deserialize)]
        struct Row {
            language: String,
            chunks: i64,
        }
        // The empty lexeme counts the passages.
        let query = Query::select("kb_lexemes", "language,chunks").eq("lexeme", "");
        let rows: Vec<Row> = self.client.send(query).await?;
        let used = rows.into_iter().filter(|row| row.chunks > 0);
        Ok(used.max_by(|a, b| (a.chunks, &b.language).cmp(&(b.chunks, &a.language))).map(|row| row.language))
    }

    /// Sources of documents in which non-Latin letters outnumber Latin ones, at most 1,000.
    pub async fn non_latin_documents(&self) -> Result<Vec<String>, SupabaseError> {
        #[derive(Deserialize)]
        struct Row {
            source: String,
        }
        let rows: Vec<Row> = self.client.send(Query::call_long("kb_non_latin_documents", &json!({}))).await?;
        Ok(rows.into_iter().map(|row| row.source).collect())
    }
}
