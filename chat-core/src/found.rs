//! A passage that was found for a question, as clients get it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::chunk::MatchedChunk;

/// A passage near a question, and its document. Alone it is further reading, never a source; citations
/// and results of a search add the words that they quote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundPassage {
    /// The passage's id.
    pub chunk_id: Uuid,
    /// The document's id.
    pub document_id: Uuid,
    /// The display name of the document.
    pub title: String,
    /// The page number, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// The headings above the passage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The web page of the passage or document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The document's media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Cosine of question and passage, -1 to 1.
    pub score: f64,
    /// The whole passage; empty in refusals.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub excerpt: String,
    /// How the passage is laid out, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Value>,
    /// A link to the document's original file. Set by the server; it may expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub download_url: Option<String>,
}

impl FoundPassage {
    pub(crate) fn new(chunk: &MatchedChunk) -> Self {
        Self {
            chunk_id: chunk.chunk_id,
            document_id: chunk.document_id,
            title: chunk.title(),
            page: chunk.page(),
            section: chunk.section().map(str::to_owned),
            url: chunk.url().map(str::to_owned),
            content_type: chunk.content_type().map(str::to_owned),
            score: chunk.similarity,
            excerpt: chunk.content.clone(),
            blocks: chunk.blocks.clone(),
            download_url: None,
        }
    }

    /// The passage as a place to look, without its text.
    pub(crate) fn without_text(self) -> Self {
        Self { excerpt: String::new(), blocks: None, ..self }
    }

    /// Whether both are of the same section of the same document, so that a reader needs only one of them.
    pub(crate) fn is_same_place(&self, other: &Self) -> bool {
        (self.document_id, &self.section) == (other.document_id, &other.section)
    }
}
