//! Writes documents in idempotent steps: a pending row, which nobody can see, then its chunks, then one call that publishes
//! the complete document in place of its older version.

use std::fmt::Write;

use chat_core::limits::{MAX_URL_BYTES, json_bytes};
use chat_core::statement::Part;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::documents::{COLUMNS, bounded_name};
use super::{KnowledgeBase, Status, StoredDocument};
use crate::passage::PassageStatement;
use crate::supabase::{Query, SupabaseError};

/// Factor by which vectors are multiplied for transport: the database reads integers of up to nine digits five times faster
/// than other numbers, and normalizes vectors to unit length. A chunk's vector changes by at most 2e-8.
pub(super) const CHUNK_SCALE: f64 = (1 << 28) as f64;

/// Factor for vectors of sentences and headings, which are stored in half precision and need fewer
/// digits.
pub(super) const HALF_SCALE: f64 = (1 << 17) as f64;

/// A document to be written.
#[derive(Debug, Clone, Default)]
pub struct PendingDocument {
    /// Id of the pending row. When it is published in place of an older version, it gets the id of that version.
    pub id: Uuid,
    /// The document's key within the knowledge base.
    pub source: String,
    pub name: String,
    pub title: Option<String>,
    /// Address where people read it.
    pub url: Option<String>,
    pub content_type: &'static str,
    /// Language of the text, which decides how its words are searched.
    pub language: String,
    /// The audience; the default of the project if `None`.
    pub audience: Option<Vec<String>>,
    pub content_hash: String,
    /// Hash of everything that is made of that content.
    pub written_hash: String,
    /// Sample of hashes of its text.
    pub sketch: Vec<i64>,
    /// Version of the content as its source reports it.
    pub source_version: Option<String>,
    /// Path of the original in the bucket, if it is uploaded.
    pub original: Option<String>,
}

/// A chunk to be written.
#[derive(Debug, Clone)]
pub struct NewChunk {
    pub id: Uuid,
    pub document_id: Uuid,
    /// Position in the document, counted from 0.
    pub ordinal: usize,
    pub content: String,
    /// Headings above it.
    pub section: Option<String>,
    pub page: Option<u32>,
    /// Its own address, if it has one.
    pub url: Option<String>,
    /// The parts of the chains of its sentences.
    pub parts: Vec<Part>,
    /// How it is laid out.
    pub blocks: Option<Value>,
    pub vector: Vec<f32>,
    /// The embedding of its innermost heading, which is stored in half precision.
    pub heading: Option<Vec<f32>>,
    /// In reading order.
    pub sentences: Vec<NewSentence>,
}

/// A sentence to be written.
#[derive(Debug, Clone)]
pub struct NewSentence {
    pub statement: PassageStatement,
    /// Its embedding, which is stored in half precision.
    pub vector: Vec<f32>,
}

impl KnowledgeBase {
    /// Adds pending documents, which nobody can see.
    pub async fn begin(&self, documents: &[&PendingDocument]) -> Result<(), SupabaseError> {
        let rows: Vec<Value> = documents.iter().map(|document| document_row(document)).collect();
        self.client.send(Query::upsert("kb_documents", "id", &rows)).await
    }

    /// Adds chunks with their vectors and sentences, all or none.
    pub async fn write_chunks(&self, chunks: &[&NewChunk], model: &str) -> Result<(), SupabaseError> {
        if chunks.is_empty() {
            return Ok(());
        }
        let rows: Vec<Value> = chunks.iter().map(|chunk| chunk_row(chunk, model)).collect();
        self.client.send(Query::call_long("kb_write_chunks", &json!({ "chunks": rows }))).await
    }

    /// Publishes a complete document in place of its older version. `storage_path` is given for a file that people put into
    /// the bucket. Returns the document that is hidden or restricted and has the same text, if that made this one so, too.
    ///
    /// # Errors
    /// If the request fails; the older version then stays visible.
    pub async fn publish(
        &self,
        document: &PendingDocument,
        storage_path: Option<&str>,
    ) -> Result<Option<String>, SupabaseError> {
        #[derive(Deserialize)]
        struct Published {
            restricted_like: Option<String>,
        }
        let arguments = json!({ "document_id": document.id, "storage_path": storage_path });
        match self.client.send::<Option<Published>>(Query::call_long("kb_publish_document", &arguments)).await
        {
            Ok(published) => Ok(published.and_then(|published| published.restricted_like)),
            // If the answer to the first attempt was lost, the second finds nothing to publish and fails.
            Err(error) => {
                if self.is_published(document).await? {
                    Ok(None)
                } else {
                    Err(error)
                }
            }
        }
    }

    async fn is_published(&self, document: &PendingDocument) -> Result<bool, SupabaseError> {
        let query = Query::select("kb_documents", COLUMNS).eq("source", &document.source);
        let rows: Vec<StoredDocument> = self.client.send(query).await?;
        let is_pending = rows.iter().any(|row| row.id == document.id && row.status != Status::Ready);
        let is_ready = rows.iter().any(|row| {
            row.status == Status::Ready && row.content_hash.as_deref() == Some(&document.content_hash)
        });
        Ok(is_ready && !is_pending)
    }

