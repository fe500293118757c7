//! Refuses removals that are probably a mistake: an empty folder is more often a disk that is not mounted.

use super::{DocumentResult, SyncError};
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
    /// True if the source has any document.
    pub(super) has_documents: bool,
    /// True if the user passed `--force`.
    pub(super) is_forced: bool,
}

impl Removal<'_> {
    /// `kept` is the number of missing documents that [`Removal::keeps`].
    ///
    /// # Errors
    /// If the user must confirm these removals with `--force`.
    pub(super) fn check(&self, removed: usize, kept: usize) -> Result<(), SyncError> {
        if self.is_forced {
            return Ok(());
        }
        let (number, all) = (removed, self.all);
        let removable = all.saturating_sub(kept);
        let is_most = number >= MIN_SUSPICIOUS_REMOVALS && number * 2 > removable;
        let is_all = number >= removable && (all >= MIN_PROTECTED_COLLECTION || !self.has_documents);
        if number > 0 && (is_most || is_all) {
            let collection = self.collection.to_owned();
            return Err(SyncError::ManyRemovals { removed: number, all, collection });
        }
        Ok(())
    }

    /// Returns whether a hidden or restricted document stays although its source lacks it. Otherwise it
    /// would be visible to everybody when the source lists it again after an outage, also under another
    /// name.
    pub(super) fn keeps(&self, document: &StoredDocument) -> bool {
        !self.is_forced && document.is_restricted()
    }
}

/// The result of a document that the source lacks and that stays for a reason.
pub(super) fn stays(reason: &str) -> DocumentResult {
    DocumentResult::Skipped { reason: format!("is no longer in the source and stays, {reason}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge_base::Status;

    fn document() -> StoredDocument {
        StoredDocument {
            source: "kb/a.md".to_owned(),
            status: Status::Ready,
            enabled: true,
            ..StoredDocument::default()
        }
    }

    fn removal(all: usize, has_documents: bool) -> Removal<'static> {
        Removal { collection: "kb", all, has_documents, is_forced: false }
    }

    fn is_allowed(removed: usize, all: usize, has_documents: bool) -> bool {
        let removal = removal(all, has_documents);
        let is_allowed = removal.check(removed, 0).is_ok();
        assert!(Removal { is_forced: true, ..removal }.check(removed, 0).is_ok());
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
        let check = |removed, kept| removal(12, true).check(removed, kept);
        assert!(check(6, 6).is_err() && check(1, 6).is_ok() && check(0, 12).is_ok());
    }

    #[test]
    fn a_document_hidden_or_restricted_in_the_database_stays_unless_forced() {
        let team = |name: &str| Some(vec![format!("team:{name}")]);
        let hidden = StoredDocument { enabled: false, ..document() };
        let restricted = StoredDocument { audience: team("a"), ..document() };
        let restricted_by_its_source =
            StoredDocument { audience: team("a"), declared_audience: team("a"), ..document() };
        let removal = removal(9, true);
        assert!(removal.keeps(&hidden) && removal.keeps(&restricted));
        assert!(!removal.keeps(&restricted_by_its_source) && !removal.keeps(&document()));
        assert!(!Removal { is_forced: true, ..removal }.keeps(&hidden));
    }
}
