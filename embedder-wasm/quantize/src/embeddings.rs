//! Word and position embeddings. Each word has its own step. Its dimensions are rounded one after the other, and the
//! errors are shifted to where the vectors are least sensitive to them.

use anyhow::{Result, ensure};

use crate::calibration::Calibration;
use crate::container::Container;
use crate::gptq::Columns;
use crate::recipe::{
    HIDDEN, POSITION_STEP, VOCABULARY_SIZE, WORD_DAMPING, WORD_STEP_BITS, is_unused, round_mantissa,
    round_parameters, word_step,
};
use crate::source::{Matrix, Weights};

/// Positions that the embedder uses, of the model's 512.
const POSITIONS: usize = 256;
const MODEL_POSITIONS: usize = 512;
/// Magnitude of the largest integer of a word: -128 is not used.
const MAX_WORD: f64 = 127.0;
/// The first token that is neither special nor a single character. The mean magnitude from here on is the typical one.
const FIRST_WORD: usize = 1996;

/// Quantises the embeddings into `container`.
pub(crate) fn quantize(
    weights: &Weights,
    vocabulary: &str,
    calibration: &Calibration,
    container: &mut Container,
) -> Result<()> {
    let words = weights.matrix("embeddings.word_embeddings.weight", VOCABULARY_SIZE, HIDDEN)?;
    let tokens: Vec<&str> = vocabulary.lines().collect();
    ensure!(tokens.len() == words.rows, "{} tokens, but {} word embeddings", tokens.len(), words.rows);
    let steps = word_steps(&words, &tokens);
    let integers = round_words(&words, &steps, &calibration.columns("embeddings", HIDDEN, WORD_DAMPING)?);
    container.add_bytes("embeddings.word_embeddings.weight", &[words.rows, HIDDEN], &integers);
    container.add_floats("embeddings.word_embeddings.scale", &[words.rows], &steps);
    let shape = [POSITIONS, HIDDEN];
    container.add_floats("embeddings.position_embeddings.weight", &shape, &positions(weights)?);
    for parameter in ["weight", "bias"] {
        let name = format!("embeddings.LayerNorm.{parameter}");
        container.add_floats(&name, &[HIDDEN], &round_parameters(weights.vector(&name, HIDDEN)?));
    }
    Ok(())
}

/// Rounded position embeddings plus the token type of a single text, which every token has.
fn positions(weights: &Weights) -> Result<Vec<f32>> {
    let all = weights.matrix("embeddings.position_embeddings.weight", MODEL_POSITIONS, HIDDEN)?;
    let token_types = weights.matrix("embeddings.token_type_embeddings.weight", 2, HIDDEN)?;
    let sums =
        all.iter().take(POSITIONS).flat_map(|row| row.iter().zip(token_types.row(0)).map(|(a, b)| a + b));
    Ok(sums.map(|value| (value / POSITION_STEP).round_ties_even() * POSITION_STEP).collect())
}

fn word_steps(words: &Matrix, tokens: &[&str]) -> Vec<f32> {
    let magnitudes: Vec<f64> = words.iter().map(root_mean_square).collect();
    let typical = magnitudes[FIRST_WORD..].iter().sum::<f64>() / (words.rows - FIRST_WORD) as f64;
    let step = |id: usize, word: &[f32]| {
        let is_non_latin = tokens[id].chars().any(|c| c > LAST_LATIN);
        step_for(word, word_step(id, magnitudes[id] / typical, is_non_latin) as f32)
    };
    words.iter().enumerate().map(|(id, word)| step(id, word)).collect()
}

fn round_words(words: &Matrix, steps: &[f32], columns: &Columns) -> Vec<i8> {
    let round = |(id, (word, &step)): (usize, (&[f32], &f32))| {
        let scale = if is_unused(id) { 0.0 } else { 1.0 / f64::from(step) };
        let targets: Vec<f64> = word.iter().map(|&value| f64::from(value) * scale).collect();
        columns.round(&targets, MAX_WORD)
    };
    words.iter().zip(steps).enumerate().flat_map(round).map(|integer| integer as i8).collect()
}

/// The end of the block Latin Extended-B.
const LAST_LATIN: char = '\u{24f}';

/// The rounded `target`, or a larger step if the integers would not fit.
fn step_for(word: &[f32], target: f32) -> f32 {
    let max = word.iter().fold(0.0f32, |max, value| max.max(value.abs()));
    let mut step = round_mantissa(target, WORD_STEP_BITS).max(f32::MIN_POSITIVE);
    while f64::from(max / step).round_ties_even() > MAX_WORD {
        step = f32::from_bits(step.to_bits() + (1 << (23 - WORD_STEP_BITS)));
    }
    step
}

fn root_mean_square(values: &[f32]) -> f64 {
    (values.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>() / values.len() as f64)
        .sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_grows_until_the_integers_fit() {
        assert_eq!(step_for(&[0.5, -0.2], 0.01), round_mantissa(0.01, WORD_STEP_BITS));
        let step = step_for(&[0.0, -3.0], 0.01);
        assert!((3.0 / step).round() <= 127.0 && 3.0 / step > 110.0, "{step}");
        assert_eq!(step.to_bits() % (1 << (23 - WORD_STEP_BITS)), 0);
    }

    #[test]
    fn unused_words_are_zero_and_others_are_close_to_their_value() {
        let words = Matrix::from_values(2000, 2, (0..4000).map(|i| (i as f32 * 0.7).sin() * 0.1).collect());
        let steps = word_steps(&words, &["a"; 2000]);
        let uncorrelated = Columns::new(&[0.0; 16], &[1.0; 2], WORD_DAMPING);
        let integers = round_words(&words, &steps, &uncorrelated);
        assert_eq!(integers[2 * 500..2 * 501], [0, 0]);
        for id in (0..2000).filter(|&id| !is_unused(id)) {
            for column in 0..2 {
                let error = f32::from(integers[2 * id + column]) * steps[id] - words.row(id)[column];
                assert!(error.abs() <= steps[id] * 0.5001, "word {id}: off by {error}");
            }
        }
    }
}
