//! The dense layers after a reader's encoder, in floats.

use super::elementary::exp;
use super::{Kernel, LANES, Lanes};

/// `out[channel]` is the product of the input and a row of `weights`, `[out][input]`. The input's length must be a
/// multiple of 8.
#[inline(always)]
pub(crate) fn multiply<K: Kernel>(kernel: K, weights: &[f32], input: &[f32], out: &mut [f32]) {
    let (input_lanes, _) = input.as_chunks::<LANES>();
    for (out, row) in out.iter_mut().zip(weights.chunks_exact(input.len())) {
        let (row, _) = row.as_chunks::<LANES>();
        let mut sum = kernel.splat(0.0);
        for (weights, input) in row.iter().zip(input_lanes) {
            sum = sum.add(kernel.load(weights).mul(kernel.load(input)));
        }
        *out = sum.sum();
    }
}

/// tanh of every value. The row's length must be a multiple of 8.
#[inline(always)]
pub(crate) fn tanh<K: Kernel>(kernel: K, row: &mut [f32]) {
    let (row, _) = row.as_chunks_mut::<LANES>();
    for lanes in row {
        tanh_of(kernel, kernel.load(lanes)).store(lanes);
    }
}

/// Absolute error < 5e-6.
#[inline(always)]
fn tanh_of<K: Kernel>(kernel: K, x: K::Lanes) -> K::Lanes {
    // For larger magnitudes tanh is ±1 to within 4e-8.
    const LIMIT: f32 = 9.0;
    let limited = x.max(kernel.splat(-LIMIT)).min(kernel.splat(LIMIT));
    let one = kernel.splat(1.0);
    one.sub(kernel.splat(2.0).div(exp(kernel, limited.add(limited)).add(one)))
}

#[cfg(test)]
mod tests {
    use super::super::scalar::Scalar;
    use super::*;

    #[test]
    fn tanh_is_within_its_error_bound() {
        for step in -60_000..=60_000_i32 {
            let x = step as f32 * 0.001;
            let error = f64::from(tanh_of(Scalar, Scalar.splat(x)).to_array()[3]) - f64::from(x).tanh();
            assert!(error.abs() < 5e-6, "tanh({x}) is off by {error:e}");
        }
        for x in [f32::MAX, f32::MIN, 1e30] {
            assert!((tanh_of(Scalar, Scalar.splat(x)).to_array()[0] - x.signum()).abs() < 1e-6);
        }
    }

    #[test]
    fn a_product_has_one_output_for_each_row_of_weights() {
        let mut out = [7.0; 2];
        let weights: Vec<f32> = (0..32).map(|i| i as f32).collect();
        let mut input = [0.0; 16];
        (input[0], input[9]) = (1.0, 10.0);
        multiply(Scalar, &weights, &input, &mut out);
        assert_eq!(out, [90.0, 16.0 + 250.0]);
    }
}