    /// Deletes a pending document that will not be published, and its original.
    pub async fn discard(&self, document: &PendingDocument) -> Result<(), SupabaseError> {
        self.delete(&[document.id], false).await?;
        let original: Vec<_> = document.original.iter().cloned().collect();
        self.client.delete_files(&original).await
    }

    /// Notes for the administrator that the newest version of a document could not be read. `version` is given if it cannot be read
    /// another time either.
    pub async fn note_failure(
        &self,
        source: &str,
        name: &str,
        failure: &str,
        version: Option<&str>,
    ) -> Result<(), SupabaseError> {
        let arguments =
            json!({ "source": source, "name": bounded_name(name), "failure": failure, "version": version });
        self.client.send(Query::call("kb_note_failure", &arguments)).await
    }
}

fn document_row(document: &PendingDocument) -> Value {
    let mut meta = json!({ "content_type": document.content_type });
    if let Some(title) = &document.title {
        meta["title"] = bounded_name(title).into();
    }
    if let Some(url) = document.url.as_deref().filter(is_short_enough) {
        meta["url"] = url.into();
    }
    if let Some(audience) = &document.audience {
        meta["audience"] = json!(audience);
    }
    json!({
        "id": document.id,
        "source": document.source,
        "name": bounded_name(&document.name),
        "status": Status::Pending,
        "language": document.language,
        "audience": document.audience,
        "content_hash": document.content_hash,
        "source_version": document.source_version,
        "written_hash": document.written_hash,
        "sketch": document.sketch,
        "storage_path": document.original,
        "meta": meta,
    })
}

/// A longer address is left out, because a truncated one would lead elsewhere.
fn is_short_enough(url: &&str) -> bool {
    json_bytes(url) <= MAX_URL_BYTES
}

fn chunk_row(chunk: &NewChunk, model: &str) -> Value {
    let mut meta = json!({});
    if let Some(section) = &chunk.section {
        meta["section"] = section.as_str().into();
    }
    if let Some(page) = chunk.page {
        meta["page"] = page.into();
    }
    if let Some(url) = chunk.url.as_deref().filter(is_short_enough) {
        meta["url"] = url.into();
    }
    json!({
        "id": chunk.id,
        "document_id": chunk.document_id,
        "ordinal": chunk.ordinal,
        "content": chunk.content,
        "meta": meta,
        "parts": chunk.parts,
        "blocks": chunk.blocks,
        "embedding": scaled_literal(&chunk.vector, CHUNK_SCALE),
        "model": model,
        "heading": chunk.heading.as_ref().map(|heading| scaled_literal(heading, HALF_SCALE)),
        "sentences": chunk.sentences.iter().map(sentence_entry).collect::<Value>(),
    })
}

/// `[268435456,-134217728]`, for 384 numbers from -1 to 1.
pub(super) fn scaled_literal(vector: &[f32], scale: f64) -> String {
    let mut literal = String::with_capacity(vector.len() * 11);
    for (index, value) in vector.iter().enumerate() {
        let separator = if index == 0 { '[' } else { ',' };
        // Writing to a string cannot fail.
        let _ = write!(literal, "{separator}{}", (f64::from(*value) * scale).round() as i64);
    }
    literal.push(']');
    literal
}

/// As [`KnowledgeBase::write_chunks`] and [`KnowledgeBase::write_vectors`] send it.
pub(super) fn sentence_entry(sentence: &NewSentence) -> Value {
    let mut entry = json!(sentence.statement);
    entry["embedding"] = scaled_literal(&sentence.vector, HALF_SCALE).into();
    entry
}

#[cfg(test)]
mod tests {
    use chat_core::limits::{MAX_META_BYTES, MAX_NAME_CHARS};
    use chat_core::statement::StatementKind;

    use super::*;
    use crate::passage::jsonb_bytes;

    fn chunk() -> NewChunk {
        NewChunk {
            id: Uuid::nil(),
            document_id: Uuid::nil(),
            ordinal: 2,
            content: "text".to_owned(),
            section: None,
            page: None,
            url: None,
            parts: Vec::new(),
            blocks: None,
            vector: vec![0.5, -0.25],
            heading: Some(vec![0.5]),
            sentences: vec![NewSentence {
                statement: PassageStatement {
                    start: 3,
                    end: 8,
                    kind: StatementKind::Sentence,
                    chain: vec![0, 2],
                },
                vector: vec![1.0],
            }],
        }
    }

    #[test]
    fn missing_properties_are_left_out_of_the_row() {
        let document = PendingDocument { content_type: "text/plain", ..PendingDocument::default() };
        let row = document_row(&document);
        assert_eq!(row["meta"], json!({ "content_type": "text/plain" }));
        assert_eq!((&row["audience"], &row["storage_path"]), (&Value::Null, &Value::Null));
        assert_eq!(chunk_row(&chunk(), "m")["meta"], json!({}));
    }

