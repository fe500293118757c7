//! How sensitive the vectors are to an error in each dimension of the embeddings: the covariance of the exact model's
//! gradient for random directions of the vector (empirical Fisher information).

use std::ops::Range;

use anyhow::Result;
use rayon::prelude::*;

use crate::calibration::{Batch, Random};
use crate::forward::{
    HEAD_DIMENSIONS, attention, gelu, layer_norm, linear, softmax_scores, standardize, sum, transposed_head,
};
use crate::linear_algebra::Square;
use crate::matrix::{Matrix, Packed, product};
use crate::moments::covariance;
use crate::recipe::{LAYERS, Linear};
use crate::source::Weights;

/// The sensitivity to `sums` of word and position embeddings, one row per token, the input of the layer norm `norm`. Only
/// the upper triangle is filled.
pub(crate) fn embedding_sensitivity(
    weights: &Weights,
    sums: Matrix,
    norm: &[Vec<f32>; 2],
    batch: &Batch,
) -> Result<Square> {
    let layers: Vec<Layer> =
        (0..LAYERS).map(|index| Layer::new(weights, index, sums.columns)).collect::<Result<_>>()?;
    let mut activations = vec![layer_norm(sums.clone(), &norm[0], &norm[1])];
    for (index, layer) in layers.iter().enumerate() {
        activations.push(layer.forward(&activations[index], batch).outputs);
    }
    let mut gradient = pooling_gradient(&activations.pop().unwrap_or(sums.clone()), batch);
    for (layer, inputs) in layers.iter().zip(&activations).rev() {
        gradient = layer.backward(inputs, gradient, batch);
    }
    let gradient = layer_norm_gradient(&sums, &norm[0], gradient);
    Ok(covariance(&gradient, &vec![0.0; gradient.columns], batch))
}

struct LinearLayer {
    weight: Matrix,
    bias: Vec<f32>,
}

impl LinearLayer {
    fn forward(&self, inputs: &Matrix) -> Matrix {
        linear(inputs, &self.weight, &self.bias)
    }

    /// The gradient of the inputs, from that of the outputs.
    fn backward(&self, gradient: &Matrix) -> Matrix {
        product(gradient, &Packed::new(&self.weight))
    }
}

/// An encoder layer of the exact model.
struct Layer {
    query: LinearLayer,
    key: LinearLayer,
    value: LinearLayer,
    attention_output: LinearLayer,
    attention_norm: [Vec<f32>; 2],
    intermediate: LinearLayer,
    output: LinearLayer,
    norm: [Vec<f32>; 2],
}

/// The values of the forward pass that the backward pass needs.
struct Forward {
    heads: [Matrix; 3],
    /// The input of the first layer norm.
    attention_sums: Matrix,
    /// The input of GELU.
    intermediate: Matrix,
    /// The input of the last layer norm.
    sums: Matrix,
    outputs: Matrix,
}

impl Layer {
    fn new(weights: &Weights, index: usize, hidden: usize) -> Result<Self> {
        let linear = |kind: Linear| -> Result<LinearLayer> {
            let name = format!("encoder.layer.{index}.{}", kind.name());
            let weight = weights.matrix(&format!("{name}.weight"))?;
            Ok(LinearLayer { bias: weights.vector(&format!("{name}.bias"), weight.rows)?, weight })
        };
        let norm = |module: &str| -> Result<[Vec<f32>; 2]> {
            let parameter =
                |kind| weights.vector(&format!("encoder.layer.{index}.{module}.LayerNorm.{kind}"), hidden);
            Ok([parameter("weight")?, parameter("bias")?])
        };
        Ok(Self {
            query: linear(Linear::Query)?,
            key: linear(Linear::Key)?,
            value: linear(Linear::Value)?,
            attention_output: linear(Linear::AttentionOutput)?,
            attention_norm: norm("attention.output")?,
            intermediate: linear(Linear::Intermediate)?,
            output: linear(Linear::Output)?,
            norm: norm("output")?,
        })
    }

    fn forward(&self, inputs: &Matrix, batch: &Batch) -> Forward {
        let heads = [&self.query, &self.key, &self.value].map(|part| part.forward(inputs));
        let context = attention(&heads[0], &heads[1], &heads[2], batch);
        let attention_sums = sum(self.attention_output.forward(&context), inputs);
        let attended = layer_norm(attention_sums.clone(), &self.attention_norm[0], &self.attention_norm[1]);
        let intermediate = self.intermediate.forward(&attended);
        let sums = sum(self.output.forward(&gelu(intermediate.clone())), &attended);
        let outputs = layer_norm(sums.clone(), &self.norm[0], &self.norm[1]);
        Forward { heads, attention_sums, intermediate, sums, outputs }
    }

