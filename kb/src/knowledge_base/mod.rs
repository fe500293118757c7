//! The tables of the knowledge base, read and written through the REST API.
//!
//! Row ids are made here, not by the database, so that every write can be repeated after a lost answer.

mod search;
mod write;

use std::collections::HashSet;
use std::fmt::Write;

use postgrest::Builder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::rest::{RestClient, RestError};

pub use write::{NewChunk, NewDocument, NewSentence};

/// Rows per request: with vectors about half a megabyte.
const BATCH: usize = 100;

/// The knowledge base of one project.
pub struct KnowledgeBase {
    client: RestClient,
}

/// What is known of a document in the knowledge base.
#[derive(Debug, Clone, Deserialize)]
pub struct StoredDocument {
    /// Row id.
    pub id: Uuid,
    /// The document's key within the knowledge base.
    pub source: String,
    /// Hash of the file it was made from.
    pub content_hash: Option<String>,
    /// Whether people can see it.
    pub status: Status,
}

/// Where a document is on its way into the knowledge base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Being written, or left over from a run that did not finish.
    Pending,
    /// Complete.
    Ready,
    /// Given up.
    Failed,
}

/// A line of `kb list`.
#[derive(Debug, Clone, Serialize)]
pub struct ListedDocument {
    /// Row id.
    pub id: Uuid,
    /// The document's key within the knowledge base.
    pub source: String,
    /// File name.
    pub name: String,
    /// Heading of level 1.
    pub title: Option<String>,
    /// Whether people can see it.
    pub status: Status,
    /// False if somebody switched it off.
    pub enabled: bool,
    /// Number of passages.
    pub chunks: u64,
}

impl KnowledgeBase {
    /// Nothing is sent yet.
    pub fn new(client: RestClient) -> Self {
        Self { client }
    }

    /// All documents, in no particular order.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn documents(&self) -> Result<Vec<StoredDocument>, RestError> {
        let columns = "id,source,content_hash,status";
        self.all_rows("kb_documents", "id", columns, |request| request, |row: &StoredDocument| row.id).await
    }

    /// Documents with at least one vector that another model made.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn documents_of_other_models(&self, model: &str) -> Result<HashSet<Uuid>, RestError> {
        #[derive(Deserialize)]
        struct Row {
            chunk_id: Uuid,
            kb_chunks: Chunk,
        }
        #[derive(Deserialize)]
        struct Chunk {
            document_id: Uuid,
        }
        let columns = "chunk_id,kb_chunks!inner(document_id)";
        let other_model = |request: Builder| request.neq("model", model);
        let rows = self
            .all_rows("kb_embeddings", "chunk_id", columns, other_model, |row: &Row| row.chunk_id)
            .await?;
        Ok(rows.into_iter().map(|row| row.kb_chunks.document_id).collect())
    }

    /// All documents for people to read, by source.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn list(&self) -> Result<Vec<ListedDocument>, RestError> {
        #[derive(Deserialize)]
        struct Row {
            id: Uuid,
            source: String,
            name: String,
            status: Status,
            enabled: bool,
            // People edit it in the dashboard, so nothing is taken for granted.
            meta: Value,
            kb_chunks: Vec<Count>,
        }
        #[derive(Deserialize)]
        struct Count {
            count: u64,
        }
        let columns = "id,source,name,status,enabled,meta,kb_chunks(count)";
        let rows =
            self.all_rows("kb_documents", "id", columns, |request| request, |row: &Row| row.id).await?;
        let mut listed: Vec<_> = rows
            .into_iter()
            .map(|row| ListedDocument {
                id: row.id,
                source: row.source,
                name: row.name,
                title: row.meta.get("title").and_then(Value::as_str).map(str::to_owned),
                status: row.status,
                enabled: row.enabled,
                chunks: row.kb_chunks.iter().map(|chunks| chunks.count).sum(),
            })
            .collect();
        listed.sort_by(|a, b| (&a.source, a.id).cmp(&(&b.source, b.id)));
        Ok(listed)
    }

    /// Deletes documents with all that belongs to them.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn delete(&self, ids: &[Uuid]) -> Result<(), RestError> {
        for batch in ids.chunks(BATCH) {
            let request = self.client.table("kb_documents").delete();
            let request = request.in_("id", batch.iter().map(Uuid::to_string)).select("id");
            self.client.send::<Value>(request).await?;
        }
        Ok(())
    }

    /// Reads a table to its end, whatever number of rows the server gives at a time.
    async fn all_rows<T: DeserializeOwned>(
        &self,
        table: &str,
        key: &str,
        columns: &str,
        filter: impl Fn(Builder) -> Builder,
        key_of: impl Fn(&T) -> Uuid,
    ) -> Result<Vec<T>, RestError> {
        let mut all: Vec<T> = Vec::new();
        loop {
            let mut request = filter(self.client.table(table).select(columns)).order(format!("{key}.asc"));
            if let Some(last) = all.last() {
                request = request.gt(key, key_of(last).to_string());
            }
            let page: Vec<T> = self.client.send(request).await?;
            if page.is_empty() {
                return Ok(all);
            }
            all.extend(page);
        }
    }
}

/// `[0.1,-0.2]`, which PostgREST hands to pgvector as it is; each number in the fewest digits that give it back.
fn vector_literal(vector: &[f32]) -> String {
    let mut literal = String::with_capacity(vector.len() * 13);
    for (index, value) in vector.iter().enumerate() {
        let separator = if index == 0 { '[' } else { ',' };
        // Writing to a string cannot fail.
        let _ = write!(literal, "{separator}{value}");
    }
    literal.push(']');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_written_so_that_they_read_back_exactly() {
        let vector = [0.1_f32, -1.0e-9, 1.0 / 3.0];
        let literal = vector_literal(&vector);
        assert!(literal.starts_with("[0.1,-0.000000001,"));
        let back: Vec<f32> =
            literal.trim_matches(['[', ']']).split(',').map(|x| x.parse().unwrap()).collect();
        assert_eq!(back, vector);
    }
}
