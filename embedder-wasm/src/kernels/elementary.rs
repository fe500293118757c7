//! exp and the normal distribution function as fixed expressions, so that no math library affects a bit.
//!
//! Coefficients are our own minimax fits (iteratively reweighted least squares in f64 at Chebyshev nodes, rounded to
//! f32); the tests below measure their errors.

use super::{Kernel, Lanes};

/// e to the power of each lane, for lanes ≤ 0; below -87 as for -87 (1.6e-38). Relative error < 4e-6 + 1e-7 · |x|, which
/// is well below the resolution of attention weights (3e-5).
#[inline(always)]
pub(super) fn exp<K: Kernel>(kernel: K, x: K::Lanes) -> K::Lanes {
    // e^x = 2^t with t = x · log₂ e, and 2^t = 2^n · 2^f with f in ±1/2.
    const COEFFICIENTS: [f32; 5] = [0.999_999_3, 0.693_121_8, 0.240_247_46, 0.055_918_023, 0.009_570_082];
    let (power, fraction) =
        x.max(kernel.splat(-87.0)).mul(kernel.splat(std::f32::consts::LOG2_E)).split_exponent();
    polynomial(kernel, fraction, &COEFFICIENTS).mul(power)
}

/// GELU, x · Φ(x), with the exact normal distribution function Φ, as in BERT. Absolute error of Φ < 2e-6: its
/// result is rounded to 7 bits.
#[inline(always)]
pub(super) fn gelu<K: Kernel>(kernel: K, x: K::Lanes) -> K::Lanes {
    // Φ(x) = 1/2 + x · P(x²)/Q(x²) within ±5.25, beyond which Φ is 0 or 1 to 2e-6.
    const LIMIT: f32 = 5.25;
    const P: [f32; 4] = [0.398_949_92, 0.029_712_047, 0.004_251_939, 5.877_495_3e-5];
    const Q: [f32; 5] = [1.0, 0.241_232_26, 0.025_747_264, 0.001_453_526_9, 3.434_678_3e-6];
    let limited = x.max(kernel.splat(-LIMIT)).min(kernel.splat(LIMIT));
    let square = limited.mul(limited);
    let ratio = polynomial(kernel, square, &P).div(polynomial(kernel, square, &Q));
    x.mul(limited.mul(ratio).add(kernel.splat(0.5)))
}

/// Horner's rule; the constant term comes first.
#[inline(always)]
fn polynomial<K: Kernel, const N: usize>(kernel: K, x: K::Lanes, coefficients: &[f32; N]) -> K::Lanes {
    let mut result = kernel.splat(coefficients[N - 1]);
    for coefficient in coefficients[..N - 1].iter().rev() {
        result = result.mul(x).add(kernel.splat(*coefficient));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::super::scalar::{Scalar, ScalarLanes};
    use super::*;

    fn steps(from: f32, to: f32, count: u16) -> impl Iterator<Item = f32> {
        (0..=count).map(move |i| from + (to - from) * f32::from(i) / f32::from(count))
    }

    fn one(f: impl Fn(Scalar, ScalarLanes) -> ScalarLanes, x: f32) -> f32 {
        f(Scalar, Scalar.splat(x)).to_array()[7]
    }

    #[test]
    fn exp_is_within_its_error_bound() {
        for x in steps(-87.0, 0.0, 50_000) {
            let exact = f64::from(x).exp();
            let error = (f64::from(one(exp, x)) - exact).abs() / exact;
            assert!(error < 4e-6 - 1e-7 * f64::from(x), "exp({x}) is off by {error:e}");
        }
    }

    #[test]
    fn exp_of_zero_is_one_and_of_very_low_values_almost_zero() {
        assert!((one(exp, 0.0) - 1.0).abs() < 4e-6);
        for x in [-87.0, -88.0, -1e4, -1e30, f32::MIN] {
            let value = one(exp, x);
            assert!(value > 0.0 && value < 2e-38, "exp({x}) = {value:e}");
        }
    }

    #[test]
    fn gelu_is_within_its_error_bound() {
        // Φ(x) by the trapezoidal rule over the density, in f64, from 0 upwards.
        let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let (mut phi, step) = (0.5, 1e-4);
        for i in 0..60_000_u32 {
            let x = f64::from(i) * step;
            if i % 100 == 0 {
                for (x, phi) in [(x, phi), (-x, 1.0 - phi)] {
                    let error = (f64::from(one(gelu, x as f32)) - x * phi).abs();
                    assert!(error <= 2e-6 * x.abs(), "gelu({x}) is off by {error:e}");
                }
            }
            phi += (density(x) + density(x + step)) / 2.0 * step;
        }
    }

    #[test]
    fn gelu_of_large_values_is_the_value_or_zero() {
        assert!((one(gelu, 1000.0) - 1000.0).abs() < 2e-3);
        assert!(one(gelu, -1000.0).abs() < 2e-3);
    }
}
