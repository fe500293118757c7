//! Word and position embeddings. Each word has its own step. Its dimensions are rounded one after the other, and the
//! errors are shifted to where the vectors are least sensitive to them.

use anyhow::{Result, ensure};
use rayon::prelude::*;

use crate::calibration::Batch;
use crate::container::Container;
use crate::forward::layer_norm;
use crate::gptq::Columns;
use crate::matrix::Matrix;
use crate::recipe::{
    PARAMETER_BITS, POSITION_STEP, WORD_DAMPING, WORD_STEP_BITS, is_unused, round_mantissa, word_step,
};
use crate::sensitivity;
use crate::source::Weights;

/// Positions that the embedder uses, of the model's 512.
const POSITIONS: usize = 256;
/// Magnitude of the largest integer of a word: -128 is not used.
const MAX_WORD: f64 = 127.0;
/// The first token that is neither special nor a single character. The mean magnitude from here on is the typical one.
const FIRST_WORD: usize = 1996;

/// The exact embeddings, and the quantised ones of the model file.
pub(crate) struct Embeddings {
    exact: Tables,
    quantized: Tables,
    integers: Vec<i8>,
    /// One per word.
    steps: Vec<f32>,
}

/// One row per word, and one per position.
struct Tables {
    words: Matrix,
    positions: Matrix,
    norm: [Vec<f32>; 2],
}

pub(crate) fn quantize(weights: &Weights, vocabulary: &str, batch: &Batch) -> Result<Embeddings> {
    let words = weights.matrix("embeddings.word_embeddings.weight")?;
    let tokens: Vec<&str> = vocabulary.lines().collect();
    ensure!(tokens.len() == words.rows, "{} tokens, but {} word embeddings", tokens.len(), words.rows);
    ensure!(words.rows > FIRST_WORD, "only {} word embeddings", words.rows);
    let parameter = |kind| weights.vector(&format!("embeddings.LayerNorm.{kind}"), words.columns);
    let norm = [parameter("weight")?, parameter("bias")?];
    let exact = Tables { positions: positions(weights, words.columns)?, norm, words };

    let sensitivity = sensitivity::embedding_sensitivity(weights, exact.sums(batch), &exact.norm, batch)?;
    let columns = Columns::new(&sensitivity, WORD_DAMPING)?;
    let steps = word_steps(&exact.words, &tokens);
    let integers = round_words(&exact.words, &steps, &columns);
    let quantized = Tables {
        words: dequantize_words(&integers, &steps, exact.words.columns),
        positions: round_positions(exact.positions.clone()),
        norm: exact.norm.clone().map(round_parameters),
    };
    Ok(Embeddings { exact, quantized, integers, steps })
}

/// Position embeddings plus the token type of a single text, which every token has.
fn positions(weights: &Weights, columns: usize) -> Result<Matrix> {
    let all = weights.matrix("embeddings.position_embeddings.weight")?;
    let token_types = weights.matrix("embeddings.token_type_embeddings.weight")?;
    ensure!(all.columns == columns && token_types.columns == columns, "embeddings differ in their length");
    ensure!(all.rows >= POSITIONS && token_types.rows > 0, "only {} position embeddings", all.rows);
    let values =
        all.iter().take(POSITIONS).flat_map(|row| row.iter().zip(token_types.row(0)).map(|(a, b)| a + b));
    Ok(Matrix::from_values(POSITIONS, columns, values.collect()))
}

fn round_positions(mut positions: Matrix) -> Matrix {
    for value in &mut positions.values {
        *value = (*value / POSITION_STEP).round_ties_even() * POSITION_STEP;
    }
    positions
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
    words
        .values
        .par_chunks_exact(words.columns)
        .zip(steps)
        .enumerate()
        .flat_map_iter(|(id, (word, &step))| {
            let scale = if is_unused(id) { 0.0 } else { 1.0 / f64::from(step) };
            let targets: Vec<f64> = word.iter().map(|&value| f64::from(value) * scale).collect();
            columns.round(&targets, MAX_WORD).into_iter().map(|integer| integer as i8)
        })
        .collect()
}

fn dequantize_words(integers: &[i8], steps: &[f32], columns: usize) -> Matrix {
    let rows = integers.chunks_exact(columns).zip(steps);
    let values = rows.flat_map(|(row, step)| row.iter().map(move |&integer| f32::from(integer) * step));
    Matrix::from_values(steps.len(), columns, values.collect())
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

/// Rounds biases and layer norm weights for the model file.
pub(crate) fn round_parameters(mut values: Vec<f32>) -> Vec<f32> {
    values.iter_mut().for_each(|value| *value = round_mantissa(*value, PARAMETER_BITS));
    values
}

impl Embeddings {
    pub(crate) fn store(&self, container: &mut Container) {
        let Tables { words, positions, norm: [weight, bias] } = &self.quantized;
        container.add_bytes(
            "embeddings.word_embeddings.weight",
            &[words.rows, words.columns],
            &self.integers,
        );
        container.add_floats("embeddings.word_embeddings.scale", &[words.rows], &self.steps);
        let shape = [positions.rows, positions.columns];
        container.add_floats("embeddings.position_embeddings.weight", &shape, &positions.values);
        container.add_floats("embeddings.LayerNorm.weight", &[weight.len()], weight);
        container.add_floats("embeddings.LayerNorm.bias", &[bias.len()], bias);
    }

    /// The input of the first layer, exact and quantised: one row per token.
    pub(crate) fn embed(&self, batch: &Batch) -> [Matrix; 2] {
        [&self.exact, &self.quantized].map(|tables| tables.embed(batch))
    }
}

impl Tables {
    fn embed(&self, batch: &Batch) -> Matrix {
        layer_norm(self.sums(batch), &self.norm[0], &self.norm[1])
    }

    /// The input of the layer norm.
    fn sums(&self, batch: &Batch) -> Matrix {
        let mut positions = batch.sequences.iter().cloned().flat_map(|sequence| 0..sequence.len());
        let mut sums = Matrix::zeros(batch.tokens(), self.words.columns);
        for (row, &id) in sums.values.chunks_exact_mut(self.words.columns).zip(&batch.ids) {
            let position = self.positions.row(positions.next().unwrap_or_default());
            for ((value, word), position) in row.iter_mut().zip(self.words.row(id as usize)).zip(position) {
                *value = word + position;
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear_algebra::Square;

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
        let uncorrelated = Columns::new(&Square::from_fn(2, |r, c| f64::from(r == c)), WORD_DAMPING).unwrap();
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
