//! The steps that make a collection equal to its source.

use std::collections::{HashMap, HashSet};
use std::fmt;

use uuid::Uuid;

use super::fingerprint::{Defaults, Fingerprint};
use crate::knowledge_base::{Status, StoredDocument};
use crate::source::Item;

/// A collection as it was when the run began.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    ready: HashMap<String, StoredDocument>,
    /// Notes that a document without a ready version cannot be read.
    pub(super) notes: HashMap<String, StoredDocument>,
    /// Unfinished versions of runs that were stopped.
    pub(super) leftovers: Vec<StoredDocument>,
}

/// The steps, in the order of the source.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) write: Vec<Write>,
    pub(super) moved: Vec<Move>,
    pub(super) removed: Vec<StoredDocument>,
    pub(super) unchanged: Vec<String>,
    /// Unchanged documents of which a newer version could not be read before.
    pub(super) recovered: Vec<Uuid>,
    /// Documents that are not read, because the same version could not be read before, and why.
    pub(super) unreadable: Vec<(String, String)>,
}

/// A document that must be read and written.
#[derive(Debug, Clone)]
pub(super) struct Write {
    /// The item of the source.
    pub(super) item: Item,
    /// Its key within the knowledge base.
    pub(super) source: String,
    pub(super) change: Change,
    /// The stored version, if there is one.
    pub(super) replaces: Option<StoredDocument>,
    /// The version of the stored content, as its source reported it.
    pub(super) known_version: Option<String>,
    /// Hash of the content at planning time, if it was read then.
    pub(super) planned_hash: Option<String>,
}

/// Why a document has to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// New in the source.
    Added,
    /// Its content or the rules for it changed.
    Changed,
    /// It must be loaded to find out whether it changed.
    Unknown,
}

/// A document that was only renamed.
#[derive(Debug, Clone)]
pub(super) struct Move {
    pub(super) from: StoredDocument,
    pub(super) item: Item,
    pub(super) source: String,
}

impl Snapshot {
    pub(super) fn new(documents: Vec<StoredDocument>) -> Self {
        let mut snapshot = Self::default();
        for document in documents {
            match document.status {
                Status::Ready => drop(snapshot.ready.insert(document.source.clone(), document)),
                Status::Failed => drop(snapshot.notes.insert(document.source.clone(), document)),
                Status::Pending => snapshot.leftovers.push(document),
            }
        }
        snapshot
    }

    pub(super) fn len(&self) -> usize {
        self.ready.len()
    }

    /// Plans the steps for `items`. Stored documents that are neither among them nor in `unread` (in the source, but
    /// unreadable) are removed. With `needs_originals`, a document without an original is written again.
    pub(super) fn plan(
        mut self,
        collection: &str,
        items: Vec<(Item, Fingerprint)>,
        unread: &HashSet<String>,
        defaults: &Defaults,
        needs_originals: bool,
    ) -> Plan {
        let mut plan = Plan::default();
        let mut new = Vec::new();
        let is_current = |stored: &StoredDocument, fingerprint: &Fingerprint| {
            has_content(stored, fingerprint) && (stored.storage_path.is_some() || !needs_originals)
        };
        for (item, fingerprint) in items {
            let source = format!("{collection}/{}", item.path);
            let noted = self.ready.get(&source).or_else(|| self.notes.get(&source));
            let failure = fingerprint.version().and_then(|version| noted?.known_failure(version));
            if let Some(reason) = failure {
                plan.unreadable.push((source.clone(), reason.to_owned()));
                self.ready.remove(&source);
                continue;
            }
            match self.ready.remove(&source) {
                None => new.push((item, fingerprint, source)),
                Some(stored) if is_current(&stored, &fingerprint) => {
                    plan.recovered.extend(stored.failure.is_some().then_some(stored.id));
                    plan.unchanged.push(source);
                }
                Some(stored) => plan.write.push(rewrite(item, source, fingerprint, stored, defaults)),
            }
        }
        let gone = self.ready.into_values().filter(|stored| !unread.contains(&stored.source));
        let mut gone = Gone::new(gone.collect());
        for (item, fingerprint, source) in new {
            match gone.take(&fingerprint) {
                Some(from) => plan.moved.push(Move { from, item, source }),
                None => {
                    let (change, replaces, known_version) = (Change::Added, None, None);
                    let planned_hash = fingerprint.into_content();
                    plan.write.push(Write { item, source, change, replaces, known_version, planned_hash });
                }
            }
        }
        plan.removed = gone.into_rest();
        plan
    }
}

