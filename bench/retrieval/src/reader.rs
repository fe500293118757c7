//! Reads what was found as the browser of a visitor does.

use std::path::Path;

use anyhow::{Context, Result};
use chat_core::chunk::MatchedChunk;
use chat_core::evidence::EvidenceThresholds;
use chat_core::follow_up::{JoinedSearch, joined};
use chat_core::{PassageReading, PassageToRead, Reading, passages_to_read};
use embedder::{Embedder, Passage, Reader};
use rayon::prelude::*;

use crate::results::{Found, Results};

/// Loads embedder and reader.
pub(crate) fn load(model_dir: &Path, reader_dir: &Path) -> Result<Reader> {
    let embedder = Embedder::from_dir(model_dir)?;
    Reader::from_dir(&embedder, reader_dir).context("the reader cannot be loaded")
}

/// Reads all that was found.
pub(crate) fn read_all(reader: &Reader, results: &mut Results) {
    let Results { set, answerable, near, off_topic, dialogues } = results;
    let kinds = [answerable, near, off_topic, dialogues];
    let count: usize = kinds.iter().map(|found| found.len()).sum();
    eprintln!("  {set}: reading for {count} questions");
    for found in kinds {
        found.par_iter_mut().for_each_init(|| reader.clone(), read);
    }
}

fn read(reader: &mut Reader, found: &mut Found) {
    let thresholds = found.thresholds();
    let alone = to_read(&found.question, &found.rows, None, &thresholds);
    let reading = read_passages(reader, &alone);
    if let Some(turn) = &mut found.turn {
        let text = joined(&found.question, &turn.previous);
        let search = JoinedSearch { text: &text, rows: &turn.joined_rows };
        let after = to_read(&found.question, &found.rows, Some(search), &thresholds);
        turn.reading = Some(if after == alone { reading.clone() } else { read_passages(reader, &after) });
        turn.rewrite_reading = turn
            .rewrite
            .as_ref()
            .map(|(question, rows)| read_passages(reader, &to_read(question, rows, None, &thresholds)));
    }
    found.reading = Some(reading);
}

/// A question as the reader gets it, and its passages.
type ToRead = (String, Vec<PassageToRead>);

fn to_read(
    question: &str,
    rows: &[MatchedChunk],
    joined: Option<JoinedSearch<'_>>,
    thresholds: &EvidenceThresholds,
) -> ToRead {
    passages_to_read(question, rows, joined, thresholds)
}

fn read_passages(reader: &mut Reader, (question, passages): &ToRead) -> Reading {
    let inputs: Vec<_> = passages
        .iter()
        .map(|passage| Passage { heading: &passage.heading, statements: &passage.statements })
        .collect();
    let read = reader.read_batch(question, &inputs);
    let of_passage = |(passage, z): (&PassageToRead, Vec<Option<f32>>)| PassageReading {
        chunk_id: passage.chunk_id,
        hash: passage.hash.clone(),
        z,
    };
    Reading {
        reader: embedder::reader_fingerprint().to_owned(),
        passages: passages.iter().zip(read).map(of_passage).collect(),
    }
}