    /// The gradient of the inputs, from that of the outputs.
    fn backward(&self, inputs: &Matrix, gradient: Matrix, batch: &Batch) -> Matrix {
        let Forward { heads, attention_sums, intermediate, sums, .. } = self.forward(inputs, batch);
        let gradient = layer_norm_gradient(&sums, &self.norm[0], gradient);
        let inner = gelu_gradient(&intermediate, self.output.backward(&gradient));
        let gradient = sum(gradient, &self.intermediate.backward(&inner));
        let gradient = layer_norm_gradient(&attention_sums, &self.attention_norm[0], gradient);
        let inner = attention_gradient(&heads, &self.attention_output.backward(&gradient), batch);
        let parts = [&self.query, &self.key, &self.value];
        parts
            .into_iter()
            .zip(&inner)
            .fold(gradient, |gradient, (part, inner)| sum(gradient, &part.backward(inner)))
    }
}

/// The gradient of mean pooling and L2 normalisation, for a random direction of each sequence's vector.
fn pooling_gradient(activations: &Matrix, batch: &Batch) -> Matrix {
    let mut random = Random::new(2);
    let mut gradient = Matrix::zeros(activations.rows, activations.columns);
    for sequence in &batch.sequences {
        let mut mean = vec![0.0; activations.columns];
        for token in sequence.clone() {
            mean.iter_mut().zip(activations.row(token)).for_each(|(mean, &value)| *mean += f64::from(value));
        }
        mean.iter_mut().for_each(|mean| *mean /= sequence.len() as f64);
        let length = mean.iter().map(|value| value * value).sum::<f64>().sqrt();
        let direction: Vec<f64> = mean.iter().map(|_| random.sign()).collect();
        let along = direction.iter().zip(&mean).map(|(a, b)| a * b).sum::<f64>() / (length * length);
        let scale = 1.0 / (length * sequence.len() as f64);
        let row: Vec<f32> = direction
            .iter()
            .zip(&mean)
            .map(|(direction, mean)| ((direction - along * mean) * scale) as f32)
            .collect();
        for token in sequence.clone() {
            gradient.values[token * row.len()..][..row.len()].copy_from_slice(&row);
        }
    }
    gradient
}

fn layer_norm_gradient(inputs: &Matrix, weight: &[f32], mut gradient: Matrix) -> Matrix {
    gradient.par_rows_mut().enumerate().for_each(|(index, row)| {
        let mut standard = inputs.row(index).to_vec();
        let scale = standardize(&mut standard);
        row.iter_mut().zip(weight).for_each(|(gradient, weight)| *gradient *= weight);
        let count = row.len() as f64;
        let mean = row.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
        let along =
            row.iter().zip(&standard).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>() / count;
        for (gradient, standard) in row.iter_mut().zip(standard) {
            *gradient = (scale * (f64::from(*gradient) - mean - f64::from(standard) * along)) as f32;
        }
    });
    gradient
}

fn gelu_gradient(inputs: &Matrix, mut gradient: Matrix) -> Matrix {
    const FRAC_1_SQRT_TAU: f32 = 0.398_942_3;
    gradient.par_rows_mut().enumerate().for_each(|(index, row)| {
        for (gradient, &x) in row.iter_mut().zip(inputs.row(index)) {
            let below = 0.5 * (1.0 + libm::erff(x * std::f32::consts::FRAC_1_SQRT_2));
            *gradient *= below + x * FRAC_1_SQRT_TAU * libm::expf(-0.5 * x * x);
        }
    });
    gradient
}

/// The gradients of queries, keys and values, from that of the contexts.
fn attention_gradient(heads: &[Matrix; 3], gradient: &Matrix, batch: &Batch) -> [Matrix; 3] {
    let parts: Vec<[Vec<f32>; 3]> = batch
        .sequences
        .par_iter()
        .map(|sequence| {
            let mut parts = [0; 3].map(|_| vec![0.0; sequence.len() * gradient.columns]);
            for head in (0..gradient.columns).step_by(HEAD_DIMENSIONS) {
                head_gradient(heads, gradient, sequence.clone(), head, &mut parts);
            }
            parts
        })
        .collect();
    [0, 1, 2].map(|which| {
        let values = parts.iter().flat_map(|parts| &parts[which]).copied().collect();
        Matrix::from_values(gradient.rows, gradient.columns, values)
    })
}

