//! Dense float32 matrices and their product.

use rayon::prelude::*;

use crate::kernels::{TILE_COLUMNS, TILE_ROWS, tile_product};

/// Terms added before the sum is written to memory: this part of a packed tile stays in the first-level cache.
const PANEL: usize = 256;

/// Row-major.
#[derive(Clone)]
pub(crate) struct Matrix {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) values: Vec<f32>,
}

impl Matrix {
    pub(crate) fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, values: vec![0.0; rows * columns] }
    }

    pub(crate) fn from_values(rows: usize, columns: usize, values: Vec<f32>) -> Self {
        assert_eq!(values.len(), rows * columns, "a matrix of {rows} x {columns}");
        Self { rows, columns, values }
    }

    pub(crate) fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.columns..][..self.columns]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[f32]> {
        self.values.chunks_exact(self.columns)
    }

    pub(crate) fn par_rows_mut(&mut self) -> impl IndexedParallelIterator<Item = &mut [f32]> {
        self.values.par_chunks_exact_mut(self.columns)
    }

    pub(crate) fn transposed(&self) -> Self {
        let values = (0..self.columns).flat_map(|c| self.iter().map(move |row| row[c])).collect();
        Self::from_values(self.columns, self.rows, values)
    }
}

/// The right factor of a product: its columns in row-major tiles, the last tile padded with 0.
pub(crate) struct Packed {
    rows: usize,
    columns: usize,
    tiles: Vec<f32>,
}

impl Packed {
    pub(crate) fn new(matrix: &Matrix) -> Self {
        let mut tiles = vec![0.0; matrix.columns.div_ceil(TILE_COLUMNS) * matrix.rows * TILE_COLUMNS];
        for (tile, first) in
            tiles.chunks_exact_mut(matrix.rows * TILE_COLUMNS).zip((0..matrix.columns).step_by(TILE_COLUMNS))
        {
            let width = TILE_COLUMNS.min(matrix.columns - first);
            for (to, from) in tile.chunks_exact_mut(TILE_COLUMNS).zip(matrix.iter()) {
                to[..width].copy_from_slice(&from[first..first + width]);
            }
        }
        Self { rows: matrix.rows, columns: matrix.columns, tiles }
    }

    fn tile(&self, index: usize) -> &[[f32; TILE_COLUMNS]] {
        let length = self.rows * TILE_COLUMNS;
        self.tiles[index * length..][..length].as_chunks().0
    }
}

/// `left` × `right`. Each result is a sum of sums of [`PANEL`] terms, both in index order.
pub(crate) fn product(left: &Matrix, right: &Packed) -> Matrix {
    product_from(left, right, |_| 0)
}

/// The upper triangle of the square matrix `left` × `right`. The values below it are undefined.
pub(crate) fn upper_product(left: &Matrix, right: &Packed) -> Matrix {
    product_from(left, right, |row| row / TILE_COLUMNS)
}

fn product_from(left: &Matrix, right: &Packed, first_tile: impl Fn(usize) -> usize + Sync) -> Matrix {
    assert_eq!(left.columns, right.rows, "inner dimensions");
    let mut out = Matrix::zeros(left.rows, right.columns);
    if left.columns == 0 || right.columns == 0 {
        return out;
    }
    let block = TILE_ROWS * 8;
    out.values.par_chunks_mut(block * right.columns).enumerate().for_each(|(index, out)| {
        let first_row = index * block;
        for start in (0..left.columns).step_by(PANEL) {
            let panel = start..(start + PANEL).min(left.columns);
            for tile in first_tile(first_row)..right.columns.div_ceil(TILE_COLUMNS) {
                let column = tile * TILE_COLUMNS;
                let width = TILE_COLUMNS.min(right.columns - column);
                let packed = &right.tile(tile)[panel.clone()];
                for (group, out) in out.chunks_mut(TILE_ROWS * right.columns).enumerate() {
                    let row = first_row + group * TILE_ROWS;
                    // The last group may be short: it repeats a row and discards the result.
                    let rows: [&[f32]; TILE_ROWS] =
                        std::array::from_fn(|r| &left.row((row + r).min(left.rows - 1))[panel.clone()]);
                    let sums = tile_product(rows, packed);
                    for (out, sums) in out.chunks_exact_mut(right.columns).zip(&sums) {
                        for (out, sum) in out[column..column + width].iter_mut().zip(sums) {
                            *out += sum;
                        }
                    }
                }
            }
        }
    });
    out
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::calibration::Random;

    pub(crate) fn random_matrix(rows: usize, columns: usize, seed: u64) -> Matrix {
        let mut random = Random::new(seed);
        Matrix::from_values(rows, columns, (0..rows * columns).map(|_| random.centred() as f32).collect())
    }

    #[test]
    fn the_product_is_exact_for_every_remainder_of_the_tiles() {
        for (rows, inner, columns) in [(1, 1, 1), (3, 5, 7), (4, 256, 16), (37, 300, 33), (64, 512, 48)] {
            let (left, right) = (random_matrix(rows, inner, 1), random_matrix(inner, columns, 2));
            let out = product(&left, &Packed::new(&right));
            for r in 0..rows {
                for c in 0..columns {
                    let exact: f64 =
                        (0..inner).map(|k| f64::from(left.row(r)[k]) * f64::from(right.row(k)[c])).sum();
                    let error = (f64::from(out.row(r)[c]) - exact).abs();
                    assert!(error < 1e-4, "{rows} x {inner} x {columns} at {r}, {c}: off by {error}");
                }
            }
        }
    }

    #[test]
    fn the_upper_product_is_the_upper_triangle_of_the_product() {
        let x = random_matrix(30, 70, 5);
        let (left, right) = (x.transposed(), Packed::new(&x));
        let (full, upper) = (product(&left, &right), upper_product(&left, &right));
        for r in 0..70 {
            assert_eq!(full.row(r)[r..], upper.row(r)[r..]);
        }
    }
}
