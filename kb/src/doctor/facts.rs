//! Gathers the facts that the checks judge.

use std::collections::BTreeMap;
use std::time::SystemTime;

use crate::knowledge_base::{
    AssistantThresholds, Calibration, ChatSettings, Health, KnowledgeBase, Status, StoredDocument, Trouble,
    Watch,
};
use crate::supabase::SupabaseError;

/// The model of this program.
#[derive(Debug, Clone)]
pub struct Model {
    pub fingerprint: String,
    /// Why it cannot be loaded.
    pub failure: Option<String>,
}

/// The state of a knowledge base.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The report of the database about itself.
    pub health: Health,
    pub model: Model,
    /// Documents and collections that are not as new as their source.
    pub troubles: Vec<Trouble>,
    /// Sources of documents that have been pending for more than a day.
    pub left_over: Vec<String>,
    /// Sources of documents whose original is missing.
    pub without_original: Vec<String>,
    /// Groups of ready documents with the same content, by source.
    pub duplicates: Vec<Vec<String>>,
    /// Settings of the chat; `None` if all are defaults.
    pub settings: Option<ChatSettings>,
    /// Thresholds of the enabled assistants.
    pub assistants: Vec<AssistantThresholds>,
    /// The calibration, if it was measured.
    pub calibration: Option<Calibration>,
    /// True if documents changed after the calibration.
    pub is_calibration_stale: bool,
    /// Sources of documents in scripts that the model cannot read.
    pub non_latin: Vec<String>,
    /// The most frequent language of the passages.
    pub language: Option<String>,
    pub watches: Vec<Watch>,
    /// True if the API exposes the schema `internal`.
    pub serves_internal: bool,
    /// True if visitors can sign in anonymously; `None` if Supabase Auth does not say.
    pub allows_anonymous_sign_ins: Option<bool>,
    /// The time of this report.
    pub now: SystemTime,
}

/// Reads the facts from the knowledge base.
///
/// # Errors
/// If a request fails, as with a schema that is too old.
pub async fn gather(knowledge_base: &KnowledgeBase, model: Model) -> Result<Facts, SupabaseError> {
    let health = knowledge_base.health().await?;
    let left_over = match health.pending_older_than_day {
        0 => Vec::new(),
        count => knowledge_base.oldest_pending(count).await?,
    };
    let documents = knowledge_base.all_documents().await?;
    let calibration = knowledge_base.calibration().await?;
    let is_calibration_stale = match &calibration {
        Some(calibration) => knowledge_base.has_changed_since(&calibration.updated_at).await?,
        None => false,
    };
    Ok(Facts {
        model,
        troubles: knowledge_base.troubles(None).await?,
        left_over: left_over.into_iter().map(|document| document.source).collect(),
        without_original: knowledge_base.sources_by_id(&health.files.missing_files).await?,
        duplicates: duplicates(&documents),
        settings: knowledge_base.chat_settings().await?,
        assistants: knowledge_base.assistant_thresholds().await?,
        calibration,
        is_calibration_stale,
        non_latin: knowledge_base.non_latin_documents().await?,
        language: knowledge_base.main_language().await?,
        watches: knowledge_base.watches().await?,
        serves_internal: knowledge_base.serves_internal().await?,
        allows_anonymous_sign_ins: knowledge_base.allows_anonymous_sign_ins().await?,
        now: SystemTime::now(),
        health,
    })
}

fn duplicates(documents: &[StoredDocument]) -> Vec<Vec<String>> {
    let mut by_content: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for document in documents.iter().filter(|document| document.status == Status::Ready) {
        if let Some(hash) = &document.content_hash {
            by_content.entry(hash).or_default().push(&document.source);
        }
    }
    let mut groups: Vec<Vec<String>> = by_content
        .into_values()
        .filter(|sources| sources.len() > 1)
        .map(|mut sources| {
            sources.sort_unstable();
            sources.into_iter().map(str::to_owned).collect()
        })
        .collect();
    groups.sort();
    groups
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn duplicates_are_ready_documents_with_the_same_content() {
        let document = |source: &str, hash: Option<&str>, status| StoredDocument {
            id: Uuid::new_v4(),
            source: source.to_owned(),
            content_hash: hash.map(str::to_owned),
            status,
            ..StoredDocument::default()
        };
        let documents = [
            document("b", Some("1"), Status::Ready),
            document("a", Some("1"), Status::Ready),
            document("a", Some("1"), Status::Pending),
            document("c", Some("2"), Status::Ready),
            document("d", None, Status::Ready),
            document("e", None, Status::Ready),
        ];
        assert_eq!(duplicates(&documents), [["a", "b"]]);
    }
}
