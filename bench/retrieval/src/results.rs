//! The search results for the questions of a set, and their file.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use chat_core::Reading;
use chat_core::chunk::MatchedChunk;
use chat_core::evidence::{Background, EvidenceThresholds};
use serde::{Deserialize, Serialize};

use crate::dataset::TurnKind;

/// The results for each kind of question of one set.
pub(crate) struct Results {
    /// The name of the set.
    pub(crate) set: String,
    pub(crate) answerable: Vec<Found>,
    pub(crate) near: Vec<Found>,
    pub(crate) off_topic: Vec<Found>,
    /// The second questions of labelled dialogues.
    pub(crate) dialogues: Vec<Found>,
}

/// The result for one question.
#[derive(Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) question: String,
    /// File names of the documents that answer it; empty if it is unanswerable.
    pub(crate) documents: Vec<String>,
    /// Accepted answers.
    pub(crate) answers: Vec<String>,
    /// The rows of `match_chunks`, by vectors and words.
    pub(crate) rows: Vec<MatchedChunk>,
    /// The rows of a search by passage vectors alone.
    pub(crate) plain_rows: Vec<MatchedChunk>,
    /// The calibration of the knowledge base.
    pub(crate) background: Background,
    /// What the reader says of them; `None` if they were not read.
    #[serde(default)]
    pub(crate) reading: Option<Reading>,
    /// The question as the second one of a dialogue.
    pub(crate) turn: Option<FoundInTurn>,
}

/// The result for the second question of a dialogue.
#[derive(Serialize, Deserialize)]
pub(crate) struct FoundInTurn {
    /// The first question.
    pub(crate) previous: String,
    pub(crate) kind: TurnKind,
    /// The rows for both questions together.
    pub(crate) joined_rows: Vec<MatchedChunk>,
    /// A follow-up in words that need no question before it, and the rows for it.
    pub(crate) rewrite: Option<(String, Vec<MatchedChunk>)>,
    /// What the reader says of the passages with which the question is answered after the first one.
    #[serde(default)]
    pub(crate) reading: Option<Reading>,
    /// What it says of those for the rewritten question.
    #[serde(default)]
    pub(crate) rewrite_reading: Option<Reading>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Answerable,
    Near,
    OffTopic,
    Dialogue,
}

#[derive(Serialize)]
struct LineToWrite<'a> {
    set: &'a str,
    kind: Kind,
    #[serde(flatten)]
    found: &'a Found,
}

#[derive(Deserialize)]
struct Line {
    set: String,
    kind: Kind,
    #[serde(flatten)]
    found: Found,
}

impl Found {
    /// The default thresholds of the knowledge base.
    pub(crate) fn thresholds(&self) -> EvidenceThresholds {
        EvidenceThresholds { background: self.background, ..EvidenceThresholds::default() }
    }

    /// Thresholds that answer every question, to see what would be quoted.
    pub(crate) fn open_thresholds(&self) -> EvidenceThresholds {
        EvidenceThresholds { similarity: -1.0, confidence: 0.0, ..self.thresholds() }
    }

    /// Whether the row is of a document that answers the question.
    pub(crate) fn is_gold(&self, row: &MatchedChunk) -> bool {
        row.document_name.as_ref().is_some_and(|name| self.documents.contains(name))
    }
}

impl Results {
    /// Forgets what the reader said.
    pub(crate) fn take_readings(&mut self) {
        let Self { set: _, answerable, near, off_topic, dialogues } = self;
        for found in [answerable, near, off_topic, dialogues].into_iter().flatten() {
            found.reading = None;
            if let Some(turn) = &mut found.turn {
                (turn.reading, turn.rewrite_reading) = (None, None);
            }
        }
    }

    /// Writes a line of JSON for each question of some sets.
    pub(crate) fn write_all(sets: &[Self], file: &Path) -> Result<()> {
        let write = || -> Result<()> {
            let mut lines = BufWriter::new(File::create(file)?);
            for (set, kind, found) in sets.iter().flat_map(Self::lines) {
                serde_json::to_writer(&mut lines, &LineToWrite { set, kind, found })?;
                lines.write_all(b"\n")?;
            }
            Ok(lines.flush()?)
        };
        write().with_context(|| format!("cannot write {}", file.display()))
    }

