//! Vectors that are missing, out of date, or of another model.

use chat_core::statement::Part;
use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::write::{CHUNK_SCALE, HALF_SCALE, scaled_literal, sentence_entry};
use super::{KnowledgeBase, NewSentence};
use crate::output::hex;
use crate::passage::{PassageStatement, read_edited};
use crate::supabase::{Query, SupabaseError};

/// A chunk that needs a vector.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ChunkToEmbed {
    pub chunk_id: Uuid,
    pub document_id: Uuid,
    /// The document's key.
    pub source: String,
    pub content: String,
    /// Headings above it.
    pub section: Option<String>,
    /// As stored. Anybody who may write to the table may have written them.
    #[serde(default)]
    pub parts: Vec<Value>,
    /// `None` if its text must be read again.
    pub sentences: Option<Vec<PassageStatement>>,
    pub reason: Reason,
}

impl ChunkToEmbed {
    /// Its statements with the parts of their chains: as they were stored, or read from a text that was edited.
    pub fn statements(&self) -> (Vec<PassageStatement>, Vec<Part>) {
        let part = |part: &Value| serde_json::from_value::<Part>(part.clone()).ok();
        let parts: Vec<Option<Part>> = self.parts.iter().map(part).collect();
        match (&self.sentences, parts.iter().cloned().collect::<Option<Vec<Part>>>()) {
            (Some(sentences), Some(parts)) => (sentences.clone(), parts),
            _ => {
                read_edited(&self.content, parts.into_iter().flatten().filter(|part| part.is_above).collect())
            }
        }
    }

    /// The database compares it to find out whether the text changed after it was read.
    fn text_hash(&self) -> String {
        let section = self.section.as_deref().unwrap_or_default();
        let mut hash = Md5::new().chain_update(section).chain_update("\n");
        for text in
            self.parts.iter().filter(|part| part["is_above"] == true).filter_map(|part| part["text"].as_str())
        {
            hash = hash.chain_update(text).chain_update("\n");
        }
        hex(hash.chain_update(&self.content).finalize())
    }
}

/// Why a chunk needs a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    Stale,
    Missing,
    /// Its vector is from another model.
    Model,
}

/// The new vectors of a chunk.
#[derive(Debug, Clone)]
pub struct NewVectors<'a> {
    pub chunk: &'a ChunkToEmbed,
    pub vector: Vec<f32>,
    /// Vector of its innermost heading.
    pub heading: Option<Vec<f32>>,
    /// The parts of the chains of its sentences.
    pub parts: Vec<Part>,
    /// In reading order.
    pub sentences: Vec<NewSentence>,
}

impl KnowledgeBase {
    /// Up to `count` chunks with ids after `after` that were edited, have no vector or have one of another model than
    /// `model`, in one collection or in all.
    pub async fn chunks_to_embed(
        &self,
        model: Option<&str>,
        collection: Option<&str>,
        after: Option<Uuid>,
        count: usize,
    ) -> Result<Vec<ChunkToEmbed>, SupabaseError> {
        let arguments = json!({ "model": model, "after": after, "count": count, "collection": collection });
        self.client.send(Query::call_long("kb_chunks_to_embed", &arguments)).await
    }

    /// Replaces vectors, and returns the ids of the chunks that were updated. A chunk whose text changed meanwhile is
    /// skipped.
    pub async fn write_vectors(
        &self,
        vectors: &[NewVectors<'_>],
        model: &str,
    ) -> Result<Vec<Uuid>, SupabaseError> {
        let entry = |new: &NewVectors<'_>| {
            json!({
                "chunk_id": new.chunk.chunk_id,
                "text_hash": new.chunk.text_hash(),
                "embedding": scaled_literal(&new.vector, CHUNK_SCALE),
                "model": model,
                "heading": new.heading.as_ref().map(|heading| scaled_literal(heading, HALF_SCALE)),
                "parts": new.parts,
                "sentences": new.sentences.iter().map(sentence_entry).collect::<Value>(),
            })
        };
        let entries: Value = vectors.iter().map(entry).collect();
        self.client.send(Query::call_long("kb_write_vectors", &json!({ "vectors": entries }))).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_hash_equals_md5_in_postgres() {
        let hash = |section: Option<&str>, parts: Value| {
            let chunk = ChunkToEmbed {
                chunk_id: Uuid::nil(),
                document_id: Uuid::nil(),
                source: String::new(),
                content: "Größe".to_owned(),
                section: section.map(str::to_owned),
                parts: serde_json::from_value(parts).unwrap(),
                sentences: None,
                reason: Reason::Stale,
            };
            chunk.text_hash()
        };
        // select md5(E'A\nGröße'), md5(E'\nGröße'), md5(E'A\nBelow\nGröße')
        assert_eq!(hash(Some("A"), json!([])), "06eec44ddf5d07727aac82b98c5667c4");
        assert_eq!(hash(None, json!([7, { "text": "x" }])), "669bac1bb10baa23c0b01891f6c5c84d");
        let above = json!([{ "text": "x", "is_above": false }, { "text": "Below", "is_above": true }]);
        assert_eq!(hash(Some("A"), above), "cc6d7cb6cae1594a7ef91a6712e80736");
    }
}
