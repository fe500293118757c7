//! Converts a cross-encoder to a reader's model file.
//!
//! Nothing is measured, so any checkpoint of the family works: weights get 8 bits with one step per output, inputs 14 bits
//! in every column, and small tensors stay in floats.

mod checkpoint;

use std::path::Path;

use anyhow::{Context, Result};
use embedder::Reader;

use crate::container::Container;
use crate::recipe::{HIDDEN, LINEARS, Linears, VOCABULARY_SIZE};
use crate::source::{Matrix, Weights};
use checkpoint::Checkpoint;

/// Magnitude of the largest integer of a row.
const MAX_INTEGER: f32 = 127.0;

/// Makes the model file, and checks that the embedding engine loads it.
pub(crate) fn convert(folder: &Path) -> Result<Vec<u8>> {
    let checkpoint = Checkpoint::read(folder)?;
    println!("  {} layers, {} positions", checkpoint.layers, checkpoint.positions);
    let file = Conversion::new(&checkpoint)?.run()?;
    Reader::from_bytes(file.clone()).context("the engine rejects the file made from this checkpoint")?;
    Ok(file)
}

struct Conversion<'a> {
    checkpoint: &'a Checkpoint,
    weights: Weights<'a>,
    container: Container,
}

impl<'a> Conversion<'a> {
    fn new(checkpoint: &'a Checkpoint) -> Result<Self> {
        let source_sha256 = crate::source::sha256(&checkpoint.weights);
        let container = Container::reader(checkpoint.layers, checkpoint.positions, &source_sha256);
        Ok(Self { checkpoint, weights: Weights::parse(&checkpoint.weights)?, container })
    }

    fn run(mut self) -> Result<Vec<u8>> {
        self.embeddings()?;
        for layer in 0..self.checkpoint.layers {
            for Linears { input, columns, rows, linears } in LINEARS {
                let name = format!("encoder.layer.{layer}.{input}");
                let every_column: Vec<i16> = (0..columns).map(|column| column as i16).collect();
                self.container.add_integers(&format!("{name}.wide_columns"), &every_column);
                for linear in linears {
                    let name = format!("encoder.layer.{layer}.{}", linear.name());
                    self.linear(&name, [rows, columns])?;
                }
            }
            self.layer_norm(&format!("encoder.layer.{layer}.attention.output"))?;
            self.layer_norm(&format!("encoder.layer.{layer}.output"))?;
        }
        self.floats("bert.pooler.dense.weight", &[HIDDEN, HIDDEN])?;
        self.floats("bert.pooler.dense.bias", &[HIDDEN])?;
        self.floats("classifier.weight", &[1, HIDDEN])?;
        self.floats("classifier.bias", &[1])?;
        self.container.add_text("tokenizer.vocabulary", &self.checkpoint.vocabulary);
        self.container.into_bytes()
    }

    fn embeddings(&mut self) -> Result<()> {
        let words = self.weights.matrix("bert.embeddings.word_embeddings.weight", VOCABULARY_SIZE, HIDDEN)?;
        let rounded = Rounded::new(&words);
        let integers: Vec<i8> = rounded.integers.iter().map(|integer| *integer as i8).collect();
        let name = "embeddings.word_embeddings";
        self.container.add_bytes(&format!("{name}.weight"), &[words.rows, words.columns], &integers);
        self.container.add_floats(&format!("{name}.scale"), &[words.rows], &rounded.steps);
        self.floats("bert.embeddings.position_embeddings.weight", &[self.checkpoint.positions, HIDDEN])?;
        self.floats("bert.embeddings.token_type_embeddings.weight", &[2, HIDDEN])?;
        self.layer_norm("embeddings")
    }

    fn linear(&mut self, name: &str, [outputs, inputs]: [usize; 2]) -> Result<()> {
        let rounded = Rounded::new(&self.weights.matrix(&format!("bert.{name}.weight"), outputs, inputs)?);
        self.container.add_floats(&format!("{name}.scale"), &[outputs], &rounded.steps);
        self.container.add_matrix(name, inputs, &rounded.integers)?;
        self.floats(&format!("bert.{name}.bias"), &[outputs])
    }

    fn layer_norm(&mut self, module: &str) -> Result<()> {
        self.floats(&format!("bert.{module}.LayerNorm.weight"), &[HIDDEN])?;
        self.floats(&format!("bert.{module}.LayerNorm.bias"), &[HIDDEN])
    }

    /// Copies a tensor of this shape, without the `bert.` in its name.
    fn floats(&mut self, name: &str, shape: &[usize]) -> Result<()> {
        let values = self.weights.floats(name, shape)?;
        self.container.add_floats(name.strip_prefix("bert.").unwrap_or(name), shape, &values);
        Ok(())
    }
}

/// A matrix of integers with one step per row: value = integer × step.
struct Rounded {
    integers: Vec<i32>,
    steps: Vec<f32>,
}

impl Rounded {
    fn new(matrix: &Matrix) -> Self {
        let mut rounded = Self {
            integers: Vec::with_capacity(matrix.values.len()),
            steps: Vec::with_capacity(matrix.rows),
        };
        for row in matrix.iter() {
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

    #[test]
    fn each_row_has_the_step_of_its_largest_value() {
        let matrix = Matrix::from_values(3, 2, vec![1.27, -0.016, 0.0, 0.0, -254.0, 3.0]);
        let rounded = Rounded::new(&matrix);
        assert_eq!(rounded.integers, [127, -2, 0, 0, -127, 2]);
        assert_eq!(rounded.steps, [1.27 / 127.0, 0.0, 2.0]);
    }
}
