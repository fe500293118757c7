//! How the engine rounds the inputs of a linear layer, with the arithmetic of `InputFormat` in the crate `embedder`.
//!
//! A few columns have values many times larger than the others. These *wide* columns get 14 bits, the others 7, with one
//! scale per token. Seven bits are what the fastest instructions multiply.

use rayon::prelude::*;

use crate::matrix::Matrix;

/// Largest magnitude in a wide column.
const MAX_WIDE_INPUT: f32 = 8191.0;
/// Number of integers of a narrow column.
const NARROW_STEPS: f32 = 128.0;

/// The rounding of one linear layer's inputs.
pub(crate) struct InputFormat {
    /// Ascending.
    wide: Vec<i16>,
    is_wide: Vec<bool>,
    /// Integers of narrow columns are `min..min + NARROW_STEPS`.
    min: f32,
}

impl InputFormat {
    /// Makes the `count` columns with the largest magnitudes wide.
    pub(crate) fn choose(inputs: &Matrix, count: usize, min: f32) -> Self {
        let mut max = vec![0.0f32; inputs.columns];
        for row in inputs.iter() {
            for (max, value) in max.iter_mut().zip(row) {
                *max = max.max(value.abs());
            }
        }
        let mut columns: Vec<usize> = (0..inputs.columns).collect();
        columns.sort_by(|&a, &b| max[b].total_cmp(&max[a]).then(a.cmp(&b)));
        columns.truncate(count);
        columns.sort_unstable();
        let mut is_wide = vec![false; inputs.columns];
        columns.iter().for_each(|&column| is_wide[column] = true);
        Self { wide: columns.into_iter().map(|column| column as i16).collect(), is_wide, min }
    }

    /// The wide columns, as the model file lists them.
    pub(crate) fn wide(&self) -> &[i16] {
        &self.wide
    }

    /// Rounds each row like the engine.
    pub(crate) fn round(&self, mut inputs: Matrix) -> Matrix {
        inputs.par_rows_mut().for_each(|row| {
            let scale = self.scale(row);
            if scale > 0.0 {
                let factor = 1.0 / scale;
                row.iter_mut().for_each(|value| *value = (*value * factor).round_ties_even() * scale);
            }
        });
        inputs
    }

    fn scale(&self, row: &[f32]) -> f32 {
        let (mut max, mut negated_min, mut magnitude) = (0.0f32, 0.0f32, 0.0f32);
        for (&value, &is_wide) in row.iter().zip(&self.is_wide) {
            if !is_wide {
                max = max.max(value);
                negated_min = negated_min.max(-value);
            }
            magnitude = magnitude.max(value.abs());
        }
        let narrow = (max / (self.min + NARROW_STEPS - 1.0)).max(negated_min / -self.min);
        narrow.max(magnitude / MAX_WIDE_INPUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_with_the_largest_magnitudes_are_wide() {
        let inputs = Matrix::from_values(2, 4, vec![1.0, -9.0, 0.0, 2.0, 1.0, 0.0, 3.0, -2.0]);
        assert_eq!(InputFormat::choose(&inputs, 2, -64.0).wide(), [1, 2]);
        assert_eq!(InputFormat::choose(&inputs, 3, -64.0).wide(), [1, 2, 3]);
    }

    #[test]
    fn narrow_columns_are_rounded_to_seven_bits_and_wide_columns_with_the_same_step() {
        let inputs = Matrix::from_values(1, 4, vec![63.0, 0.4, -20.6, 1000.3]);
        let format = InputFormat::choose(&inputs, 1, -64.0);
        assert_eq!(format.round(inputs).values, [63.0, 0.0, -21.0, 1000.0]);
        // After GELU almost all values are positive.
        let inputs = Matrix::from_values(1, 4, vec![113.0, -14.0, 0.6, 500.0]);
        let format = InputFormat::choose(&inputs, 1, -14.0);
        assert_eq!(format.round(inputs).values, [113.0, -14.0, 1.0, 500.0]);
    }

    #[test]
    fn zeros_stay_zeros() {
        let format = InputFormat::choose(&Matrix::zeros(1, 8), 1, -64.0);
        assert_eq!(format.round(Matrix::zeros(1, 8)).values, [0.0; 8]);
    }
}
