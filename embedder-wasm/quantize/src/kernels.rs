//! The innermost loop of the matrix product.

/// Size of a tile: the sums of four rows by sixteen columns stay in registers.
pub(crate) const TILE_ROWS: usize = 4;
pub(crate) const TILE_COLUMNS: usize = 16;

/// The sums of a tile.
pub(crate) type Tile = [[f32; TILE_COLUMNS]; TILE_ROWS];

#[cfg(target_arch = "x86_64")]
pub(crate) fn tile_product(rows: [&[f32]; TILE_ROWS], packed: &[[f32; TILE_COLUMNS]]) -> Tile {
    /// The same operations in the same order, eight at a time; AVX2 has no fused multiply-add (that is FMA).
    #[target_feature(enable = "avx2")]
    fn avx2(rows: [&[f32]; TILE_ROWS], packed: &[[f32; TILE_COLUMNS]]) -> Tile {
        tile_product_scalar(rows, packed)
    }
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { avx2(rows, packed) };
    }
    tile_product_scalar(rows, packed)
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn tile_product(rows: [&[f32]; TILE_ROWS], packed: &[[f32; TILE_COLUMNS]]) -> Tile {
    tile_product_scalar(rows, packed)
}

#[inline(always)]
fn tile_product_scalar(rows: [&[f32]; TILE_ROWS], packed: &[[f32; TILE_COLUMNS]]) -> Tile {
    let rows = rows.map(|row| &row[..packed.len()]);
    let mut sums = [[0.0; TILE_COLUMNS]; TILE_ROWS];
    for (k, weights) in packed.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(rows) {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += row[k] * weight;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::tests::random_matrix;

    #[test]
    fn every_sum_has_the_same_bits_as_the_plain_loop() {
        let (left, right) = (random_matrix(TILE_ROWS, 100, 3), random_matrix(100, TILE_COLUMNS, 4));
        let tile = tile_product(std::array::from_fn(|r| left.row(r)), right.values.as_chunks().0);
        for (r, sums) in tile.iter().enumerate() {
            for (c, &actual) in sums.iter().enumerate() {
                let mut sum = 0.0;
                for k in 0..100 {
                    sum += left.row(r)[k] * right.row(k)[c];
                }
                assert_eq!(actual, sum, "row {r}, column {c}");
            }
        }
    }
}
