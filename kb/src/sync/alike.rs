//! Pages that have one text now and had different ones before. A site in trouble shows its notice or its sign-in at each address: such
//! pages are left as they are.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::mpsc::{Receiver, SyncSender};

use super::prepare::{Prepared, PreparedOrSettled, failed};
use crate::knowledge_base::StoredDocument;
use crate::source::Location;

/// Pages with one text that are suspicious; two may be a page and its copy.
const MANY: usize = 3;

/// Pages that wait for others with their text, and the bytes of their texts. Pages come in no particular order: a notice at a tenth of
/// the addresses is noticed before the first of its pages has waited long enough.
const MAX_WAITING: usize = 200;
const MAX_WAITING_BYTES: usize = 8 * 1024 * 1024;

const REASON: &str = "has the same text now as other pages that had different ones, as when a site is in trouble or asks for a sign-in; \
    its former text stays. If the new one is right, delete these documents with `kb remove` and run this again";

/// Passes documents on. A page that would replace another text waits, until it is known whether many others get the same.
pub(super) fn refuse_alike(prepared: &Receiver<PreparedOrSettled>, sender: &SyncSender<PreparedOrSettled>) {
    let mut pages = Pages::default();
    for outcome in prepared {
        let passed = match outcome {
            PreparedOrSettled::Prepared(document) => pages.push(document),
            settled => Some(settled),
        };
        let next = passed.into_iter().chain(std::iter::from_fn(|| pages.next_of_too_many()));
        if next.map(|outcome| sender.send(outcome)).any(|sent| sent.is_err()) {
            return;
        }
    }
    while let Some(outcome) = pages.next() {
        if sender.send(outcome).is_err() {
            return;
        }
    }
}

#[derive(Default)]
struct Pages {
    waiting: VecDeque<(u64, Box<Prepared>)>,
    bytes: usize,
    /// By text, what identifies the former texts of its pages.
    former: HashMap<u64, HashSet<String>>,
}

impl Pages {
    /// Returns a document that need not wait.
    fn push(&mut self, mut document: Box<Prepared>) -> Option<PreparedOrSettled> {
        let is_page = matches!(document.write.item.location, Location::Page(_));
        let stored = document.write.replaces.as_ref().filter(|_| is_page);
        let Some(former) = stored.and_then(former_text) else {
            return Some(PreparedOrSettled::Prepared(document));
        };
        let mut text = DefaultHasher::new();
        document.read.text.hash(&mut text);
        let text = text.finish();
        self.former.entry(text).or_default().insert(former);
        // Others must be loaded while it waits.
        document.memory = None;
        self.bytes += document.read.text.len();
        self.waiting.push_back((text, document));
        None
    }

    fn next_of_too_many(&mut self) -> Option<PreparedOrSettled> {
        let are_too_many = self.waiting.len() > MAX_WAITING || self.bytes > MAX_WAITING_BYTES;
        if are_too_many { self.next() } else { None }
    }

    fn next(&mut self) -> Option<PreparedOrSettled> {
        let (text, document) = self.waiting.pop_front()?;
        self.bytes -= document.read.text.len();
        let is_suspicious = self.former.get(&text).is_some_and(|former| former.len() >= MANY);
        Some(match is_suspicious {
            true => failed(document.write, REASON.to_owned()),
            false => PreparedOrSettled::Prepared(document),
        })
    }
}

/// What identifies the text of a stored document.
fn former_text(stored: &StoredDocument) -> Option<String> {
    stored.content_hash.clone()
}
