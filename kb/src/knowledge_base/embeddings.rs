//! Vectors that are missing, out of date, or of another model.

use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::write::{CHUNK_SCALE, HALF_SCALE, scaled_literal, sentence_entry};
use super::{KnowledgeBase, NewSentence};
use crate::supabase::{Query, SupabaseError};

/// A chunk that needs a vector.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ChunkToEmbed {
    /// Its row.
    pub chunk_id: Uuid,
    /// The document's row.
    pub document_id: Uuid,
    /// The document's key.
    pub source: String,
    /// The passage.
    pub content: String,
    /// Headings it stands under.
    pub section: Option<String>,
    /// Why.
    pub reason: Reason,
}

impl ChunkToEmbed {
    /// By which the database tells whether the text is still the one that was embedded.
    fn text_hash(&self) -> String {
        let section = self.section.as_deref().unwrap_or_default();
        let digest =
            Md5::new().chain_update(section).chain_update("\n").chain_update(&self.content).finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Why a chunk needs a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// Its text was edited.
    Stale,
    /// It has none.
    Missing,
    /// Another model made the one it has.
    Model,
}

/// The new vectors of a chunk.
#[derive(Debug, Clone)]
pub struct NewVectors<'a> {
    /// What they were made from.
    pub chunk: &'a ChunkToEmbed,
    /// Of the chunk.
    pub vector: Vec<f32>,
    /// Of its innermost heading.
    pub heading: Option<Vec<f32>>,
    /// In reading order.
    pub sentences: Vec<NewSentence>,
}

impl KnowledgeBase {
    /// The next chunks after one, by their ids, that were edited, have no vector or, if there is a `model`, have a vector
    /// of another one; of all collections or of one.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn chunks_to_embed(
        &self,
        model: Option<&str>,
        collection: Option<&str>,
        after: Option<Uuid>,
        count: usize,
    ) -> Result<Vec<ChunkToEmbed>, SupabaseError> {
        let arguments = json!({ "model": model, "after": after, "count": count, "collection": collection });
        self.client.send(Query::call("kb_chunks_to_embed", &arguments)).await
    }

    /// Writes vectors over the old ones and gives back the chunks that got them: a text that was changed meanwhile is
    /// left alone.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
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
                "sentences": new.sentences.iter().map(sentence_entry).collect::<Value>(),
            })
        };
        let entries: Value = vectors.iter().map(entry).collect();
        self.client.send(Query::call("kb_write_vectors", &json!({ "vectors": entries }))).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_what_postgres_md5_gives() {
        let chunk = |section: Option<&str>| ChunkToEmbed {
            chunk_id: Uuid::nil(),
            document_id: Uuid::nil(),
            source: String::new(),
            content: "Größe".to_owned(),
            section: section.map(str::to_owned),
            reason: Reason::Stale,
        };
        // select md5(E'A\nGröße'), md5(E'\nGröße')
        assert_eq!(chunk(Some("A")).text_hash(), "06eec44ddf5d07727aac82b98c5667c4");
        assert_eq!(chunk(None).text_hash(), "669bac1bb10baa23c0b01891f6c5c84d");
    }
}
