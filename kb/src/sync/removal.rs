//! Refuses removals that are probably a mistake: an empty folder is more often a disk that is not mounted.

use super::SyncError;
use crate::knowledge_base::StoredDocument;

/// Removing at least this many documents is suspicious if they are most of the collection.
const MIN_SUSPICIOUS_REMOVALS: usize = 10;

/// Removing all documents of a collection at least this large is suspicious, even if others replace them.
const MIN_PROTECTED_COLLECTION: usize = 3;

/// The removals of a run, with the context to judge them.
pub(super) struct Removal<'a> {
    pub(super) collection: &'a str,
    /// Ready documents before the run.
    pub(super) all: usize,
    /// Whether the source has any document.
    pub(super) has_documents: bool,
    /// Whether the run adds documents.
    pub(super) adds_documents: bool,
    /// Whether the user passed `--force`.
    pub(super) is_forced: bool,
}

impl Removal<'_> {
    /// # Errors
    /// If the user must confirm these removals with `--force`.
    pub(super) fn check(&self, removed: &[StoredDocument]) -> Result<(), SyncError> {
        if self.is_forced || removed.is_empty() {
            return Ok(());
        }
        let collection = self.collection.to_owned();
        let (number, all) = (removed.len(), self.all);
        let is_most = number >= MIN_SUSPICIOUS_REMOVALS && number * 2 > all;
        let is_all = number >= all && (all >= MIN_PROTECTED_COLLECTION || !self.has_documents);
        if is_most || is_all {
            return Err(SyncError::ManyRemovals { removed: number, all, collection });
        }
        // It may be one of the new documents under another name, which everybody could then see.
        match removed.iter().find(|document| document.is_restricted()) {
            Some(document) if self.adds_documents => {
                Err(SyncError::HiddenRemoval { document: document.source.clone() })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::knowledge_base::Status;

    fn document() -> StoredDocument {
        StoredDocument {
            id: Uuid::nil(),
            source: "kb/a.md".to_owned(),
            content_hash: None,
            source_version: None,
            status: Status::Ready,
            storage_path: None,
            enabled: true,
            audience: None,
            declared_audience: None,
        }
    }

    fn is_allowed(removed: usize, all: usize, has_documents: bool) -> bool {
        let removal =
            Removal { collection: "kb", all, has_documents, adds_documents: true, is_forced: false };
        let removed = vec![document(); removed];
        assert!(Removal { is_forced: true, ..removal }.check(&removed).is_ok());
        Removal { collection: "kb", all, has_documents, adds_documents: true, is_forced: false }
            .check(&removed)
            .is_ok()
    }

    #[test]
    fn removing_most_or_all_of_a_collection_needs_force() {
        assert!(is_allowed(9, 12, true) && !is_allowed(10, 12, true) && is_allowed(10, 20, true));
        assert!(is_allowed(2, 2, true) && !is_allowed(3, 3, true));
        assert!(!is_allowed(1, 1, false) && is_allowed(0, 1, false));
    }

    #[test]
    fn a_document_hidden_or_restricted_in_the_database_is_not_replaced_by_an_open_one() {
        let team = |name: &str| Some(vec![format!("team:{name}")]);
        let hidden = StoredDocument { enabled: false, ..document() };
        let restricted = StoredDocument { audience: team("a"), ..document() };
        let restricted_by_its_source =
            StoredDocument { audience: team("a"), declared_audience: team("a"), ..document() };
        let check = |document: StoredDocument, adds_documents| {
            let removal =
                Removal { collection: "kb", all: 9, has_documents: true, adds_documents, is_forced: false };
            removal.check(&[document]).is_ok()
        };
        assert!(!check(hidden.clone(), true) && !check(restricted, true));
        assert!(check(restricted_by_its_source, true) && check(hidden, false));
    }
}
