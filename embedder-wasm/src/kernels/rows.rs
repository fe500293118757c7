//! Steps that work on one row of activations. Every row length is a multiple of 8.

use super::elementary::{exp, gelu};
use super::{Kernel, LANES, Lanes, MAX_ACTIVATION};

/// Rounds a row to [`MAX_ACTIVATION`] steps on each side of zero; returns the value of one step.
#[inline(always)]
pub(crate) fn quantize<K: Kernel>(kernel: K, row: &[f32], quantized: &mut [i16]) -> f32 {
    let max = max_magnitude(kernel, row);
    quantize_within(kernel, row, max, f32::from(MAX_ACTIVATION), quantized)
}

/// The largest magnitude.
#[inline(always)]
pub(crate) fn max_magnitude<K: Kernel>(kernel: K, row: &[f32]) -> f32 {
    let (chunks, _) = row.as_chunks::<LANES>();
    let zero = kernel.splat(0.0);
    chunks.iter().fold(zero, |max, lanes| max.max(kernel.load(lanes).abs())).max_lane()
}

/// Rounds a row of magnitudes up to `max` to `steps` steps on each side of zero; returns the value of one step.
#[inline(always)]
pub(crate) fn quantize_within<K: Kernel>(
    kernel: K,
    row: &[f32],
    max: f32,
    steps: f32,
    quantized: &mut [i16],
) -> f32 {
    // Also keeps `steps / max` finite.
    if max < 1e-30 {
        quantized.fill(0);
        return 0.0;
    }
    let factor = kernel.splat(steps / max);
    let (chunks, _) = row.as_chunks::<LANES>();
    let (quantized, _) = quantized.as_chunks_mut::<LANES>();
    for (lanes, quantized) in chunks.iter().zip(quantized) {
        kernel.load(lanes).mul(factor).store_i16(quantized);
    }
    max / steps
}

/// `row += other`.
#[inline(always)]
pub(crate) fn add<K: Kernel>(kernel: K, row: &mut [f32], other: &[f32]) {
    let (row, _) = row.as_chunks_mut::<LANES>();
    let (other, _) = other.as_chunks::<LANES>();
    for (lanes, other) in row.iter_mut().zip(other) {
        kernel.load(lanes).add(kernel.load(other)).store(lanes);
    }
}

/// The product of two rows of the same length.
#[inline(always)]
pub(crate) fn dot<K: Kernel>(kernel: K, row: &[f32], other: &[f32]) -> f32 {
    let (row, _) = row.as_chunks::<LANES>();
    let (other, _) = other.as_chunks::<LANES>();
    let products = row.iter().zip(other).map(|(lanes, other)| kernel.load(lanes).mul(kernel.load(other)));
    products.fold(kernel.splat(0.0), |sum, product| sum.add(product)).sum()
}

/// `row = byte · scale` of a row of i8.
#[inline(always)]
pub(crate) fn dequantize<K: Kernel>(kernel: K, bytes: &[u8], scale: f32, row: &mut [f32]) {
    let scale = kernel.splat(scale);
    let (bytes, _) = bytes.as_chunks::<LANES>();
    let (row, _) = row.as_chunks_mut::<LANES>();
    for (bytes, lanes) in bytes.iter().zip(row) {
        kernel.load_i8(bytes).mul(scale).store(lanes);
    }
}

/// Gain and shift of a layer normalisation.
#[derive(Debug)]
pub(crate) struct LayerNorm {
    pub(crate) gain: Vec<f32>,
    pub(crate) shift: Vec<f32>,
}

