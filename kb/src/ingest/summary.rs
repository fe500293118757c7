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
    /// The part of it spent embedding.
    pub embedding_seconds: f64,
    /// The part of it spent writing to the knowledge base.
    pub writing_seconds: f64,
    /// What the vectors written take in the database, without rows and indexes.
    pub vector_bytes: usize,
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
        /// Sentences written.
        sentences: usize,
    },
    /// It replaced an older version.
    Changed {
        /// Passages written.
        chunks: usize,
        /// Sentences written.
        sentences: usize,
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

/// Number of files per outcome, and of chunks and sentences written.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    added: usize,
    changed: usize,
    unchanged: usize,
    skipped: usize,
    failed: usize,
    chunks: usize,
    sentences: usize,
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
                Outcome::Added { chunks, sentences } => {
                    counts.added += 1;
                    counts.chunks += chunks;
                    counts.sentences += sentences;
                }
                Outcome::Changed { chunks, sentences } => {
                    counts.changed += 1;
                    counts.chunks += chunks;
                    counts.sentences += sentences;
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
            Outcome::Added { chunks, sentences } => {
                Some(format!("added {source} ({chunks} chunks, {sentences} sentences)"))
            }
            Outcome::Changed { chunks, sentences } => {
                Some(format!("changed {source} ({chunks} chunks, {sentences} sentences)"))
            }
            Outcome::Unchanged => None,
            Outcome::Skipped { reason } => Some(format!("skipped {source}: {reason}")),
            Outcome::Failed { reason } => Some(format!("failed {source}: {reason}")),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { added, changed, unchanged, skipped, failed, chunks, sentences } = self.counts();
        writeln!(f, "added     {added:>8}")?;
        writeln!(f, "changed   {changed:>8}")?;
        writeln!(f, "unchanged {unchanged:>8}")?;
        writeln!(f, "skipped   {skipped:>8}")?;
        writeln!(f, "failed    {failed:>8}")?;
        writeln!(f, "chunks    {chunks:>8}")?;
        writeln!(f, "sentences {sentences:>8}")?;
        writeln!(f, "vectors   {:>8.1} kB", self.vector_bytes as f64 / 1000.0)?;
        writeln!(f, "embedding {:>8.1} s", self.embedding_seconds)?;
        writeln!(f, "writing   {:>8.1} s", self.writing_seconds)?;
        write!(f, "in all    {:>8.1} s", self.seconds)
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Counts { added, changed, unchanged, skipped, failed, chunks, sentences } = self.counts();
        let mut object = serializer.serialize_struct("Summary", 12)?;
        object.serialize_field("added", &added)?;
        object.serialize_field("changed", &changed)?;
        object.serialize_field("unchanged", &unchanged)?;
        object.serialize_field("skipped", &skipped)?;
        object.serialize_field("failed", &failed)?;
        object.serialize_field("chunks", &chunks)?;
        object.serialize_field("sentences", &sentences)?;
        object.serialize_field("vector_bytes", &self.vector_bytes)?;
        object.serialize_field("embedding_seconds", &self.embedding_seconds)?;
        object.serialize_field("writing_seconds", &self.writing_seconds)?;
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
            entry("a.md", Outcome::Added { chunks: 3, sentences: 9 }),
            entry("b.md", Outcome::Changed { chunks: 2, sentences: 4 }),
            entry("c.md", Outcome::Unchanged),
            entry("d.pdf", Outcome::Skipped { reason: "unsupported".to_owned() }),
        ];
        Summary {
            documents,
            seconds: 1.25,
            embedding_seconds: 0.75,
            writing_seconds: 0.25,
            vector_bytes: 17_960,
        }
    }

    #[test]
    fn json_has_the_counts_and_each_file() {
        let json = serde_json::to_value(summary()).unwrap();
        assert_eq!(json["added"], 1);
        assert_eq!((&json["chunks"], &json["sentences"]), (&5.into(), &13.into()));
        assert_eq!(json["vector_bytes"], 17_960);
        assert_eq!((&json["embedding_seconds"], &json["writing_seconds"]), (&0.75.into(), &0.25.into()));
        assert_eq!(json["documents"][3]["outcome"], "skipped");
        assert_eq!(
            json["documents"][0],
            serde_json::json!({"source": "a.md", "outcome": "added", "chunks": 3, "sentences": 9})
        );
    }

    #[test]
    fn the_table_has_a_line_per_count() {
        let text = summary().to_string();
        assert!(text.contains("added            1\n"), "{text}");
        assert!(text.contains("sentences       13\nvectors       18.0 kB\n"), "{text}");
        assert!(text.ends_with("in all         1.2 s"), "{text}");
        assert!(!summary().has_failures());
    }
}
