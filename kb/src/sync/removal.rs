//! Refuses removals that are probably a mistake: an empty folder is more often a disk that is not mounted.

use super::SyncError;
use crate::knowledge_base::StoredDocument;

/// Removing at least this many documents is suspicious if they are most of the collection.
const MIN_SUSPICIOUS_REMOVALS: usize = 10;

/// Removing all documents of a collection at least this large is suspicious, even if others replace them.
const MIN_PROTECTED_COLLECTION: usize = 3;

/// What is said about a document of [`Removal::keeps`].
pub(super) const KEPT: &str = "is no longer in the source, but hidden or restricted in the dashboard, so it stays; `kb remove` deletes it";

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
    /// `removed` and `kept` are what [`Removal::keeps`] divides.
    ///
    /// # Errors
    /// If the user must confirm these removals with `--force`.
    pub(super) fn check(&self, removed: &[StoredDocument], kept: &[StoredDocument]) -> Result<(), SyncError> {
        if self.is_forced {
            return Ok(());
        }
        let (number, all) = (removed.len(), self.all);
        let removable = all.saturating_sub(kept.len());
        let is_most = number >= MIN_SUSPICIOUS_REMOVALS && number * 2 > removable;
        let is_all = number >= removable && (all >= MIN_PROTECTED_COLLECTION || !self.has_documents);
        if number > 0 && (is_most || is_all) {
            let collection = self.collection.to_owned();
            return Err(SyncError::ManyRemovals { removed: number, all, collection });
        }
        // It may be one of the new documents under another name, which everybody could then see.
        match kept.first() {
            Some(document) if self.adds_documents => {
                Err(SyncError::HiddenRemoval { document: document.source.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Whether a document stays although its source lacks it. If it came back, as a page does after an hour of trouble, it would be a new
    /// document that everybody can see.
    pub(super) fn keeps(&self, document: &StoredDocument) -> bool {
        !self.is_forced && document.is_restricted()
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
        let is_allowed = removal.check(&removed, &[]).is_ok();
        assert!(Removal { is_forced: true, ..removal }.check(&removed, &[]).is_ok());
        is_allowed
    }

    #[test]
    fn removing_most_or_all_of_a_collection_needs_force() {
        assert!(is_allowed(9, 12, true) && !is_allowed(10, 12, true) && is_allowed(10, 20, true));
        assert!(is_allowed(2, 2, true) && !is_allowed(3, 3, true));
        assert!(!is_allowed(1, 1, false) && is_allowed(0, 1, false));
    }

    #[test]
    fn documents_that_are_kept_are_no_reason_to_remove_all_others() {
        let removal = |adds_documents| Removal {
            collection: "kb",
            all: 12,
            has_documents: true,
            adds_documents,
            is_forced: false,
        };
        let documents = |number| vec![document(); number];
        assert!(removal(false).check(&documents(6), &documents(6)).is_err());
        assert!(removal(false).check(&documents(1), &documents(6)).is_ok());
        assert!(removal(false).check(&[], &documents(12)).is_ok());
        assert!(removal(true).check(&[], &documents(1)).is_err());
    }

    #[test]
    fn a_document_hidden_or_restricted_in_the_database_stays_unless_forced() {
        let team = |name: &str| Some(vec![format!("team:{name}")]);
        let hidden = StoredDocument { enabled: false, ..document() };
        let restricted = StoredDocument { audience: team("a"), ..document() };
        let restricted_by_its_source =
            StoredDocument { audience: team("a"), declared_audience: team("a"), ..document() };
        let keeps = |document: &StoredDocument, is_forced| {
            let removal =
                Removal { collection: "kb", all: 9, has_documents: true, adds_documents: false, is_forced };
            removal.keeps(document)
        };
        assert!(keeps(&hidden, false) && keeps(&restricted, false));
        assert!(!keeps(&restricted_by_its_source, false) && !keeps(&document(), false));
        assert!(!keeps(&hidden, true));
    }
}
