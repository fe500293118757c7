//! Converts a trained reader (`training/reader/model.py`) to its model file.
//!
//! Nothing is measured, so any checkpoint works: weights get 8 bits with one step per output, inputs 14 bits in every column,
//! and small tensors stay in floats.

use std::ops::Range;

use anyhow::Result;

use crate::container::Container;
use crate::recipe::{HIDDEN, INTERMEDIATE, LAYERS, LINEARS, Linear, Linears, VOCABULARY_SIZE};
use crate::source::{self, Weights};

/// The layers that a reader has of its own. The others are the embedder's.
const READER_LAYERS: Range<usize> = 2..LAYERS;

/// The id of the token before every statement. Its word embedding is not in the embedder's file, since no text has it.
const MARKER: usize = 1;

/// Magnitude of the largest integer of a row.
const MAX_INTEGER: f32 = 127.0;

/// Makes the model file from a checkpoint and the float32 weights of all-MiniLM-L6-v2, on which it was trained.
pub(crate) fn convert(checkpoint: &[u8], model: &[u8]) -> Result<Vec<u8>> {
    source::check("the weights", model, source::MODEL_SHA256)?;
    let weights = Weights::parse(checkpoint)?;
    let mut container = Container::reader(&source::sha256(checkpoint));
    let embeddings = Weights::parse(model)?;
    container.add_floats("embeddings.token_type_difference", &[HIDDEN], &token_types(&embeddings)?);
    let words = embeddings.matrix("embeddings.word_embeddings.weight", VOCABULARY_SIZE, HIDDEN)?;
    container.add_floats("embeddings.marker", &[HIDDEN], words.row(MARKER));
    for layer in READER_LAYERS {
        add_layer(&weights, layer, &mut container)?;
    }
    for (name, head) in [("statement", "sent"), ("nothing", "passage")] {
        let (row, bias) = (
            weights.floats(&format!("{head}.weight"), &[1, HIDDEN])?,
            weights.vector(&format!("{head}.bias"), 1)?,
        );
        container.add_floats(&format!("{name}.weight"), &[HIDDEN], &row);
        container.add_floats(&format!("{name}.bias"), &[1], &bias);
    }
    container.into_bytes()
}

/// Token type 1 minus token type 0, which the embedder's positions include.
fn token_types(model: &Weights<'_>) -> Result<Vec<f32>> {
    let types = model.matrix("embeddings.token_type_embeddings.weight", 2, HIDDEN)?;
    Ok(types.row(1).iter().zip(types.row(0)).map(|(one, zero)| one - zero).collect())
}

fn add_layer(weights: &Weights<'_>, layer: usize, container: &mut Container) -> Result<()> {
    let trained = |part: &str| format!("layers.{layer}.{part}");
    let name = |part: &str| format!("encoder.layer.{layer}.{part}");
    for Linears { input, columns, rows, linears } in LINEARS {
        let every_column: Vec<i16> = (0..columns).map(|column| column as i16).collect();
        container.add_integers(&name(&format!("{input}.wide_columns")), &every_column);
        for &linear in linears {
            let (part, all_rows, first) = match linear {
                Linear::Query => ("qkv", 3 * HIDDEN, 0),
                Linear::Key => ("qkv", 3 * HIDDEN, HIDDEN),
                Linear::Value => ("qkv", 3 * HIDDEN, 2 * HIDDEN),
                Linear::AttentionOutput => ("o", HIDDEN, 0),
                Linear::Intermediate => ("up", INTERMEDIATE, 0),
                Linear::Output => ("down", HIDDEN, 0),
            };
            let matrix = weights.matrix(&trained(&format!("{part}.weight")), all_rows, columns)?;
            let bias = weights.vector(&trained(&format!("{part}.bias")), all_rows)?;
            let rounded = Rounded::new(matrix.iter().skip(first).take(rows));
            let name = name(linear.name());
            container.add_floats(&format!("{name}.scale"), &[rows], &rounded.steps);
            container.add_floats(&format!("{name}.bias"), &[rows], &bias[first..first + rows]);
            container.add_matrix(&name, columns, &rounded.integers)?;
        }
    }
    for (norm, part) in [("attention.output.LayerNorm", "ln1"), ("output.LayerNorm", "ln2")] {
        for kind in ["weight", "bias"] {
            let values = weights.vector(&trained(&format!("{part}.{kind}")), HIDDEN)?;
            container.add_floats(&name(&format!("{norm}.{kind}")), &[HIDDEN], &values);
        }
    }
    Ok(())
}

/// A matrix of integers with one step per row: value = integer × step.
#[derive(Default)]
struct Rounded {
    integers: Vec<i32>,
    steps: Vec<f32>,
}

impl Rounded {
    fn new<'a>(rows: impl Iterator<Item = &'a [f32]>) -> Self {
        let mut rounded = Self::default();
        for row in rows {
            let max = row.iter().fold(0.0f32, |max, value| max.max(value.abs()));
            // Dividing by a smaller step would not be finite.
            let step = if max < 1e-30 { 0.0 } else { max / MAX_INTEGER };
            let integer = |value: &f32| if step > 0.0 { (value / step).round_ties_even() as i32 } else { 0 };
            rounded.integers.extend(row.iter().map(integer));
            rounded.steps.push(step);
        }
        rounded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Matrix;

    #[test]
    fn each_row_has_the_step_of_its_largest_value() {
        let matrix = Matrix::from_values(3, 2, vec![1.27, -0.016, 0.0, 0.0, -254.0, 3.0]);
        let rounded = Rounded::new(matrix.iter());
        assert_eq!(rounded.integers, [127, -2, 0, 0, -127, 2]);
        assert_eq!(rounded.steps, [1.27 / 127.0, 0.0, 2.0]);
    }
}
