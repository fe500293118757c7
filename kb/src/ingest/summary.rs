//! What a run did, for people and for scripts.

use std::fmt;

use serde::{Serialize, Serializer, ser::SerializeStruct};

/// The result of a run.
#[derive(Debug, Default)]
pub struct Summary {
    /// Every file looked at, in the order it was settled.
    pub documents: Vec<Entry>,
    /// Wall time.
    pub seconds: f64,
}

/// One file and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The document's key, or the path of a file that has none.
    pub source: String,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// It is new in the knowledge base.
    Added {
        /// Passages written.
        chunks: usize,
    },
    /// It replaced an older version.
    Changed {
        /// Passages written.
        chunks: usize,
    },
    /// Nothing was written.
    Unchanged,
    /// It is not a document.
    Skipped {
        /// Why.
        reason: String,
    },
    /// It should have been written and was not.
    Failed {
        /// Why.
        reason: String,
    },
}

/// Number of files per outcome, and of chunks written.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    added: usize,
    changed: usize,
    unchanged: usize,
    skipped: usize,
    failed: usize,
    chunks: usize,
}

impl Summary {
    /// True if a file that should have been written was not.
    pub fn has_failures(&self) -> bool {
        self.counts().failed > 0
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for entry in &self.documents {
            match entry.outcome {
                Outcome::Added { chunks } => {
                    counts.added += 1;
                    counts.chunks += chunks;
                }
                Outcome::Changed { chunks } => {
                    counts.changed += 1;
                    counts.chunks += chunks;
                }
                Outcome::Unchanged => counts.unchanged += 1,
                Outcome::Skipped { .. } => counts.skipped += 1,
                Outcome::Failed { .. } => counts.failed += 1,
            }
        }
        counts
    }
}

impl Entry {
    /// For people following the run; nothing for a file that stays as it is.
    pub(super) fn line(&self) -> Option<String> {
        let source = &self.source;
        match &self.outcome {
            Outcome::Added { chunks } => Some(format!("added {source} ({chunks} chunks)")),
            Outcome::Changed { chunks } => Some(format!("changed {source} ({chunks} chunks)")),
            Outcome::Unchanged => None,
            Outcome::Skipped { reason } => Some(format!("skipped {source}: {reason}")),
            Outcome::Failed { reason } => Some(format!("failed {source}: {reason}")),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { added, changed, unchanged, skipped, failed, chunks } = self.counts();
        writeln!(f, "added     {added:>8}")?;
        writeln!(f, "changed   {changed:>8}")?;
        writeln!(f, "unchanged {unchanged:>8}")?;
        writeln!(f, "skipped   {skipped:>8}")?;
        writeln!(f, "failed    {failed:>8}")?;
        writeln!(f, "chunks    {chunks:>8}")?;
        write!(f, "seconds   {:>8.1}", self.seconds)
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Counts { added, changed, unchanged, skipped, failed, chunks } = self.counts();
        let mut object = serializer.serialize_struct("Summary", 8)?;
        object.serialize_field("added", &added)?;
        object.serialize_field("changed", &changed)?;
        object.serialize_field("unchanged", &unchanged)?;
        object.serialize_field("skipped", &skipped)?;
        object.serialize_field("failed", &failed)?;
        object.serialize_field("chunks", &chunks)?;
        object.serialize_field("seconds", &self.seconds)?;
        object.serialize_field("documents", &self.documents)?;
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> Summary {
        let entry = |source: &str, outcome| Entry { source: source.to_owned(), outcome };
        let documents = vec![
            entry("a.md", Outcome::Added { chunks: 3 }),
            entry("b.md", Outcome::Changed { chunks: 2 }),
            entry("c.md", Outcome::Unchanged),
            entry("d.pdf", Outcome::Skipped { reason: "unsupported".to_owned() }),
        ];
        Summary { documents, seconds: 1.25 }
    }

    #[test]
    fn json_has_the_counts_and_each_file() {
        let json = serde_json::to_value(summary()).unwrap();
        assert_eq!(json["added"], 1);
        assert_eq!(json["chunks"], 5);
        assert_eq!(json["documents"][3]["outcome"], "skipped");
        assert_eq!(
            json["documents"][0],
            serde_json::json!({"source": "a.md", "outcome": "added", "chunks": 3})
        );
    }

    #[test]
    fn the_table_has_a_line_per_count() {
        let text = summary().to_string();
        assert!(text.contains("added            1\n"), "{text}");
        assert!(text.ends_with("seconds        1.2"), "{text}");
        assert!(!summary().has_failures());
    }
}
