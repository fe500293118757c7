//! Quantised matrices and the inputs that they are multiplied with.

use super::{BLOCK, InputBlock, MAX_QUANTISED, PANEL, WeightBlock, best, elementary};
use crate::WriterError;
use crate::error::allocate;

/// A matrix of weights, filled row by row.
#[derive(Debug)]
pub(crate) struct Matrix {
    rows: usize,
    blocks_per_row: usize,
    /// For each panel of rows the blocks from left to right.
    panels: Vec<WeightBlock>,
    filled_rows: usize,
}

/// Rows of numbers, quantised: the inputs of a layer for several tokens.
#[derive(Debug)]
pub(crate) struct Inputs {
    blocks_per_row: usize,
    blocks: Vec<InputBlock>,
}

impl Matrix {
    /// Allocates a matrix of zeros. `columns` must be a multiple of [`BLOCK`].
    pub(crate) fn new(rows: usize, columns: usize) -> Result<Self, WriterError> {
        let blocks_per_row = columns / BLOCK;
        let count = rows.div_ceil(PANEL).saturating_mul(blocks_per_row);
        Ok(Self { rows, blocks_per_row, panels: allocate(count, WeightBlock::ZERO)?, filled_rows: 0 })
    }

    /// Quantises the next row. Rows beyond the last are ignored.
    pub(crate) fn push_row(&mut self, row: &[f32]) {
        let lane = self.filled_rows % PANEL;
        let panel = self.panels.chunks_exact_mut(self.blocks_per_row).nth(self.filled_rows / PANEL);
        self.filled_rows += 1;
        let numbers = row.as_chunks::<BLOCK>().0;
        for (block, numbers) in panel.into_iter().flatten().zip(numbers) {
            let (scale, inverse) = scale(numbers);
            if let Some(of_row) = block.scales.get_mut(lane) {
                *of_row = scale;
            }
            for (group, numbers) in block.weights.iter_mut().zip(numbers.as_chunks::<4>().0) {
                let bytes = group.as_chunks_mut::<4>().0.get_mut(lane);
                for (byte, number) in bytes.into_iter().flatten().zip(numbers) {
                    *byte = quantise(*number, inverse) as i8;
                }
            }
        }
    }

    /// Writes one row as numbers; zeros for a row that does not exist.
    pub(crate) fn read_row(&self, row: usize, out: &mut [f32]) {
        let lane = row % PANEL;
        let panel = self.panels.chunks_exact(self.blocks_per_row).nth(row / PANEL);
        out.fill(0.0);
        for (block, numbers) in panel.into_iter().flatten().zip(out.as_chunks_mut::<BLOCK>().0) {
            let scale = block.scales.get(lane).copied().unwrap_or_default();
            for (group, numbers) in block.weights.iter().zip(numbers.as_chunks_mut::<4>().0) {
                let bytes = group.as_chunks::<4>().0.get(lane);
                for (number, byte) in numbers.iter_mut().zip(bytes.into_iter().flatten()) {
                    *number = f32::from(*byte) * scale;
                }
            }
        }
    }

    /// Multiplies every row with every input: `out[input * rows + row]`.
    pub(crate) fn product(&self, inputs: &Inputs, out: &mut Vec<f32>) {
        let count = inputs.count();
        out.clear();
        out.resize(count * self.rows, 0.0);
        if inputs.blocks_per_row != self.blocks_per_row || self.blocks_per_row == 0 {
            return;
        }
        for (at, panel) in self.panels.chunks_exact(self.blocks_per_row).enumerate() {
            let row = at * PANEL;
            let room = self.rows.saturating_sub(row).min(PANEL);
            best::panel(panel, inputs, |input, sums| {
                let start = input * self.rows + row;
                let out = out.get_mut(start..start + room).unwrap_or_default();
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out = sum;
                }
            });
        }
    }
}

impl Inputs {
    pub(crate) fn new() -> Self {
        Self { blocks_per_row: 0, blocks: Vec::new() }
    }

    /// Quantises rows of `columns` numbers, which must be a multiple of [`BLOCK`].
    pub(crate) fn set(&mut self, rows: &[f32], columns: usize) {
        self.blocks_per_row = columns / BLOCK;
        self.blocks.clear();
        self.blocks.extend(rows.as_chunks::<BLOCK>().0.iter().map(InputBlock::new));
    }

    fn count(&self) -> usize {
        self.blocks.len().checked_div(self.blocks_per_row).unwrap_or_default()
    }