fn head_gradient(
    [queries, keys, values]: &[Matrix; 3],
    gradient: &Matrix,
    sequence: Range<usize>,
    head: usize,
    [query_gradients, key_gradients, value_gradients]: &mut [Vec<f32>; 3],
) {
    let scale = 1.0 / (HEAD_DIMENSIONS as f32).sqrt();
    let columns = gradient.columns;
    let transposed_keys = transposed_head(keys, sequence.clone(), head);
    let transposed_values = transposed_head(values, sequence.clone(), head);
    let mut probabilities = vec![0.0; sequence.len()];
    let mut slopes = vec![0.0; sequence.len()];
    for (row, token) in sequence.clone().enumerate() {
        let query = &queries.row(token)[head..head + HEAD_DIMENSIONS];
        let context = &gradient.row(token)[head..head + HEAD_DIMENSIONS];
        softmax_scores(query, &transposed_keys, &mut probabilities);
        slopes.fill(0.0);
        for (&context, values) in context.iter().zip(transposed_values.iter()) {
            add_multiple(&mut slopes, context, values);
        }
        let mean: f32 =
            slopes.iter().zip(&probabilities).map(|(slope, probability)| slope * probability).sum();
        for ((other, &probability), slope) in sequence.clone().zip(&probabilities).zip(&slopes) {
            let score = probability * (slope - mean) * scale;
            let to = (other - sequence.start) * columns + head
                ..(other - sequence.start) * columns + head + HEAD_DIMENSIONS;
            add_multiple(
                &mut query_gradients[row * columns + head..][..HEAD_DIMENSIONS],
                score,
                &keys.row(other)[head..],
            );
            add_multiple(&mut key_gradients[to.clone()], score, query);
            add_multiple(&mut value_gradients[to], probability, context);
        }
    }
}

fn add_multiple(sums: &mut [f32], factor: f32, values: &[f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::tests::random_matrix;

    const HIDDEN: usize = 2 * HEAD_DIMENSIONS;

    fn linear_layer(outputs: usize, inputs: usize, seed: u64) -> LinearLayer {
        let mut weight = random_matrix(outputs, inputs, seed);
        weight.values.iter_mut().for_each(|value| *value *= 0.3);
        LinearLayer { weight, bias: random_matrix(1, outputs, seed + 100).values }
    }

    #[test]
    fn the_gradient_of_a_layer_matches_finite_differences() {
        let norm = |seed: u64| [1, 2].map(|k| random_matrix(1, HIDDEN, seed + k).values);
        let layer = Layer {
            query: linear_layer(HIDDEN, HIDDEN, 1),
            key: linear_layer(HIDDEN, HIDDEN, 2),
            value: linear_layer(HIDDEN, HIDDEN, 3),
            attention_output: linear_layer(HIDDEN, HIDDEN, 4),
            attention_norm: norm(10),
            intermediate: linear_layer(3 * HIDDEN, HIDDEN, 5),
            output: linear_layer(HIDDEN, 3 * HIDDEN, 6),
            norm: norm(20),
        };
        let batch = Batch { ids: vec![0; 5], sequences: vec![0..3, 3..5], shares: vec![0.2; 5] };
        let inputs = random_matrix(5, HIDDEN, 30);
        let direction = random_matrix(5, HIDDEN, 31);
        let gradient = layer.backward(&inputs, direction.clone(), &batch);
        for seed in 40..45 {
            let change = random_matrix(5, HIDDEN, seed);
            let along = |distance: f32| {
                let mut moved = inputs.clone();
                add_multiple(&mut moved.values, distance, &change.values);
                dot(&layer.forward(&moved, &batch).outputs, &direction)
            };
            let (measured, computed) = ((along(1e-3) - along(-1e-3)) / 2e-3, dot(&gradient, &change));
            assert!(
                (measured - computed).abs() < 0.02 * computed.abs() + 0.05,
                "{measured}, computed {computed}"
            );
        }
    }

    #[test]
    fn the_pooling_gradient_is_orthogonal_to_the_vector() {
        let batch = Batch::single(&[1.0; 3]);
        let activations = random_matrix(3, 8, 1);
        let gradient = pooling_gradient(&activations, &batch);
        let mean: Vec<f32> = (0..8).map(|c| (0..3).map(|token| activations.row(token)[c]).sum()).collect();
        let along: f32 = mean.iter().zip(gradient.row(0)).map(|(a, b)| a * b).sum();
        assert!(along.abs() < 1e-5 && gradient.row(0)[0].abs() > 1e-3, "{along}");
        assert_eq!(gradient.row(0), gradient.row(2));
    }

    fn dot(left: &Matrix, right: &Matrix) -> f64 {
        left.values.iter().zip(&right.values).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
    }
}
