//! Functions of floats as fixed expressions, so that no math library affects a bit.

use super::LANES;

/// Coefficients of 2^f for f within ±1/2; relative error < 4e-6. They are those of the embedder, whose tests measure them.
const COEFFICIENTS: [f32; 5] = [0.999_999_3, 0.693_121_8, 0.240_247_46, 0.055_918_023, 0.009_570_082];

/// e^x for |x| ≤ 87; beyond, as for the nearer bound. Relative error < 1e-5.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Adding 1.5 · 2²³ rounds to an integer, which is then in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    let power = x.clamp(-87.0, 87.0) * std::f32::consts::LOG2_E;
    let shifted = power + ROUND;
    let fraction = power - (shifted - ROUND);
    let [c0, c1, c2, c3, c4] = COEFFICIENTS;
    let root = (((c4 * fraction + c3) * fraction + c2) * fraction + c1) * fraction + c0;
    let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
    root * scale
}

/// Replaces each x by e^(x - max); returns the sum.
pub(crate) fn exp_below(values: &mut [f32], max: f32) -> f32 {
    for value in values.iter_mut() {
        *value = exp(*value - max);
    }
    sum(values, |value| value)
}

/// gate · σ(gate) · up, in `gate`.
pub(crate) fn silu(gate: &mut [f32], up: &[f32]) {
    for (gate, up) in gate.iter_mut().zip(up) {
        *gate = *gate / (1.0 + exp(-*gate)) * up;
    }
}

/// Divides a vector by the root of its mean square, times `weights`.
pub(crate) fn rms_norm(values: &[f32], weights: &[f32], epsilon: f32, out: &mut [f32]) {
    let mean = sum(values, |value| value * value) / values.len().max(1) as f32;
    let factor = 1.0 / (mean + epsilon).sqrt();
    for ((out, value), weight) in out.iter_mut().zip(values).zip(weights) {
        *out = value * factor * weight;
    }
}

/// The largest value, but at least `least`. `f32::max` would be a call for each value in WebAssembly, because of NaN.
#[inline(always)]
pub(crate) fn max(values: &[f32], least: f32) -> f32 {
    let higher = |a: f32, b: f32| if b > a { b } else { a };
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [least; LANES];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = higher(*lane, *value);
        }
    }
    lanes.into_iter().chain(rest.iter().copied()).fold(least, higher)
}

/// A sum in a fixed order: lane by lane, then over the lanes.
#[inline(always)]
fn sum(values: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += term(*value);
        }
    }
    lanes.into_iter().chain(rest.iter().map(|value| term(*value))).fold(0.0, |sum, value| sum + value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_within_its_error_bound() {
        for step in -8700..=8700_i16 {
            let x = f32::from(step) / 100.0;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp(x)) - exact).abs() / exact;
            assert!(error < 1e-5 + 1e-7 * f64::from(x.abs()), "exp({x}) is off by {error:e}");
        }
        assert!(exp(-1e30) < 1e-37 && exp(1e30).is_finite() && exp(f32::NEG_INFINITY) < 1e-37);
    }

    #[test]
    fn silu_of_large_values_is_the_value_or_zero() {
        let mut gate = [0.0, 100.0, -100.0, 1.0];
        silu(&mut gate, &[1.0, 1.0, 1.0, 2.0]);
        assert_eq!(gate[0], 0.0);
        assert!((gate[1] - 100.0).abs() < 1e-3 && gate[2].abs() < 1e-3);
        assert!((gate[3] - 2.0 / (1.0 + (-1.0_f32).exp())).abs() < 1e-5);
    }

    #[test]
    fn a_normalised_vector_has_a_mean_square_of_one() {
        let values: Vec<f32> = (0..50_u8).map(f32::from).collect();
        let mut out = vec![0.0; values.len()];
        rms_norm(&values, &[1.0; 50], 0.0, &mut out);
        let mean = out.iter().map(|value| value * value).sum::<f32>() / 50.0;
        assert!((mean - 1.0).abs() < 1e-5, "{mean}");
    }
}