    /// The rows in tiles of `N`, and how many these are.
    #[cfg_attr(not(target_arch = "wasm32"), allow(dead_code, reason = "the scalar kernel has no tiles"))]
    pub(super) fn tiles<const N: usize>(&self) -> (impl Iterator<Item = [&[InputBlock]; N]>, usize) {
        let tiles = self.count() / N;
        let row = |at: usize| {
            let start = at * self.blocks_per_row;
            self.blocks.get(start..start + self.blocks_per_row).unwrap_or_default()
        };
        ((0..tiles).map(move |tile| std::array::from_fn(|at| row(tile * N + at))), tiles * N)
    }

    pub(super) fn rows_from(&self, first: usize) -> impl Iterator<Item = &[InputBlock]> {
        self.blocks.chunks_exact(self.blocks_per_row.max(1)).skip(first)
    }
}

impl InputBlock {
    fn new(numbers: &[f32; BLOCK]) -> Self {
        let mut block = Self::ZERO;
        let (scale, inverse) = scale(numbers);
        block.scale = scale;
        for (values, numbers) in block.values.iter_mut().zip(numbers.as_chunks::<4>().0) {
            for (value, number) in values.iter_mut().zip(numbers) {
                *value = quantise(*number, inverse) as i16;
            }
        }
        block
    }
}

/// The scale of a block, and what its numbers are multiplied with.
fn scale(numbers: &[f32; BLOCK]) -> (f32, f32) {
    let magnitudes = numbers.map(f32::abs);
    let largest = elementary::max(&magnitudes, 0.0);
    // A hostile file may have numbers that are not finite, or whose inverse is not. They count as zero.
    let is_usable = largest > 1e-30 && largest.is_finite();
    if is_usable { (largest / MAX_QUANTISED, MAX_QUANTISED / largest) } else { (0.0, 0.0) }
}

fn quantise(number: f32, inverse: f32) -> i32 {
    // Adding and subtracting 1.5 · 2²³ rounds to the nearest integer, ties to even.
    const ROUND: f32 = 12_582_912.0;
    (number * inverse + ROUND - ROUND) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        (0..count as u32)
            .map(|at| {
                (at.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 8) as f32 / (1 << 23) as f32 - 1.0
            })
            .collect()
    }

    fn matrix(rows: usize, columns: usize) -> (Matrix, Vec<f32>) {
        let weights = numbers(rows * columns, 7);
        let mut matrix = Matrix::new(rows, columns).unwrap();
        weights.chunks(columns).for_each(|row| matrix.push_row(row));
        (matrix, weights)
    }

    #[test]
    fn quantised_weights_differ_by_half_a_step_at_most() {
        let (matrix, weights) = matrix(6, 96);
        let mut row = vec![0.0; 96];
        for (at, expected) in weights.chunks(96).enumerate() {
            matrix.read_row(at, &mut row);
            for (block, expected) in row.chunks(BLOCK).zip(expected.chunks(BLOCK)) {
                let largest = expected.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
                for (number, expected) in block.iter().zip(expected) {
                    assert!((number - expected).abs() <= largest / 254.0 * 1.001, "{number} {expected}");
                }
            }
        }
        matrix.read_row(6, &mut row);
        matrix.read_row(600, &mut row);
        assert_eq!(row, [0.0; 96]);
    }

    #[test]
    fn products_of_any_number_of_rows_and_inputs_are_close_to_exact_and_the_same_one_by_one() {
        let columns = 64;
        for (rows, count) in [(1, 1), (3, 2), (4, 4), (5, 5), (8, 7), (9, 33)] {
            let (matrix, weights) = matrix(rows, columns);
            let rows_of_inputs = numbers(count * columns, 99);
            let (mut inputs, mut out, mut single) = (Inputs::new(), Vec::new(), Vec::new());
            inputs.set(&rows_of_inputs, columns);
            matrix.product(&inputs, &mut out);
            assert_eq!(out.len(), rows * count);
            for (input, out) in rows_of_inputs.chunks(columns).zip(out.chunks(rows)) {
                inputs.set(input, columns);
                matrix.product(&inputs, &mut single);
                assert_eq!(single, out, "one by one");
                for (weights, out) in weights.chunks(columns).zip(out) {
                    let exact: f32 = weights.iter().zip(input).map(|(a, b)| a * b).sum();
                    assert!((exact - out).abs() < 0.05, "{exact} {out}");
                }
            }
        }
    }

    #[test]
    fn inputs_of_another_width_give_zeros() {
        let (matrix, _) = matrix(4, 64);
        let (mut inputs, mut out) = (Inputs::new(), Vec::new());
        inputs.set(&numbers(32, 1), 32);
        matrix.product(&inputs, &mut out);
        assert_eq!(out, [0.0; 4]);
    }
}
