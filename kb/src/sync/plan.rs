//! What has to be done to make a collection equal to its source.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::fingerprint::{Defaults, Fingerprint};
use crate::knowledge_base::{Status, StoredDocument};
use crate::source::Item;

/// A collection as it was when the run began.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    ready: HashMap<String, StoredDocument>,
    /// Documents that are not ready: unfinished versions of runs that were stopped, and notes of failures.
    pub(super) leftovers: Vec<StoredDocument>,
}

/// The steps, in the order of the source.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) write: Vec<Write>,
    pub(super) moved: Vec<Move>,
    pub(super) removed: Vec<StoredDocument>,
    pub(super) unchanged: Vec<String>,
}

/// A document to be read and written.
#[derive(Debug, Clone)]
pub(super) struct Write {
    /// Where it is.
    pub(super) item: Item,
    /// Its key within the knowledge base.
    pub(super) source: String,
    /// Why.
    pub(super) change: Change,
    /// What it replaces.
    pub(super) replaces: Option<StoredDocument>,
    /// The version whose content is there, as its source gave it.
    pub(super) known_version: Option<String>,
    /// The hash that its content had when this was planned, where it was read for that.
    pub(super) planned_hash: Option<String>,
}

/// Why a document has to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// It is new.
    Added,
    /// Its content or what decides what becomes of it is another.
    Changed,
    /// Only its content will tell.
    Unknown,
}

/// A document that only has another name.
#[derive(Debug, Clone)]
pub(super) struct Move {
    pub(super) from: StoredDocument,
    pub(super) item: Item,
    pub(super) source: String,
}

impl Snapshot {
    pub(super) fn new(documents: Vec<StoredDocument>) -> Self {
        let (ready, leftovers): (Vec<_>, Vec<_>) =
            documents.into_iter().partition(|document| document.status == Status::Ready);
        let ready = ready.into_iter().map(|document| (document.source.clone(), document)).collect();
        Self { ready, leftovers }
    }

    /// Number of documents that people may see.
    pub(super) fn len(&self) -> usize {
        self.ready.len()
    }

    /// `items` with what tells about their content. What is not among them, nor `kept` because it is there and
    /// cannot be read, is to be removed. With `needs_originals`, a document without one is written again.
    pub(super) fn plan(
        mut self,
        collection: &str,
        items: Vec<(Item, Fingerprint)>,
        kept: &HashSet<String>,
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
            match self.ready.remove(&source) {
                None => new.push((item, fingerprint, source)),
                Some(stored) if is_current(&stored, &fingerprint) => plan.unchanged.push(source),
                Some(stored) => plan.write.push(rewrite(item, source, fingerprint, stored, defaults)),
            }
        }
        let gone = self.ready.into_values().filter(|stored| !kept.contains(&stored.source));
        let mut gone: Vec<StoredDocument> = gone.collect();
        gone.sort_by(|a, b| a.source.cmp(&b.source));
        for (item, fingerprint, source) in new {
            match gone.iter().position(|stored| has_content(stored, &fingerprint)) {
                Some(at) => plan.moved.push(Move { from: gone.remove(at), item, source }),
                None => {
                    let (change, replaces, known_version) = (Change::Added, None, None);
                    let planned_hash = fingerprint.into_content();
                    plan.write.push(Write { item, source, change, replaces, known_version, planned_hash });
                }
            }
        }
        plan.removed = gone;
        plan
    }
}

impl Write {
    /// True if only the content could tell whether it has changed, and it has not.
    pub(super) fn turns_out_to_be(&self, content_hash: &str) -> bool {
        let stored = self.replaces.as_ref().and_then(|stored| stored.content_hash.as_deref());
        self.change == Change::Unknown && stored == Some(content_hash)
    }

    /// False if this is not the content that was planned for: the file has changed since, or another is in its place.
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
    let version = stored.source_version.as_deref().and_then(|version| defaults.version_of(version));
    let known_version = version.map(str::to_owned);
    let planned_hash = fingerprint.into_content();
    Write { item, source, change, replaces: Some(stored), known_version, planned_hash }
}

/// True if a document was made of this very content by the same rules; of whatever model its vectors are, which
/// [`crate::reembed`] fixes.
fn has_content(stored: &StoredDocument, fingerprint: &Fingerprint) -> bool {
    match fingerprint {
        Fingerprint::Content(hash) => stored.content_hash.as_ref() == Some(hash),
        Fingerprint::Version(version) => stored.source_version.as_ref() == Some(version),
        Fingerprint::Unknown => false,
    }
}

