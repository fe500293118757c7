//! The result of a run, as text and as JSON.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::knowledge_base::Calibration;
use crate::output::printable;

/// The result of a run.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    pub collection: String,
    /// True if the run was to change nothing.
    pub dry_run: bool,
    #[serde(flatten)]
    pub counts: Counts,
    /// Time in which something was embedded.
    pub embedding_seconds: f64,
    /// Time in which something was written to the knowledge base; it overlaps with `embedding_seconds`.
    pub writing_seconds: f64,
    /// Wall-clock time of the run.
    pub seconds: f64,
    /// The new calibration; `None` if it was not measured again.
    pub calibration: Option<Calibration>,
    /// Why the calibration could not be measured.
    pub calibration_failure: Option<String>,
    /// Why the run ended before everything was done.
    pub stopped: Option<String>,
    /// The steps that a dry run would have done, a line each.
    pub plan: Vec<String>,
    /// Every file, in the order of its result.
    pub documents: Vec<Entry>,
}

/// A file and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The document's key, or the path of a file that has none.
    pub source: String,
    /// Its result.
    #[serde(flatten)]
    pub result: DocumentResult,
}

/// The result of a run for a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum DocumentResult {
    /// New in the knowledge base.
    Added(Written),
    /// Replaced an older version.
    Changed(Written),
    Moved {
        /// Its previous key.
        from: String,
    },
    /// Removed, because it is no longer in the source.
    Removed,
    /// Nothing was written.
    Unchanged,
    Skipped {
        reason: String,
    },
    /// Should have been written and was not.
    Failed {
        reason: String,
    },
}

/// The content that was written for a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Written {
    pub chunks: usize,
    pub sentences: usize,
    /// Remarks for the administrator.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Number of files per outcome, and of chunks and sentences written.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub added: usize,
    pub changed: usize,
    pub moved: usize,
    pub removed: usize,
    pub unchanged: usize,
    pub skipped: usize,
    /// Files that should have been written and were not.
    pub failed: usize,
    pub chunks: usize,
    pub sentences: usize,
    /// Passages that got new vectors because they were edited in the database, had none, or had those of
    /// another model.
    pub reembedded: usize,
}

impl Summary {
    /// The summary of a run that is about to begin.
    pub fn new(collection: &str, dry_run: bool) -> Self {
        Self { collection: collection.to_owned(), dry_run, ..Self::default() }
    }

    /// Adds the result of a file.
    pub(super) fn add(&mut self, entry: Entry) {
        let counts = &mut self.counts;
        if let Some(Written { chunks, sentences, .. }) = entry.result.written() {
            counts.chunks += chunks;
            counts.sentences += sentences;
        }
        let count = match &entry.result {
            DocumentResult::Added(_) => &mut counts.added,
            DocumentResult::Changed(_) => &mut counts.changed,
            DocumentResult::Moved { .. } => &mut counts.moved,
            DocumentResult::Removed => &mut counts.removed,
            DocumentResult::Unchanged => &mut counts.unchanged,
            DocumentResult::Skipped { .. } => &mut counts.skipped,
            DocumentResult::Failed { .. } => &mut counts.failed,
        };
        *count += 1;
        self.documents.push(entry);
    }

    /// True if a file that should have been written was not.
    pub fn has_failures(&self) -> bool {
        self.stopped.is_some() || self.counts.failed > 0
    }

    /// Documents that should have been written and were not.
    pub(super) fn failed_sources(&self) -> impl Iterator<Item = &str> {
        let failed =
            self.documents.iter().filter(|entry| matches!(entry.result, DocumentResult::Failed { .. }));
        failed.map(|entry| entry.source.as_str())
    }

    /// True if passages were written or removed, or documents renamed.
    pub(super) fn has_changes(&self) -> bool {
        let Counts { added, changed, moved, removed, reembedded, .. } = self.counts;
        added + changed + moved + removed + reembedded > 0
    }
}

impl DocumentResult {
    pub(super) fn written(&self) -> Option<&Written> {
        match self {
            Self::Added(written) | Self::Changed(written) => Some(written),
            _ => None,
        }
    }
}

