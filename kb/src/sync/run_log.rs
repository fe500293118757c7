//! The results of a run so far.

use super::batch::Part;
use super::plan::Change;
use super::summary::{DocumentResult, Entry, Summary, Written};
use crate::progress::Progress;

/// Collects the results of a run, and prints each as it comes.
pub(super) struct RunLog<'a> {
    pub(super) summary: Summary,
    pub(super) progress: &'a Progress,
}

impl<'a> RunLog<'a> {
    pub(super) fn new(summary: Summary, progress: &'a Progress) -> Self {
        Self { summary, progress }
    }

    pub(super) fn record(&mut self, source: &str, result: DocumentResult) {
        let entry = Entry { source: source.to_owned(), result };
        if let Some(line) = entry.line() {
            match entry.result {
                DocumentResult::Skipped { .. } | DocumentResult::Failed { .. } => self.progress.state(&line),
                _ => self.progress.line(&line),
            }
        }
        // Removals come between documents that are written, and are not among those that the progress counts.
        if entry.result != DocumentResult::Removed {
            self.progress.advance(1);
        }
        self.summary.add(entry);
    }

    /// Records a document that was written and published; `part` is its last.
    pub(super) fn record_written(&mut self, part: &Part, restricted_like: Option<String>) {
        let document = &part.document;
        let chunks = document.passages.len();
        let sentences = document.passages.iter().map(|passage| passage.statements.len()).sum();
        let mut notes = document.read.notes.clone();
        notes.extend(restricted_like.map(|other| {
            format!("is hidden or restricted like {other}, because it has mostly the same text; `kb enable` shows what is hidden")
        }));
        let written = Written { chunks, sentences, notes };
        let result = match (document.write.change, &document.write.replaces) {
            (Change::Added, _) | (_, None) => DocumentResult::Added(written),
            _ => DocumentResult::Changed(written),
        };
        self.record(&document.write.source, result);
    }
}