/// Documents that the source no longer has under their names, to be found by their content.
struct Gone {
    /// Sorted by source; `None` if taken.
    documents: Vec<Option<StoredDocument>>,
    /// Positions by content hash and by source version, which has another form. The last source is first.
    positions: HashMap<String, Vec<usize>>,
}

impl Gone {
    fn new(mut documents: Vec<StoredDocument>) -> Self {
        documents.sort_by(|a, b| a.source.cmp(&b.source));
        let mut positions = HashMap::<String, Vec<usize>>::new();
        for (at, document) in documents.iter().enumerate().rev() {
            for key in [&document.content_hash, &document.source_version].into_iter().flatten() {
                positions.entry(key.clone()).or_default().push(at);
            }
        }
        Self { documents: documents.into_iter().map(Some).collect(), positions }
    }

    /// Takes the first document with this content.
    fn take(&mut self, fingerprint: &Fingerprint) -> Option<StoredDocument> {
        let positions = self.positions.get_mut(fingerprint.version()?)?;
        // A document may have been taken by the other key.
        std::iter::from_fn(|| positions.pop())
            .find_map(|at| self.documents.get_mut(at).and_then(Option::take))
    }

    /// The documents that were not taken, sorted by source.
    fn into_rest(self) -> Vec<StoredDocument> {
        self.documents.into_iter().flatten().collect()
    }
}

impl Write {
    /// True if the document had to be loaded to find out whether it changed, and it did not.
    pub(super) fn matches_stored(&self, content_hash: &str) -> bool {
        let stored = self.replaces.as_ref().and_then(|stored| stored.content_hash.as_deref());
        self.change == Change::Unknown && stored == Some(content_hash)
    }

    /// False if the file changed or was replaced after planning.
    pub(super) fn is_as_planned(&self, content_hash: &str) -> bool {
        self.planned_hash.as_deref().is_none_or(|planned| planned == content_hash)
    }
}

fn rewrite(
    item: Item,
    source: String,
    fingerprint: Fingerprint,
    stored: StoredDocument,
    defaults: &Defaults,
) -> Write {
    let change = match fingerprint {
        Fingerprint::Content(_) => Change::Changed,
        Fingerprint::Version(_) | Fingerprint::Unknown => Change::Unknown,
    };
    let version = stored.source_version.as_deref().and_then(|version| defaults.reported_version(version));
    let known_version = version.map(str::to_owned);
    let planned_hash = fingerprint.into_content();
    Write { item, source, change, replaces: Some(stored), known_version, planned_hash }
}

/// True if a document was made from this content by the same rules. The model of its vectors does not matter:
/// [`crate::reembed`] replaces those of another model.
fn has_content(stored: &StoredDocument, fingerprint: &Fingerprint) -> bool {
    match fingerprint {
        Fingerprint::Content(hash) => stored.content_hash.as_ref() == Some(hash),
        Fingerprint::Version(version) => stored.source_version.as_ref() == Some(version),
        Fingerprint::Unknown => false,
    }
}

impl Plan {
    /// True if the source has any document.
    pub(super) fn has_documents(&self) -> bool {
        !(self.write.is_empty()
            && self.moved.is_empty()
            && self.unchanged.is_empty()
            && self.unreadable.is_empty())
    }