impl Entry {
    /// Formats a line of output; `None` for an unchanged file.
    pub(super) fn line(&self) -> Option<String> {
        let line = match &self.result {
            DocumentResult::Added(written) => format!("added {} {written}", self.source),
            DocumentResult::Changed(written) => format!("changed {} {written}", self.source),
            DocumentResult::Moved { from } => format!("moved {from} to {}", self.source),
            DocumentResult::Removed => format!("removed {}", self.source),
            DocumentResult::Unchanged => return None,
            DocumentResult::Skipped { reason } => format!("skipped {}: {reason}", self.source),
            DocumentResult::Failed { reason } => format!("failed {}: {reason}", self.source),
        };
        Some(printable(&line))
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} chunks, {} sentences)", self.chunks, self.sentences)?;
        if self.notes.is_empty() { Ok(()) } else { write!(f, ": {}", self.notes.join("; ")) }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dry_run {
            return self.fmt_plan(f);
        }
        let counts = self.counts;
        let lines = [
            ("added", counts.added),
            ("changed", counts.changed),
            ("moved", counts.moved),
            ("removed", counts.removed),
            ("unchanged", counts.unchanged),
            ("skipped", counts.skipped),
            ("failed", counts.failed),
            ("chunks", counts.chunks),
            ("sentences", counts.sentences),
            ("re-embedded", counts.reembedded),
        ];
        for (name, number) in lines {
            writeln!(f, "{name:<12}{number:>8}")?;
        }
        writeln!(f, "{:<12}{:>8.1} s", "embedding", self.embedding_seconds)?;
        writeln!(f, "{:<12}{:>8.1} s", "writing", self.writing_seconds)?;
        write!(f, "{:<12}{:>8.1} s", "total", self.seconds)?;
        if let Some(calibration) = &self.calibration {
            write!(f, "\n{calibration}")?;
        }
        let mut reasons = BTreeMap::new();
        for entry in &self.documents {
            if let DocumentResult::Failed { reason } = &entry.result {
                *reasons.entry(reason).or_insert(0) += 1;
            }
        }
        for (reason, number) in reasons.into_iter().filter(|(_, number)| *number > 1) {
            write!(f, "\n{number} documents failed with the same reason: {}", printable(reason))?;
        }
        match &self.stopped {
            Some(reason) => write!(f, "\nstopped: {}", printable(reason)),
            None => Ok(()),
        }
    }
}

impl Summary {
    fn fmt_plan(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.plan {
            writeln!(f, "{}", printable(line))?;
        }
        let Counts { unchanged, skipped, failed, .. } = self.counts;
        let steps = self.plan.len();
        write!(
            f,
            "{steps} to do, {unchanged} unchanged, {skipped} skipped, {failed} cannot be read; nothing was changed"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> Summary {
        let entry = |source: &str, result| Entry { source: source.to_owned(), result };
        let documents = vec![
            entry("a.md", DocumentResult::Added(Written { chunks: 3, sentences: 9, notes: Vec::new() })),
            entry(
                "b.md",
                DocumentResult::Changed(Written { chunks: 2, sentences: 4, notes: vec!["x".to_owned()] }),
            ),
            entry("c.md", DocumentResult::Unchanged),
            entry("d.xyz", DocumentResult::Skipped { reason: "unsupported".to_owned() }),
            entry("e.md", DocumentResult::Moved { from: "f.md".to_owned() }),
            entry("g.md", DocumentResult::Removed),
        ];
        let summary = Summary::new("kb", false);
        let mut summary = Summary { seconds: 1.25, embedding_seconds: 0.75, ..summary };
        documents.into_iter().for_each(|entry| summary.add(entry));
        summary
    }

    #[test]
    fn json_contains_the_counts_and_each_file() {
        let json = serde_json::to_value(summary()).unwrap();
        assert_eq!((&json["collection"], &json["added"]), (&"kb".into(), &1.into()));
        assert_eq!((&json["chunks"], &json["sentences"]), (&5.into(), &13.into()));
        assert_eq!((&json["moved"], &json["removed"]), (&1.into(), &1.into()));
        assert_eq!(json["embedding_seconds"], 0.75);
        assert_eq!(json["documents"][3]["outcome"], "skipped");
        assert_eq!(
            json["documents"][0],
            serde_json::json!({"source": "a.md", "outcome": "added", "chunks": 3, "sentences": 9})
        );
    }

    #[test]
    fn the_text_has_a_line_per_count() {
        let text = summary().to_string();
        assert!(text.contains("added              1\n"), "{text}");
        assert!(text.ends_with("total            1.2 s"), "{text}");
        assert!(!summary().has_failures());
        assert!(Summary { stopped: Some("x".to_owned()), ..summary() }.has_failures());
    }

    #[test]
    fn control_characters_in_a_name_are_escaped() {
        let entry = Entry { source: "a\u{1b}[2J\n.md".to_owned(), result: DocumentResult::Removed };
        assert_eq!(entry.line().unwrap(), "removed a\\u{1b}[2J\\n.md");
    }
}
