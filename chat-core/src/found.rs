//! A passage that was found for a question and is not quoted: where a reader may look next.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::chunk::MatchedChunk;

/// A passage near the question that the reply does not quote. It is never a source of the reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundPassage {
    /// The passage.
    pub chunk_id: Uuid,
    /// The document.
    pub document_id: Uuid,
    /// The name to show.
    pub title: String,
    /// The page, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// The heading the passage stands under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Where to read on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The document's media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Cosine of question and passage, -1 to 1.
    pub score: f64,
    /// The whole passage, as Markdown source. Left out of refusals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// Where the document's original file can be downloaded. Set by the server; it may expire.
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
            excerpt: None,
            download_url: None,
        }
    }

    pub(crate) fn with_excerpt(chunk: &MatchedChunk) -> Self {
        Self { excerpt: Some(chunk.content.clone()), ..Self::new(chunk) }
    }

    /// Whether both are passages of the same section of the same document: a reader needs one of them.
    pub(crate) fn is_same_place(&self, other: &Self) -> bool {
        (self.document_id, &self.section) == (other.document_id, &other.section)
    }
}