    fn lines(&self) -> impl Iterator<Item = (&str, Kind, &Found)> {
        let kinds = [
            (Kind::Answerable, &self.answerable),
            (Kind::Near, &self.near),
            (Kind::OffTopic, &self.off_topic),
            (Kind::Dialogue, &self.dialogues),
        ];
        kinds
            .into_iter()
            .flat_map(move |(kind, all)| all.iter().map(move |found| (self.set.as_str(), kind, found)))
    }

    /// The sets of a file, in order of appearance.
    pub(crate) fn read(file: &Path) -> Result<Vec<Self>> {
        let lines = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
        let mut sets: Vec<Self> = Vec::new();
        for (number, line) in BufReader::new(lines).lines().enumerate() {
            let Line { set, kind, found } = serde_json::from_str(&line?)
                .with_context(|| format!("{}, line {}", file.display(), number + 1))?;
            if sets.last().is_none_or(|last| last.set != set) {
                ensure!(sets.iter().all(|other| other.set != set), "{}: {set} occurs twice", file.display());
                sets.push(Self {
                    set,
                    answerable: Vec::new(),
                    near: Vec::new(),
                    off_topic: Vec::new(),
                    dialogues: Vec::new(),
                });
            }
            if let Some(results) = sets.last_mut() {
                let of_kind = match kind {
                    Kind::Answerable => &mut results.answerable,
                    Kind::Near => &mut results.near,
                    Kind::OffTopic => &mut results.off_topic,
                    Kind::Dialogue => &mut results.dialogues,
                };
                of_kind.push(found);
            }
        }
        Ok(sets)
    }

    /// All sets of several files.
    pub(crate) fn read_all(files: &[impl AsRef<Path>]) -> Result<Vec<Self>> {
        let sets = files.iter().map(|file| Self::read(file.as_ref())).collect::<Result<Vec<_>>>()?;
        Ok(sets.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn results_survive_writing_and_reading() {
        let row = json!({
            "chunk_id": uuid::Uuid::nil(), "document_id": uuid::Uuid::nil(), "document_name": "0.md",
            "document_meta": {}, "content": "Yes.", "meta": {"section": "Fees"}, "similarity": 0.1, "lexical": null,
            "score": 0.2, "sentences": [{"start": 0, "end": 4, "similarity": 0.3, "kind": "sentence"}],
            "query_terms": [{"word": "why", "weight": 1.5}],
        });
        let found = |question: &str| Found {
            background: Background::default(),
            question: question.to_owned(),
            documents: vec!["0.md".to_owned()],
            answers: vec!["Yes".to_owned()],
            rows: vec![serde_json::from_value(row.clone()).unwrap()],
            plain_rows: Vec::new(),
            reading: None,
            turn: None,
        };
        let set = |name: &str| Results {
            set: name.to_owned(),
            answerable: vec![found("Why?"), found("How?")],
            near: Vec::new(),
            off_topic: vec![found("Who?")],
            dialogues: Vec::new(),
        };
        let file = std::env::temp_dir().join(format!("bench-retrieval-{}.jsonl", std::process::id()));
        let (first, second) = (set("shop"), set("faq"));
        let written = [first, second];
        Results::write_all(&written, &file).unwrap();
        let sets = Results::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(sets.iter().map(|set| set.set.as_str()).collect::<Vec<_>>(), ["shop", "faq"]);
        for set in sets {
            assert_eq!((set.answerable.len(), set.near.len(), set.off_topic.len()), (2, 0, 1));
            assert_eq!(set.answerable[1].question, "How?");
            let read = &set.off_topic[0].rows[0];
            assert_eq!(format!("{read:?}"), format!("{:?}", written[0].off_topic[0].rows[0]));
        }
    }
}
