//! Writing a document, in steps that can each be repeated after a lost answer.

use std::ops::Range;

use serde_json::{Value, json};
use uuid::Uuid;

use super::{BATCH, KnowledgeBase, Status, StoredDocument, vector_literal};
use crate::rest::RestError;

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
    /// Language of the text, which decides how its words are searched.
    pub language: &'a str,
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
    /// In reading order.
    pub sentences: Vec<NewSentence<'a>>,
}

/// A sentence about to be written.
#[derive(Debug)]
pub struct NewSentence<'a> {
    /// Its place in the chunk's content, in characters.
    pub range: Range<usize>,
    /// Its embedding, which is stored in half precision.
    pub vector: &'a [f32],
}

impl NewDocument<'_> {
    /// Bytes that the vectors take in the tables, without rows and indexes: pgvector keeps 4 bytes a number for
    /// chunks, 2 for sentences, and 8 a vector.
    pub fn vector_bytes(&self) -> usize {
        let of_sentence = |sentence: &NewSentence<'_>| 8 + 2 * sentence.vector.len();
        let of_chunk = |chunk: &NewChunk<'_>| {
            8 + 4 * chunk.vector.len() + chunk.sentences.iter().map(of_sentence).sum::<usize>()
        };
        self.chunks.iter().map(of_chunk).sum()
    }
}

impl KnowledgeBase {
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
            let mut sentences = Vec::new();
            for passage in batch {
                let chunk_id = Uuid::new_v4();
                chunks.push(chunk_row(chunk_id, id, ordinal, passage));
                embeddings.push(embedding_row(chunk_id, passage.vector, document.model));
                sentences.extend(passage.sentences.iter().enumerate().map(|sentence| (chunk_id, sentence)));
                ordinal += 1;
            }
            self.upsert("kb_chunks", "id", &chunks).await?;
            self.upsert("kb_embeddings", "chunk_id", &embeddings).await?;
            for batch in sentences.chunks(BATCH) {
                let rows =
                    batch.iter().map(|(chunk_id, (at, sentence))| sentence_row(*chunk_id, *at, sentence));
                let rows: Vec<Value> = rows.collect();
                self.upsert("kb_sentences", "chunk_id,ordinal", &rows).await?;
            }
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
        "language": document.language,
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

fn sentence_row(chunk_id: Uuid, ordinal: usize, sentence: &NewSentence<'_>) -> Value {
    json!({
        "chunk_id": chunk_id,
        "ordinal": ordinal,
        "start": sentence.range.start,
        "end": sentence.range.end,
        "embedding": vector_literal(sentence.vector),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(chunks: Vec<NewChunk<'_>>) -> NewDocument<'_> {
        NewDocument {
            source: "a.txt",
            name: "a.txt",
            title: None,
            content_type: "text/plain",
            language: "german",
            content_hash: "00",
            model: "m",
            chunks,
        }
    }

    #[test]
    fn absent_title_and_section_leave_no_trace() {
        let row = document_row(Uuid::nil(), &document(Vec::new()));
        assert_eq!(row["meta"], json!({ "content_type": "text/plain" }));
        let passage = NewChunk { content: "text", section: None, vector: &[], sentences: Vec::new() };
        assert_eq!(chunk_row(Uuid::nil(), Uuid::nil(), 0, &passage)["meta"], json!({}));
    }

    #[test]
    fn a_sentence_is_a_row_with_its_place_in_the_chunk() {
        let sentence = NewSentence { range: 3..8, vector: &[0.5, -0.25] };
        assert_eq!(
            sentence_row(Uuid::nil(), 2, &sentence),
            json!({ "chunk_id": Uuid::nil(), "ordinal": 2, "start": 3, "end": 8, "embedding": "[0.5,-0.25]" })
        );
    }

    #[test]
    fn sentences_take_half_of_the_bytes_of_chunks() {
        let vector = [0.0; 384];
        let sentence = || NewSentence { range: 0..1, vector: &vector };
        let chunk = NewChunk {
            content: "a",
            section: None,
            vector: &vector,
            sentences: vec![sentence(), sentence()],
        };
        assert_eq!(document(vec![chunk]).vector_bytes(), 1544 + 2 * 776);
    }
}