impl Plan {
    /// True if the source has anything to offer.
    pub(super) fn has_documents(&self) -> bool {
        !(self.write.is_empty() && self.moved.is_empty() && self.unchanged.is_empty())
    }

    /// True if a document is new to the knowledge base.
    pub(super) fn adds(&self) -> bool {
        self.write.iter().any(|write| write.change == Change::Added)
    }

    /// One line for people who wait.
    pub(super) fn outline(&self) -> String {
        let number_of = |change| self.write.iter().filter(|write| write.change == change).count();
        let numbers = [
            (number_of(Change::Added), "to add"),
            (number_of(Change::Changed), "to change"),
            (number_of(Change::Unknown), "to look at"),
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

    /// A line for each step, as `--dry-run` shows it.
    pub(super) fn lines(&self) -> Vec<String> {
        let write = self.write.iter().map(|write| format!("  {:<8} {}", write.change, write.source));
        write.chain(self.departures()).collect()
    }

    /// A line for each document that will not be found under its name any more.
    pub(super) fn departures(&self) -> impl Iterator<Item = String> {
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
            Self::Unknown => "look at",
        })
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

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
            storage_path: None,
            enabled: true,
            audience: None,
            stated: None,
        }
    }

    fn plan(documents: Vec<StoredDocument>, items: &[(&str, &str)]) -> Plan {
        let items = items.iter().map(|(path, hash)| (item(path), Fingerprint::Content((*hash).to_owned())));
        let kept = HashSet::from(["kb/unreadable.md".to_owned()]);
        Snapshot::new(documents).plan("kb", items.collect(), &kept, &Defaults::default(), false)
    }

    #[test]
    fn only_the_same_content_is_unchanged() {
        let ready = |id, source, hash| stored(id, source, hash, Status::Ready);
        let documents = vec![ready(1, "kb/a.md", "h1"), ready(2, "kb/b.md", "h2")];
        let plan = plan(documents, &[("a.md", "h1"), ("b.md", "other"), ("n.md", "h4")]);
        assert_eq!(plan.unchanged, ["kb/a.md"]);
        assert_eq!(plan.outline(), "1 to add, 1 to change, 1 unchanged");
        assert_eq!(plan.lines(), ["  change   kb/b.md", "  add      kb/n.md"]);
    }

    #[test]
    fn a_document_without_an_original_gets_one_if_it_is_to_have_one() {
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
    fn what_is_gone_is_removed_unless_it_only_cannot_be_read() {
        let documents = vec![
            stored(1, "kb/a.md", "h1", Status::Ready),
            stored(2, "kb/unreadable.md", "h2", Status::Ready),
        ];
        assert_eq!(plan(documents, &[]).lines(), ["  remove   kb/a.md"]);
    }

    #[test]
    fn the_same_content_under_another_name_is_moved_once() {
        let documents = vec![stored(1, "kb/old.md", "h", Status::Ready)];
        let plan = plan(documents, &[("copy.md", "h"), ("new.md", "h")]);
        assert_eq!(plan.lines(), ["  add      kb/new.md", "  move     kb/old.md → kb/copy.md"]);
    }

    #[test]
    fn a_copy_beside_the_original_is_no_move() {
        let documents = vec![stored(1, "kb/a.md", "h", Status::Ready)];
        let plan = plan(documents, &[("a.md", "h"), ("copy.md", "h")]);
        assert_eq!((plan.unchanged.len(), plan.lines()), (1, vec!["  add      kb/copy.md".to_owned()]));
    }

    #[test]
    fn unfinished_versions_do_not_count_as_present() {
        let documents =
            vec![stored(1, "kb/a.md", "h", Status::Pending), stored(2, "kb/a.md", "h", Status::Failed)];
        let snapshot = Snapshot::new(documents);
        assert_eq!((snapshot.leftovers.len(), snapshot.len()), (2, 0));
    }

    #[test]
    fn a_source_that_gives_versions_is_known_by_them_and_else_looked_at() {
        let documents = || vec![stored(1, "kb/a.md", "h", Status::Ready)];
        let plan = |fingerprint| {
            let items = vec![(item("a.md"), fingerprint)];
            Snapshot::new(documents()).plan("kb", items, &HashSet::new(), &Defaults::default(), false)
        };
        assert_eq!(plan(Fingerprint::Version("version of h".to_owned())).unchanged, ["kb/a.md"]);
        for other in [Fingerprint::Version("x".to_owned()), Fingerprint::Unknown] {
            assert_eq!(plan(other).lines(), ["  look at  kb/a.md"]);
        }
    }
}
