//! Removals that are more likely a mistake than meant: an empty folder is more often a disk that is not there.

use super::SyncError;
use crate::knowledge_base::StoredDocument;

/// So many documents are few enough to be removed without a question, unless they are all there are.
const FEW: usize = 10;

/// A collection of fewer documents may lose them all at once, when they are replaced.
const SMALL_COLLECTION: usize = 3;

/// What is known of a run that removes documents.
pub(super) struct Removal<'a> {
    pub(super) collection: &'a str,
    /// Documents that were there before.
    pub(super) all: usize,
    /// Whether the source offers any document.
    pub(super) has_documents: bool,
    /// Whether it offers documents that were not there.
    pub(super) adds: bool,
    /// Whether the user knows.
    pub(super) is_forced: bool,
}

impl Removal<'_> {
    /// # Errors
    /// If the user has to say that it is meant.
    pub(super) fn check(&self, removed: &[StoredDocument]) -> Result<(), SyncError> {
        if self.is_forced || removed.is_empty() {
            return Ok(());
        }
        let collection = self.collection.to_owned();
        let (number, all) = (removed.len(), self.all);
        let is_most = number >= FEW && number * 2 > all;
        let is_all = number >= all && (all >= SMALL_COLLECTION || !self.has_documents);
        if is_most || is_all {
            return Err(SyncError::ManyRemovals { removed: number, all, collection });
        }
        // It may be one of those that are new, under another name, and would be there for everybody.
        match removed.iter().find(|document| document.is_kept_from_somebody()) {
            Some(document) if self.adds => {
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
            stated: None,
        }
    }

    fn is_allowed(removed: usize, all: usize, has_documents: bool) -> bool {
        let removal = Removal { collection: "kb", all, has_documents, adds: true, is_forced: false };
        let removed = vec![document(); removed];
        assert!(Removal { is_forced: true, ..removal }.check(&removed).is_ok());
        Removal { collection: "kb", all, has_documents, adds: true, is_forced: false }.check(&removed).is_ok()
    }

    #[test]
    fn most_of_a_collection_and_all_of_it_need_a_word_from_the_user() {
        assert!(is_allowed(9, 12, true) && !is_allowed(10, 12, true) && is_allowed(10, 20, true));
        assert!(is_allowed(2, 2, true) && !is_allowed(3, 3, true));
        assert!(!is_allowed(1, 1, false) && is_allowed(0, 1, false));
    }

    #[test]
    fn what_was_hidden_or_restricted_in_the_database_is_not_replaced_by_something_open() {
        let team = |name: &str| Some(vec![format!("team:{name}")]);
        let hidden = StoredDocument { enabled: false, ..document() };
        let restricted = StoredDocument { audience: team("a"), ..document() };
        let restricted_by_its_source =
            StoredDocument { audience: team("a"), stated: team("a"), ..document() };
        let check = |document: StoredDocument, adds| {
            let removal = Removal { collection: "kb", all: 9, has_documents: true, adds, is_forced: false };
            removal.check(&[document]).is_ok()
        };
        assert!(!check(hidden.clone(), true) && !check(restricted, true));
        assert!(check(restricted_by_its_source, true) && check(hidden, false));
    }
}
