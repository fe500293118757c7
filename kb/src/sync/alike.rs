//! Pages that have one text now and had different ones before. A site in trouble shows its notice or its sign-in at each address: such
//! pages are left as they are.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::mpsc::{Receiver, SyncSender};

use super::prepare::{Outcome, Prepared, failed};
use crate::source::Location;

/// Pages with one text that are suspicious; two may be a page and its copy.
const MANY: usize = 3;

/// Pages that wait for others with their text, and the bytes of their texts. Pages come in no particular order: a notice at a tenth of
/// the addresses is noticed before the first of its pages has waited long enough.
const MAX_WAITING: usize = 200;
const MAX_WAITING_BYTES: usize = 8 * 1024 * 1024;

const REASON: &str = "has the same text now as other pages that had different ones, as when a site is in trouble or asks for a sign-in; \
    its former text stays. If the new one is right, delete these documents with `kb remove` and run this again";

/// Passes documents on. A page that would replace another text waits until it is known whether many others get the same.
pub(super) fn refuse_alike(
    prepared: &Receiver<Outcome<Box<Prepared>>>,
    sender: &SyncSender<Outcome<Box<Prepared>>>,
) {
    let (mut waiting, mut bytes) = (VecDeque::<Box<Prepared>>::new(), 0);
    let mut former = HashMap::<String, HashSet<String>>::new();
    for outcome in prepared.iter().map(Some).chain([None]) {
        let is_over = outcome.is_none();
        let mut next = Vec::new();
        match outcome {
            Some(Ok(mut document)) if replaced_text(&document).is_some() => {
                former
                    .entry(text_of(&document.document.written_hash))
                    .or_default()
                    .extend(replaced_text(&document));
                // Others must be loaded while it waits.
                document.memory = None;
                bytes += document.read.text.len();
                waiting.push_back(document);
            }
            other => next.extend(other),
        }
        while is_over || waiting.len() > MAX_WAITING || bytes > MAX_WAITING_BYTES {
            let Some(document) = waiting.pop_front() else { break };
            bytes -= document.read.text.len();
            let is_suspicious = former
                .get(&text_of(&document.document.written_hash))
                .is_some_and(|former| former.len() >= MANY);
            next.push(match is_suspicious {
                true => Err(failed(document.write, REASON.to_owned(), None)),
                false => Ok(document),
            });
        }
        if next.into_iter().any(|outcome| sender.send(outcome).is_err()) {
            return;
        }
    }
}

/// The hash of the text that a page would replace.
fn replaced_text(document: &Prepared) -> Option<String> {
    let stored = document.write.replaces.as_ref()?.written_hash.as_deref()?;
    matches!(document.write.item.location, Location::Page(_)).then(|| text_of(stored))
}

/// The hash of the text alone, with which the hash of all that was written begins.
fn text_of(written_hash: &str) -> String {
    written_hash.split(' ').next().unwrap_or_default().to_owned()
}
