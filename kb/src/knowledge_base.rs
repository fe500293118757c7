//! The tables of the knowledge base, read and written through the REST API.
//!
//! Row ids are made here, not by the database, so that every write can be repeated after a lost answer.

use std::collections::HashSet;
use std::fmt::Write;

use postgrest::Builder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::rest::{RestClient, RestError};

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

/// A document about to be written.
#[derive(Debug)]
pub struct NewDocument<'a> {
    /// The document's key within the knowledge base.
    pub source: &'a str,
    /// File name.
    pub name: &'a str,
    /// Heading of level 1.
    pub title: Option<&'a str>,
    /// Media type.
    pub content_type: &'a str,
    /// Hash of the file.
    pub content_hash: &'a str,
    /// Fingerprint of the model that made the vectors.
    pub model: &'a str,
    /// In reading order.
    pub chunks: Vec<NewChunk<'a>>,
}

/// A chunk about to be written.
#[derive(Debug)]
pub struct NewChunk<'a> {
    /// Verbatim text.
    pub content: &'a str,
    /// Headings it stands under.
    pub section: Option<&'a str>,
    /// Its embedding.
    pub vector: &'a [f32],
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

    /// Writes a document and makes it visible in one step at the end, in place of an older version.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached; the older version, if any, then stays visible.
    pub async fn write(&self, document: &NewDocument<'_>) -> Result<(), RestError> {
        let id = Uuid::new_v4();
        let outcome = self.write_as(id, document).await;
        if outcome.as_ref().is_err_and(RestError::concerns_only_this_document) {
            // Only tidiness: a pending document is invisible, and the next run deletes it.
            let _ = self.delete(&[id]).await;
        }
        outcome
    }

    async fn write_as(&self, id: Uuid, document: &NewDocument<'_>) -> Result<(), RestError> {
        self.upsert("kb_documents", "id", &[document_row(id, document)]).await?;
        let mut ordinal = 0;
        for batch in document.chunks.chunks(BATCH) {
            let mut chunks = Vec::with_capacity(batch.len());
            let mut embeddings = Vec::with_capacity(batch.len());
            for passage in batch {
                let chunk_id = Uuid::new_v4();
                chunks.push(chunk_row(chunk_id, id, ordinal, passage));
                embeddings.push(embedding_row(chunk_id, passage.vector, document.model));
                ordinal += 1;
            }
            self.upsert("kb_chunks", "id", &chunks).await?;
            self.upsert("kb_embeddings", "chunk_id", &embeddings).await?;
        }
        self.publish(id, document).await
    }

    async fn upsert(&self, table: &str, key: &str, rows: &[Value]) -> Result<(), RestError> {
        let request =
            self.client.table(table).upsert(Value::from(rows).to_string()).on_conflict(key).select(key);
        self.client.send::<Value>(request).await.map(drop)
    }

    async fn publish(&self, id: Uuid, document: &NewDocument<'_>) -> Result<(), RestError> {
        let request = self.client.function("kb_publish_document", &json!({ "document_id": id }));
        match self.client.send::<Value>(request).await {
            Ok(_) => Ok(()),
            // If the answer to the first attempt was lost, the repetition finds nothing left to publish.
            Err(error) => match self.is_published(id, document).await {
                Ok(true) => Ok(()),
                _ => Err(error),
            },
        }
    }

    async fn is_published(&self, id: Uuid, document: &NewDocument<'_>) -> Result<bool, RestError> {
        let request = self.client.table("kb_documents").select("id,source,content_hash,status");
        let rows: Vec<StoredDocument> = self.client.send(request.eq("source", document.source)).await?;
        let is_pending = rows.iter().any(|row| row.id == id && row.status != Status::Ready);
        let is_ready = rows.iter().any(|row| {
            row.status == Status::Ready && row.content_hash.as_deref() == Some(document.content_hash)
        });
        Ok(is_ready && !is_pending)
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

fn document_row(id: Uuid, document: &NewDocument<'_>) -> Value {
    let mut meta = json!({ "content_type": document.content_type });
    if let Some(title) = document.title {
        meta["title"] = title.into();
    }
    json!({
        "id": id,
        "source": document.source,
        "name": document.name,
        "status": Status::Pending,
        "content_hash": document.content_hash,
        "meta": meta,
    })
}

fn chunk_row(id: Uuid, document_id: Uuid, ordinal: usize, chunk: &NewChunk<'_>) -> Value {
    let meta = chunk.section.map_or_else(|| json!({}), |section| json!({ "section": section }));
    json!({
        "id": id,
        "document_id": document_id,
        "ordinal": ordinal,
        "content": chunk.content,
        "meta": meta,
    })
}

fn embedding_row(chunk_id: Uuid, vector: &[f32], model: &str) -> Value {
    json!({ "chunk_id": chunk_id, "embedding": vector_literal(vector), "model": model })
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

    #[test]
    fn absent_title_and_section_leave_no_trace() {
        let document = NewDocument {
            source: "a.txt",
            name: "a.txt",
            title: None,
            content_type: "text/plain",
            content_hash: "00",
            model: "m",
            chunks: Vec::new(),
        };
        assert_eq!(document_row(Uuid::nil(), &document)["meta"], json!({ "content_type": "text/plain" }));
        let passage = NewChunk { content: "text", section: None, vector: &[] };
        assert_eq!(chunk_row(Uuid::nil(), Uuid::nil(), 0, &passage)["meta"], json!({}));
    }
}
