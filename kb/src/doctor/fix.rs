//! What can be fixed without asking: things that nobody sees or refers to.

use serde::Serialize;

use crate::knowledge_base::KnowledgeBase;
use crate::supabase::SupabaseError;

/// What was deleted.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Fixed {
    /// Sources of documents that were begun more than a day ago and never published.
    pub left_over: Vec<String>,
    /// Originals that no document referred to.
    pub orphans: Vec<String>,
}

/// Deletes what was begun more than a day ago and never published, and then the originals that no document refers to. A
/// running sync is safe: its documents are in the table before their originals are uploaded.
///
/// # Errors
/// If the server cannot be asked. What was deleted until then stays deleted.
pub async fn fix(knowledge_base: &KnowledgeBase) -> Result<Fixed, SupabaseError> {
    let mut fixed = Fixed::default();
    let health = knowledge_base.health().await?;
    if health.pending_older_than_day > 0 {
        let documents = knowledge_base.oldest_pending(health.pending_older_than_day).await?;
        knowledge_base.delete_with_originals(&documents).await?;
        fixed.left_over = documents.into_iter().map(|document| document.source).collect();
    }
    // The server names a part of them at a time.
    loop {
        let mut orphans = knowledge_base.health().await?.files.orphan_files;
        orphans.retain(|path| !fixed.orphans.contains(path));
        if orphans.is_empty() {
            return Ok(fixed);
        }
        knowledge_base.client().delete_files(&orphans).await?;
        fixed.orphans.append(&mut orphans);
    }
}
