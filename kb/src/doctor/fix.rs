//! `kb doctor --fix`: deletes what nobody sees and nothing refers to.

use serde::Serialize;

use crate::knowledge_base::KnowledgeBase;
use crate::supabase::SupabaseError;

/// The data that was deleted.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Fixed {
    /// Sources of documents that were pending for more than a day.
    pub left_over: Vec<String>,
    /// Originals that no document referred to.
    pub orphans: Vec<String>,
}

/// Deletes documents that were pending for more than a day, then the originals that no document refers to. This does not
/// disturb a running sync: its documents are in the table before their originals are uploaded.
///
/// # Errors
/// If a request fails. What was deleted before stays deleted.
pub async fn fix(knowledge_base: &KnowledgeBase) -> Result<Fixed, SupabaseError> {
    let mut fixed = Fixed::default();
    let health = knowledge_base.health().await?;
    if health.pending_older_than_day > 0 {
        let documents = knowledge_base.oldest_pending(health.pending_older_than_day).await?;
        knowledge_base.delete_with_originals(&documents, false).await?;
        fixed.left_over = documents.into_iter().map(|document| document.source).collect();
    }
    // The server lists a part of them at a time.
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
