//! Sums of rows of floats, for attention: both of its products have this form.

/// Floats that are computed together.
pub(crate) const LANES: usize = 8;

/// For each list of factors the sum of the rows, each times its factor, in their order. The compiler turns the arrays into
/// vectors.
#[inline(always)]
pub(crate) fn weighted_sums<const N: usize>(
    factors: [&[f32]; N],
    rows: &[[f32; LANES]],
) -> [[f32; LANES]; N] {
    let mut sums = [[0.0; LANES]; N];
    for (at, row) in rows.iter().enumerate() {
        for (sum, factors) in sums.iter_mut().zip(factors) {
            let factor = factors.get(at).copied().unwrap_or_default();
            for (sum, value) in sum.iter_mut().zip(row) {
                *sum += factor * value;
            }
        }
    }
    sums
}
