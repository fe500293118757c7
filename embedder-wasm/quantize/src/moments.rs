//! Means and covariances of a linear layer's inputs and of the error that rounding compensates.

use crate::calibration::Batch;
use crate::linear_algebra::Square;
use crate::matrix::{Matrix, Packed, product, upper_product};

/// Tokens whose sums are computed in float32 before they are added in float64.
const CHUNK: usize = 2048;

/// The mean of each column, weighted by the shares of the tokens.
pub(crate) fn mean(matrix: &Matrix, batch: &Batch) -> Vec<f64> {
    let mut mean = vec![0.0; matrix.columns];
    for (row, &share) in matrix.iter().zip(&batch.shares) {
        for (mean, &value) in mean.iter_mut().zip(row) {
            *mean += f64::from(share) * f64::from(value);
        }
    }
    mean
}

/// The covariance of the columns; only the upper triangle is filled.
pub(crate) fn covariance(matrix: &Matrix, mean: &[f64], batch: &Batch) -> Square {
    let mut sums = Square { order: matrix.columns, values: vec![0.0; matrix.columns * matrix.columns] };
    for start in (0..matrix.rows).step_by(CHUNK) {
        let rows = centred(matrix, mean, batch, start);
        add(&mut sums.values, &upper_product(&rows.transposed(), &Packed::new(&rows)));
    }
    sums
}

/// The covariance of each column of `left` (a row of the result) with each of `right`; row-major.
pub(crate) fn cross_covariance(
    (left, left_mean): (&Matrix, &[f64]),
    (right, right_mean): (&Matrix, &[f64]),
    batch: &Batch,
) -> Vec<f64> {
    let mut sums = vec![0.0; left.columns * right.columns];
    for start in (0..left.rows).step_by(CHUNK) {
        let left = centred(left, left_mean, batch, start);
        let right = centred(right, right_mean, batch, start);
        add(&mut sums, &product(&left.transposed(), &Packed::new(&right)));
    }
    sums
}

/// A chunk of centred rows, each multiplied by the square root of its share.
fn centred(matrix: &Matrix, mean: &[f64], batch: &Batch, start: usize) -> Matrix {
    let rows = CHUNK.min(matrix.rows - start);
    let mut chunk = Matrix::from_values(
        rows,
        matrix.columns,
        matrix.values[start * matrix.columns..][..rows * matrix.columns].to_vec(),
    );
    for (row, share) in chunk.values.chunks_exact_mut(matrix.columns).zip(&batch.shares[start..]) {
        let factor = f64::from(*share).sqrt();
        for (value, mean) in row.iter_mut().zip(mean) {
            *value = ((f64::from(*value) - mean) * factor) as f32;
        }
    }
    chunk
}

fn add(sums: &mut [f64], terms: &Matrix) {
    sums.iter_mut().zip(&terms.values).for_each(|(sum, &term)| *sum += f64::from(term));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch() -> Batch {
        Batch::single(&[0.5, 0.25, 0.25])
    }

    #[test]
    fn mean_and_covariance_weight_each_token_by_its_share() {
        let matrix = Matrix::from_values(3, 2, vec![0.0, 4.0, 2.0, 0.0, 2.0, 0.0]);
        let mean = mean(&matrix, &batch());
        assert_eq!(mean, [1.0, 2.0]);
        let covariance = covariance(&matrix, &mean, &batch());
        assert_eq!((covariance.at(0, 0), covariance.at(0, 1), covariance.at(1, 1)), (1.0, -2.0, 4.0));
    }

    #[test]
    fn the_cross_covariance_has_one_row_per_column_of_the_left() {
        let left = Matrix::from_values(3, 1, vec![1.0, -1.0, -1.0]);
        let right = Matrix::from_values(3, 2, vec![0.0, 4.0, 2.0, 0.0, 2.0, 0.0]);
        let cross = cross_covariance((&left, &[0.0]), (&right, &[1.0, 2.0]), &batch());
        assert_eq!(cross, [-1.0, 2.0]);
    }
}
