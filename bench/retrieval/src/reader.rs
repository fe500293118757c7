//! Reads what was found as the browser of a visitor does.

use std::path::Path;

use anyhow::Result;
use chat_core::evidence::EvidenceThresholds;
use chat_core::evidence::calibration::READER;
use chat_core::follow_up::{JoinedSearch, joined};
use chat_core::passages_to_read;
use embedder::Reader;
use kb::ask;
use kb::model_files::{load_model, load_reader};
use rayon::prelude::*;

use crate::results::{Found, Results};

/// Loads the reader from the folder of the model.
pub(crate) fn load(model_dir: &Path) -> Result<Reader> {
    Ok(load_reader(&load_model(model_dir)?, model_dir)?)
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

/// Whether all was read by the reader that the answers are calibrated for.
pub(crate) fn is_read(results: &Results) -> bool {
    let kinds = [&results.answerable, &results.near, &results.off_topic, &results.dialogues];
    let is_current = |found: &Found| found.reading.as_ref().is_some_and(|reading| reading.reader == READER);
    kinds.into_iter().flatten().all(is_current)
}

fn read(reader: &mut Reader, found: &mut Found) {
    let thresholds: EvidenceThresholds = found.thresholds();
    let mut read = |(question, passages): &(String, Vec<_>)| ask::read(reader, question, passages);
    let alone = passages_to_read(&found.question, &found.rows, None, &thresholds);
    let reading = read(&alone);
    if let Some(turn) = &mut found.turn {
        let text = joined(&found.question, &turn.previous);
        let search = JoinedSearch { text: &text, rows: &turn.joined_rows };
        let after = passages_to_read(&found.question, &found.rows, Some(search), &thresholds);
        turn.reading = Some(if after == alone { reading.clone() } else { read(&after) });
        turn.rewrite_reading = turn
            .rewrite
            .as_ref()
            .map(|(question, rows)| read(&passages_to_read(question, rows, None, &thresholds)));
    }
    found.reading = Some(reading);
}