    /// Describes the plan in a line for the progress output.
    pub(super) fn outline(&self) -> String {
        let number_of = |change| self.write.iter().filter(|write| write.change == change).count();
        let numbers = [
            (number_of(Change::Added), "to add"),
            (number_of(Change::Changed), "to change"),
            (number_of(Change::Unknown), "to check"),
            (self.moved.len(), "to move"),
            (self.removed.len(), "to remove"),
            (self.unchanged.len(), "unchanged"),
        ];
        let named: Vec<_> = numbers
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| format!("{number} {what}"))
            .collect();
        if named.is_empty() { "nothing to do".to_owned() } else { named.join(", ") }
    }

    /// Describes each step in a line, as `--dry-run` shows it.
    pub(super) fn lines(&self) -> Vec<String> {
        let write = self.write.iter().map(|write| format!("  {:<8} {}", write.change, write.source));
        write.chain(self.removals_and_moves()).collect()
    }

    /// Describes in a line each document that will no longer exist under its name.
    pub(super) fn removals_and_moves(&self) -> impl Iterator<Item = String> {
        let moved =
            self.moved.iter().map(|step| format!("  move     {} → {}", step.from.source, step.source));
        let removed = self.removed.iter().map(|document| format!("  remove   {}", document.source));
        moved.chain(removed)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Added => "add",
            Self::Changed => "change",
            Self::Unknown => "check",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Location;

    fn item(path: &str) -> Item {
        let location = Location::Stored(path.to_owned());
        Item { path: path.to_owned(), format: None, size: 1, version: None, location }
    }

    fn stored(id: u128, source: &str, hash: &str, status: Status) -> StoredDocument {
        StoredDocument {
            id: Uuid::from_u128(id),
            source: source.to_owned(),
            content_hash: Some(hash.to_owned()),
            source_version: Some(format!("version of {hash}")),
            status,
            enabled: true,
            ..StoredDocument::default()
        }
    }

    fn plan(documents: Vec<StoredDocument>, items: &[(&str, &str)]) -> Plan {
        let items = items.iter().map(|(path, hash)| (item(path), Fingerprint::Content((*hash).to_owned())));
        let kept = HashSet::from(["kb/unreadable.md".to_owned()]);
        Snapshot::new(documents).plan("kb", items.collect(), &kept, &Defaults::default(), false)
    }

    #[test]
    fn a_document_with_the_same_content_is_unchanged() {
        let ready = |id, source, hash| stored(id, source, hash, Status::Ready);
        let documents = vec![ready(1, "kb/a.md", "h1"), ready(2, "kb/b.md", "h2")];
        let plan = plan(documents, &[("a.md", "h1"), ("b.md", "other"), ("n.md", "h4")]);
        assert_eq!(plan.unchanged, ["kb/a.md"]);
        assert_eq!(plan.outline(), "1 to add, 1 to change, 1 unchanged");
        assert_eq!(plan.lines(), ["  change   kb/b.md", "  add      kb/n.md"]);
    }

    #[test]
    fn a_document_without_an_original_is_written_again_if_originals_are_kept() {
        let documents = || vec![stored(1, "kb/a.md", "h1", Status::Ready)];
        let plan = |needs_originals| {
            let items = vec![(item("a.md"), Fingerprint::Content("h1".to_owned()))];
            let (kept, defaults) = (HashSet::new(), Defaults::default());
            Snapshot::new(documents()).plan("kb", items, &kept, &defaults, needs_originals).lines()
        };
        assert_eq!(plan(true), ["  change   kb/a.md"]);
        assert!(plan(false).is_empty());
    }

    #[test]
    fn a_missing_document_is_removed_but_an_unreadable_one_is_kept() {
        let documents = vec![
            stored(1, "kb/a.md", "h1", Status::Ready),
            stored(2, "kb/unreadable.md", "h2", Status::Ready),
        ];
        assert_eq!(plan(documents, &[]).lines(), ["  remove   kb/a.md"]);
    }

    #[test]
    fn a_renamed_document_is_moved_once_even_if_it_was_also_copied() {
        let documents = vec![stored(1, "kb/old.md", "h", Status::Ready)];
        let plan = plan(documents, &[("copy.md", "h"), ("new.md", "h")]);
        assert_eq!(plan.lines(), ["  add      kb/new.md", "  move     kb/old.md → kb/copy.md"]);
    }

    #[test]
    fn the_first_of_several_gone_documents_with_the_same_content_is_moved() {
        let old = |id, source| stored(id, source, "h", Status::Ready);
        let documents = || vec![old(3, "kb/c.md"), old(1, "kb/a.md"), old(2, "kb/b.md")];
        let moved = ["  move     kb/a.md → kb/new.md", "  move     kb/b.md → kb/new2.md"];
        let plan_of = |fingerprint: fn() -> Fingerprint| {
            let items = ["new.md", "new2.md"].map(|path| (item(path), fingerprint()));
            Snapshot::new(documents()).plan("kb", items.into(), &HashSet::new(), &Defaults::default(), false)
        };
        let content = || Fingerprint::Content("h".to_owned());
        let version = || Fingerprint::Version("version of h".to_owned());
        for plan in [plan_of(content), plan_of(version)] {
            assert_eq!(plan.lines(), [moved[0], moved[1], "  remove   kb/c.md"]);
        }
    }

    #[test]
    fn a_copy_next_to_the_original_is_added_and_not_moved() {
        let documents = vec![stored(1, "kb/a.md", "h", Status::Ready)];
        let plan = plan(documents, &[("a.md", "h"), ("copy.md", "h")]);
        assert_eq!((plan.unchanged.len(), plan.lines()), (1, vec!["  add      kb/copy.md".to_owned()]));
    }

    #[test]
    fn unfinished_versions_are_leftovers_and_failed_ones_are_notes() {
        let documents =
            vec![stored(1, "kb/a.md", "h", Status::Pending), stored(2, "kb/a.md", "h", Status::Failed)];
        let snapshot = Snapshot::new(documents);
        assert_eq!((snapshot.leftovers.len(), snapshot.notes.len(), snapshot.len()), (1, 1, 0));
    }

    #[test]
    fn a_version_that_could_not_be_read_is_not_read_again_and_keeps_its_document() {
        let failure = |status| StoredDocument {
            failure: Some("is broken".to_owned()),
            failed_version: Some("h2".to_owned()),
            ..stored(1, "kb/a.md", "h1", status)
        };
        for status in [Status::Ready, Status::Failed] {
            let known = plan(vec![failure(status)], &[("a.md", "h2")]);
            assert_eq!(known.unreadable, [("kb/a.md".to_owned(), "is broken".to_owned())]);
            assert!(known.lines().is_empty(), "{:?}", known.lines());
            assert_eq!(plan(vec![failure(status)], &[("a.md", "h3")]).lines().len(), 1);
        }
        let long_ago = Some("2020-01-01T00:00:00+00:00".to_owned());
        let again = StoredDocument { updated_at: long_ago, ..failure(Status::Ready) };
        assert_eq!(plan(vec![again], &[("a.md", "h2")]).lines(), ["  change   kb/a.md"]);
        let recovered = plan(vec![failure(Status::Ready)], &[("a.md", "h1")]);
        assert_eq!((recovered.unchanged.len(), recovered.recovered), (1, vec![Uuid::from_u128(1)]));
    }

    #[test]
    fn an_item_with_the_stored_version_is_unchanged_and_any_other_is_checked() {
        let documents = || vec![stored(1, "kb/a.md", "h", Status::Ready)];
        let plan = |fingerprint| {
            let items = vec![(item("a.md"), fingerprint)];
            Snapshot::new(documents()).plan("kb", items, &HashSet::new(), &Defaults::default(), false)
        };
        assert_eq!(plan(Fingerprint::Version("version of h".to_owned())).unchanged, ["kb/a.md"]);
        for other in [Fingerprint::Version("x".to_owned()), Fingerprint::Unknown] {
            assert_eq!(plan(other).lines(), ["  check    kb/a.md"]);
        }
    }
}
