//! The parts of the encoder in float32, with a fixed order of operations.

use std::ops::Range;

use rayon::prelude::*;

use crate::calibration::Batch;
use crate::matrix::{Matrix, Packed, product};

/// Dimensions of a head.
pub(crate) const HEAD_DIMENSIONS: usize = 32;
const LAYER_NORM_EPSILON: f64 = 1e-12;

/// A linear layer: `inputs` × `weight`ᵀ + `bias`, with one row of `weight` per output.
pub(crate) fn linear(inputs: &Matrix, weight: &Matrix, bias: &[f32]) -> Matrix {
    let mut out = product(inputs, &Packed::new(&weight.transposed()));
    out.par_rows_mut().for_each(|row| add(row, bias));
    out
}

/// The sum of two matrices of the same shape.
pub(crate) fn sum(mut left: Matrix, right: &Matrix) -> Matrix {
    add(&mut left.values, &right.values);
    left
}

/// The difference of two matrices of the same shape.
pub(crate) fn difference(mut left: Matrix, right: &Matrix) -> Matrix {
    left.values.iter_mut().zip(&right.values).for_each(|(left, right)| *left -= right);
    left
}

fn add(values: &mut [f32], others: &[f32]) {
    values.iter_mut().zip(others).for_each(|(value, other)| *value += other);
}

pub(crate) fn layer_norm(mut matrix: Matrix, weight: &[f32], bias: &[f32]) -> Matrix {
    matrix.par_rows_mut().for_each(|row| {
        standardize(row);
        for ((value, weight), bias) in row.iter_mut().zip(weight).zip(bias) {
            *value = *value * weight + bias;
        }
    });
    matrix
}

/// Makes the mean 0 and the variance 1; returns the factor that scaled the centred values.
pub(crate) fn standardize(row: &mut [f32]) -> f64 {
    let count = row.len() as f64;
    let mean = row.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
    let squares = row.iter().map(|&value| (f64::from(value) - mean) * (f64::from(value) - mean)).sum::<f64>();
    let scale = 1.0 / (squares / count + LAYER_NORM_EPSILON).sqrt();
    row.iter_mut().for_each(|value| *value = ((f64::from(*value) - mean) * scale) as f32);
    scale
}

/// The exact form, with erf.
pub(crate) fn gelu(mut matrix: Matrix) -> Matrix {
    matrix.par_rows_mut().for_each(|row| {
        for value in row {
            *value = 0.5 * *value * (1.0 + libm::erff(*value * std::f32::consts::FRAC_1_SQRT_2));
        }
    });
    matrix
}

/// Scaled dot-product attention of all heads, within each sequence.
pub(crate) fn attention(queries: &Matrix, keys: &Matrix, values: &Matrix, batch: &Batch) -> Matrix {
    let contexts: Vec<Vec<f32>> = batch
        .sequences
        .par_iter()
        .map(|sequence| {
            let mut contexts = vec![0.0; sequence.len() * queries.columns];
            for head in (0..queries.columns).step_by(HEAD_DIMENSIONS) {
                let keys = transposed_head(keys, sequence.clone(), head);
                let mut probabilities = vec![0.0; sequence.len()];
                for (token, context) in sequence.clone().zip(contexts.chunks_exact_mut(queries.columns)) {
                    softmax_scores(
                        &queries.row(token)[head..head + HEAD_DIMENSIONS],
                        &keys,
                        &mut probabilities,
                    );
                    let context = &mut context[head..head + HEAD_DIMENSIONS];
                    for (other, probability) in sequence.clone().zip(&probabilities) {
                        for (sum, value) in
                            context.iter_mut().zip(&values.row(other)[head..head + HEAD_DIMENSIONS])
                        {
                            *sum += probability * value;
                        }
                    }
                }
            }
            contexts
        })
        .collect();
    Matrix::from_values(queries.rows, queries.columns, contexts.concat())
}

/// One row per dimension of the head, one column per token.
pub(crate) fn transposed_head(matrix: &Matrix, sequence: Range<usize>, head: usize) -> Matrix {
    let rows =
        (head..head + HEAD_DIMENSIONS).flat_map(|c| sequence.clone().map(move |token| matrix.row(token)[c]));
    Matrix::from_values(HEAD_DIMENSIONS, sequence.len(), rows.collect())
}

pub(crate) fn softmax_scores(query: &[f32], keys: &Matrix, out: &mut [f32]) {
    out.fill(0.0);
    for (query, keys) in query.iter().zip(keys.iter()) {
        for (score, key) in out.iter_mut().zip(keys) {
            *score += query * key;
        }
    }
    let scale = 1.0 / (HEAD_DIMENSIONS as f32).sqrt();
    let max = out.iter().fold(f32::NEG_INFINITY, |max, &score| max.max(score));
    let mut total = 0.0;
    for score in out.iter_mut() {
        *score = libm::expf((*score - max) * scale);
        total += *score;
    }
    out.iter_mut().for_each(|score| *score /= total);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(actual: &[f32], expected: &[f32]) {
        assert_eq!(actual.len(), expected.len());
        for (a, e) in actual.iter().zip(expected) {
            assert!((a - e).abs() < 1e-6, "{actual:?}, expected {expected:?}");
        }
    }

    #[test]
    fn a_linear_layer_multiplies_by_the_rows_and_adds_the_bias() {
        let inputs = Matrix::from_values(1, 2, vec![1.0, 10.0]);
        let weight = Matrix::from_values(3, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        close(&linear(&inputs, &weight, &[0.5, 0.0, -1.0]).values, &[21.5, 43.0, 64.0]);
    }

    #[test]
    fn layer_norm_returns_the_bias_as_mean_and_the_weight_as_deviation() {
        let matrix = Matrix::from_values(1, 4, vec![1.0, 1.0, 3.0, 3.0]);
        close(&layer_norm(matrix, &[2.0; 4], &[1.0; 4]).values, &[-1.0, -1.0, 3.0, 3.0]);
    }

    #[test]
    fn gelu_has_its_known_values() {
        let matrix = Matrix::from_values(1, 3, vec![-1.0, 0.0, 2.0]);
        close(&gelu(matrix).values, &[-0.158_655_26, 0.0, 1.954_499_7]);
    }

    #[test]
    fn attention_stays_within_a_sequence_and_follows_the_best_key() {
        let batch = Batch { ids: vec![0; 3], sequences: vec![0..2, 2..3], shares: vec![] };
        let mut queries = Matrix::zeros(3, HEAD_DIMENSIONS);
        let mut keys = Matrix::zeros(3, HEAD_DIMENSIONS);
        // The query of the first token matches the key of the second; that of the second is 0, so it takes the mean.
        queries.values[0] = 100.0;
        keys.values[HEAD_DIMENSIONS] = 100.0;
        let values = Matrix::from_values(
            3,
            HEAD_DIMENSIONS,
            (0..3 * HEAD_DIMENSIONS).map(|i| (i / HEAD_DIMENSIONS) as f32).collect(),
        );
        let out = attention(&queries, &keys, &values, &batch);
        close(&[out.row(0)[0], out.row(1)[5], out.row(2)[31]], &[1.0, 0.5, 2.0]);
    }
}
