//! What has to be done, from what is there.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use super::Outcome;
use crate::document::Document;
use crate::knowledge_base::{KnowledgeBase, Status, StoredDocument};
use crate::rest::RestError;

/// The knowledge base as it was when the run began.
pub(super) struct Snapshot {
    ready: HashMap<String, StoredDocument>,
    pending: HashMap<String, Vec<Uuid>>,
    other_model: HashSet<Uuid>,
}

/// Why a document has to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Added,
    Changed,
}

impl Snapshot {
    pub(super) async fn take(knowledge_base: &KnowledgeBase, model: &str) -> Result<Self, RestError> {
        let documents = knowledge_base.documents().await?;
        Ok(Self::new(documents, knowledge_base.documents_of_other_models(model).await?))
    }

    fn new(documents: Vec<StoredDocument>, other_model: HashSet<Uuid>) -> Self {
        let mut snapshot = Self { ready: HashMap::new(), pending: HashMap::new(), other_model };
        for document in documents {
            match document.status {
                Status::Ready => {
                    snapshot.ready.insert(document.source.clone(), document);
                }
                Status::Pending => snapshot.pending.entry(document.source).or_default().push(document.id),
                Status::Failed => {}
            }
        }
        snapshot
    }

    /// `None` if the knowledge base has this very content in this language, embedded with the present model.
    pub(super) fn change(&self, document: &Document) -> Option<Change> {
        match self.ready.get(&document.file.source) {
            None => Some(Change::Added),
            Some(stored)
                if stored.content_hash.as_deref() == Some(document.content_hash.as_str())
                    && !self.other_model.contains(&stored.id) =>
            {
                None
            }
            Some(_) => Some(Change::Changed),
        }
    }

    /// Unfinished versions that earlier runs left behind.
    pub(super) fn leftovers_of(&self, document: &Document) -> impl Iterator<Item = Uuid> {
        self.pending.get(&document.file.source).into_iter().flatten().copied()
    }
}

impl Change {
    pub(super) fn done(self, chunks: usize, sentences: usize) -> Outcome {
        match self {
            Self::Added => Outcome::Added { chunks, sentences },
            Self::Changed => Outcome::Changed { chunks, sentences },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Format;
    use crate::files::SourceFile;

    fn document(source: &str, hash: &str) -> Document {
        let file = SourceFile { path: source.into(), source: source.to_owned(), format: Format::Markdown };
        let (text, language) = ("text".to_owned(), "english".to_owned());
        Document { file, text, language, content_hash: hash.to_owned() }
    }

    fn stored(id: u128, source: &str, hash: &str, status: Status) -> StoredDocument {
        let content_hash = Some(hash.to_owned());
        StoredDocument { id: Uuid::from_u128(id), source: source.to_owned(), content_hash, status }
    }

    #[test]
    fn only_the_same_content_with_the_same_model_is_unchanged() {
        let documents = vec![stored(1, "a.md", "h1", Status::Ready), stored(2, "b.md", "h2", Status::Ready)];
        let snapshot = Snapshot::new(documents, HashSet::from([Uuid::from_u128(2)]));
        assert_eq!(snapshot.change(&document("a.md", "h1")), None);
        assert_eq!(snapshot.change(&document("a.md", "other")), Some(Change::Changed));
        assert_eq!(snapshot.change(&document("b.md", "h2")), Some(Change::Changed));
        assert_eq!(snapshot.change(&document("c.md", "h1")), Some(Change::Added));
    }

    #[test]
    fn unfinished_versions_are_leftovers_and_do_not_count_as_present() {
        let documents = vec![
            stored(1, "a.md", "h1", Status::Pending),
            stored(2, "a.md", "h1", Status::Pending),
            stored(3, "b.md", "h1", Status::Pending),
        ];
        let snapshot = Snapshot::new(documents, HashSet::new());
        let a = document("a.md", "h1");
        assert_eq!(snapshot.change(&a), Some(Change::Added));
        assert_eq!(snapshot.leftovers_of(&a).collect::<Vec<_>>(), [Uuid::from_u128(1), Uuid::from_u128(2)]);
    }
}