    #[test]
    fn long_names_are_truncated_and_long_addresses_left_out() {
        let (long, url) = (Some("n".repeat(5000)), Some(format!("https://e.org/{}", "p".repeat(2000))));
        let document = PendingDocument {
            name: "f".repeat(5000),
            title: long,
            url: url.clone(),
            ..PendingDocument::default()
        };
        let row = document_row(&document);
        for name in [&row["name"], &row["meta"]["title"]] {
            assert_eq!(
                name.as_str().map(|name| (name.chars().count(), name.ends_with('…'))),
                Some((300, true))
            );
        }
        assert_eq!(row["meta"].get("url"), None);
        assert_eq!(chunk_row(&NewChunk { url, ..chunk() }, "m")["meta"], json!({}));
        assert_eq!(bounded_name(" a\nb "), " a\nb ");
    }

    #[test]
    fn jsonb_bytes_equals_the_size_that_postgres_prints() {
        // select octet_length('{"a": [1, "b\n"], "c": {}}'::jsonb::text)
        assert_eq!(jsonb_bytes(&json!({ "a": [1, "b\n"], "c": {} })), 26);
        assert_eq!(jsonb_bytes(&json!([])), 2);
    }

    #[test]
    fn the_largest_metadata_stays_within_the_limits_of_the_database() {
        // Characters that JSON writes in six bytes, four and two.
        for filler in ["\u{1}", "😀", "\"", "x"] {
            let url = format!("https://e.org/{}", filler.repeat(5000));
            let url = url.get(..url.floor_char_boundary(MAX_URL_BYTES / 6)).map(str::to_owned);
            let longest_url = Some(format!("https://e.org/{}", "p".repeat(MAX_URL_BYTES - 14)));
            let entry = format!("team:{}", filler.repeat(10));
            let entries = extract::MAX_AUDIENCE_BYTES / (json_bytes(&entry) + 4);
            for url in [url, longest_url] {
                let document = PendingDocument {
                    name: filler.repeat(1000),
                    title: Some(filler.repeat(MAX_NAME_CHARS)),
                    url: url.clone(),
                    content_type: extract::Format::ALL
                        .iter()
                        .map(|format| format.content_type())
                        .max_by_key(|t| t.len())
                        .unwrap(),
                    audience: Some(vec![entry.clone(); entries]),
                    ..PendingDocument::default()
                };
                let row = document_row(&document);
                let chars = |value: &Value| value.as_str().unwrap().chars().count();
                assert!(
                    jsonb_bytes(&row["meta"]) <= MAX_META_BYTES,
                    "{filler:?}: {}",
                    jsonb_bytes(&row["meta"])
                );
                assert!(
                    chars(&row["name"]) <= MAX_NAME_CHARS && chars(&row["meta"]["title"]) <= MAX_NAME_CHARS
                );
                assert!(row["meta"]["url"].as_str().unwrap().len() <= MAX_URL_BYTES);
                let section = "\"".repeat(chat_core::limits::MAX_SECTION_BYTES);
                let row = chunk_row(
                    &NewChunk { section: Some(section), page: Some(u32::MAX), url, ..chunk() },
                    "m",
                );
                assert!(jsonb_bytes(&row["meta"]) <= MAX_META_BYTES);
            }
        }
    }

    #[test]
    fn a_scaled_vector_keeps_its_direction() {
        let vector: Vec<f32> = (0..384).map(|at| ((at * 37 % 101) as f32 - 50.0) / 600.0).collect();
        let literal = scaled_literal(&vector, CHUNK_SCALE);
        let back: Vec<f64> =
            literal.trim_matches(['[', ']']).split(',').map(|number| number.parse().unwrap()).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let vector: Vec<f64> = vector.into_iter().map(f64::from).collect();
        let cosine = dot(&vector, &back) / (dot(&vector, &vector) * dot(&back, &back)).sqrt();
        assert!((1.0 - cosine).abs() < 1e-14, "{cosine}");
        assert!(back.iter().all(|number| number.abs() < 1e9 && number.fract() == 0.0));
    }

    #[test]
    fn a_chunk_row_contains_place_vector_and_sentences() {
        let chunk = NewChunk { section: Some("A › B".to_owned()), page: Some(7), ..chunk() };
        let row = chunk_row(&chunk, "m");
        assert_eq!(row["meta"], json!({ "section": "A › B", "page": 7 }));
        assert_eq!((&row["embedding"], &row["model"]), (&json!("[134217728,-67108864]"), &json!("m")));
        assert_eq!(row["heading"], json!("[65536]"));
        assert_eq!(
            row["sentences"],
            json!([{ "start": 3, "end": 8, "kind": "sentence", "chain": [0, 2], "embedding": "[131072]" }])
        );
    }
}
