//! The gain of a reader (`embedder::Reader`), which reads question and passage together and reranks the results.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use embedder::Reader;
use rayon::prelude::*;

use crate::measure::Figure;
use crate::quoted::contains_any;
use crate::results::{Found, Results};

/// The number of passages, best first, of which the reader reads each sentence.
const PASSAGES_WITH_SENTENCES: usize = 2;

/// The reader's result for one question.
struct Read {
    finds_gold: bool,
    first_contains_answer: bool,
    milliseconds: f64,
}

/// The figures of the reader for the answerable questions of a set.
pub(crate) fn figures(reader: &Path, results: &Results) -> Result<Vec<Figure>> {
    let reader = Reader::from_file(reader)?;
    if results.answerable.is_empty() {
        return Ok(Vec::new());
    }
    eprintln!(
        "  {}: the reader reads what was found for {} questions",
        results.set,
        results.answerable.len()
    );
    let read: Vec<Read> = results.answerable.par_iter().map_init(|| reader.clone(), read).collect();
    let mean = |value: &dyn Fn(&Read) -> f64| read.iter().map(value).sum::<f64>() / read.len() as f64;
    Ok(vec![
        ("reader_recall_1", mean(&|read| f64::from(u8::from(read.finds_gold)))),
        ("reader_answer_in_1", mean(&|read| f64::from(u8::from(read.first_contains_answer)))),
        ("reader_ms", mean(&|read| read.milliseconds)),
    ])
}

fn read(reader: &mut Reader, found: &Found) -> Read {
    let started = Instant::now();
    let passages: Vec<&str> = found.rows.iter().map(|row| row.content.as_str()).collect();
    let order = best_first(&reader.score_batch(&found.question, &passages));
    let sentences: Vec<&str> = order
        .iter()
        .take(PASSAGES_WITH_SENTENCES)
        .filter_map(|row| found.rows.get(*row))
        .flat_map(|row| row.sentences.iter().filter_map(|sentence| row.text_of(sentence)))
        .collect();
    let best = best_first(&reader.score_batch(&found.question, &sentences));
    let milliseconds = started.elapsed().as_secs_f64() * 1000.0;
    let first = best.first().and_then(|sentence| sentences.get(*sentence));
    Read {
        finds_gold: order.first().and_then(|row| found.rows.get(*row)).is_some_and(|row| found.is_gold(row)),
        first_contains_answer: first.is_some_and(|text| contains_any(text, &found.answers)),
        milliseconds,
    }
}

/// Positions by descending score; equal scores keep their order.
fn best_first(scores: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_ordered_by_descending_score() {
        assert_eq!(best_first(&[0.5, 2.0, -1.0, 2.0]), [1, 3, 0, 2]);
        assert!(best_first(&[]).is_empty());
    }
}