impl LayerNorm {
    /// Zero mean and unit variance (biased, plus 1e-12 as in BERT's configuration), then gain and shift.
    #[inline(always)]
    pub(crate) fn apply<K: Kernel>(&self, kernel: K, row: &mut [f32]) {
        let count = row.len() as f32;
        let (row, _) = row.as_chunks_mut::<LANES>();
        let (gain, _) = self.gain.as_chunks::<LANES>();
        let (shift, _) = self.shift.as_chunks::<LANES>();
        let zero = kernel.splat(0.0);
        let sum = row.iter().fold(zero, |sum, lanes| sum.add(kernel.load(lanes))).sum();
        let mean = kernel.splat(sum / count);
        let mut squares = zero;
        for lanes in row.iter_mut() {
            let centred = kernel.load(lanes).sub(mean);
            squares = squares.add(centred.mul(centred));
            centred.store(lanes);
        }
        let inverse = kernel.splat(1.0 / (squares.sum() / count + 1e-12).sqrt());
        for ((lanes, gain), shift) in row.iter_mut().zip(gain).zip(shift) {
            kernel.load(lanes).mul(inverse).mul(kernel.load(gain)).add(kernel.load(shift)).store(lanes);
        }
    }
}

/// GELU of every value.
#[inline(always)]
pub(crate) fn activate<K: Kernel>(kernel: K, row: &mut [f32]) {
    let (row, _) = row.as_chunks_mut::<LANES>();
    let (pairs, last) = row.as_chunks_mut::<2>();
    // Two at a time: V8 loads the constants of the expression again in each iteration.
    for [first, second] in pairs {
        let results = (gelu(kernel, kernel.load(first)), gelu(kernel, kernel.load(second)));
        results.0.store(first);
        results.1.store(second);
    }
    for lanes in last {
        gelu(kernel, kernel.load(lanes)).store(lanes);
    }
}

/// Largest magnitude of a quantised value vector of attention: 12 bits and a sign.
pub(crate) const MAX_ATTENTION_VALUE: i16 = 4095;

/// Softmax of the first `count` scores, rounded to integers; returns the value of one unit, 1 / (sum of the integers). The
/// other scores are overwritten, and their weights are 0.
#[inline(always)]
pub(crate) fn softmax_quantize<K: Kernel>(
    kernel: K,
    scores: &mut [f32],
    count: usize,
    weights: &mut [i16],
) -> f32 {
    // Sums of weight · value stay below 2³¹ if the sum of the weights is at most 2³¹ / MAX_ATTENTION_VALUE. Rounding may add half a
    // unit per score, 128 for 256 scores.
    const MAX_SUM: i32 = i32::MAX / MAX_ATTENTION_VALUE as i32;
    let max_sum = (MAX_SUM - 128 * count.div_ceil(256) as i32) as f32;
    scores[count..].fill(f32::MIN);
    let (scores, _) = scores.as_chunks_mut::<LANES>();
    let lowest = kernel.splat(f32::MIN);
    let max = scores.iter().fold(lowest, |max, lanes| max.max(kernel.load(lanes))).max_lane();
    let max = kernel.splat(max);
    let mut sum = kernel.splat(0.0);
    for lanes in scores.iter_mut() {
        let weight = exp(kernel, kernel.load(lanes).sub(max));
        sum = sum.add(weight);
        weight.store(lanes);
    }
    let steps = (max_sum / sum.sum()).min(f32::from(i16::MAX));
    let steps = kernel.splat(steps);
    let mut totals = [0_i32; LANES];
    let (weights, _) = weights.as_chunks_mut::<LANES>();
    for (lanes, weights) in scores.iter().zip(weights) {
        kernel.load(lanes).mul(steps).store_i16(weights);
        for (total, weight) in totals.iter_mut().zip(weights) {
            *total += i32::from(*weight);
        }
    }
    1.0 / totals.iter().sum::<i32>() as f32
}

/// Scales a row to unit length. The floor keeps a zero vector finite, as in torch.nn.functional.normalize.
#[inline(always)]
pub(crate) fn normalize<K: Kernel>(kernel: K, row: &mut [f32]) {
    let (row, _) = row.as_chunks_mut::<LANES>();
    let squares = row.iter().fold(kernel.splat(0.0), |sum, lanes| {
        let lanes = kernel.load(lanes);
        sum.add(lanes.mul(lanes))
    });
    let length = squares.sum().sqrt().max(1e-12);
    for lanes in row {
        kernel.load(lanes).div(kernel.splat(length)).store(lanes);
    }
}
