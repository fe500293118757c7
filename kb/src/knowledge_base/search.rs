//! Search, as the Worker does it for a user.

use chat_core::chunk::{MatchedChunk, SearchRows};
use serde_json::{Value, json};

use super::{KnowledgeBase, vector_literal};
use crate::supabase::{Query, SupabaseError};

impl KnowledgeBase {
    /// The passages that match a question best, whatever their similarity. With its `text`, words count as well as vectors. With an
    /// `assistant`, only those in its collections.
    pub async fn match_chunks(
        &self,
        vector: &[f32],
        count: u32,
        text: Option<&str>,
        assistant: Option<&str>,
    ) -> Result<Vec<MatchedChunk>, SupabaseError> {
        let parameters = json!({
            "query_embedding": vector_literal(vector),
            "match_count": count,
            // `chat-core` applies the thresholds.
            "match_threshold": -1,
            "query_text": text,
            "assistant": assistant,
        });
        let found: SearchRows = self.client.send(Query::call("match_chunks", &parameters)).await?;
        Ok(found.rows)
    }

    /// Returns whether a search can find any document.
    pub async fn has_documents(&self) -> Result<bool, SupabaseError> {
        let documents = Query::select("kb_documents", "id");
        let searchable = documents.eq("status", "ready").eq("enabled", "true").limit(1);
        let rows: Vec<Value> = self.client.send(searchable).await?;
        Ok(!rows.is_empty())
    }
}
