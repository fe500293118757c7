//! Steps that work on one row of activations. Every row length is a multiple of 8.

use super::elementary::{exp, gelu};
use super::{ACTIVATION_MAX, Kernel, LANES, Lanes};

/// Rounds a row to [`ACTIVATION_MAX`] steps on each side of zero; returns what one step is worth.
#[inline(always)]
pub(crate) fn quantize<K: Kernel>(kernel: K, row: &[f32], quantized: &mut [i16]) -> f32 {
    let greatest = greatest_magnitude(kernel, row);
    quantize_within(kernel, row, greatest, f32::from(ACTIVATION_MAX), quantized)
}

/// Greatest absolute value.
#[inline(always)]
pub(crate) fn greatest_magnitude<K: Kernel>(kernel: K, row: &[f32]) -> f32 {
    let (chunks, _) = row.as_chunks::<LANES>();
    let zero = kernel.splat(0.0);
    chunks.iter().fold(zero, |greatest, lanes| greatest.max(kernel.load(lanes).abs())).max_lane()
}

/// Rounds a row whose absolute values are at most `greatest` to `steps` steps on each side of zero; returns what one
/// step is worth.
#[inline(always)]
pub(crate) fn quantize_within<K: Kernel>(
    kernel: K,
    row: &[f32],
    greatest: f32,
    steps: f32,
    quantized: &mut [i16],
) -> f32 {
    // Also keeps `steps / greatest` finite.
    if greatest < 1e-30 {
        quantized.fill(0);
        return 0.0;
    }
    let factor = kernel.splat(steps / greatest);
    let (chunks, _) = row.as_chunks::<LANES>();
    let (quantized, _) = quantized.as_chunks_mut::<LANES>();
    for (lanes, quantized) in chunks.iter().zip(quantized) {
        kernel.load(lanes).mul(factor).store_i16(quantized);
    }
    greatest / steps
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
    for lanes in row {
        gelu(kernel, kernel.load(lanes)).store(lanes);
    }
}

/// Greatest absolute value of a quantised value vector of attention: 12 bits and a sign.
pub(crate) const VALUE_MAX: i16 = 4095;

/// Softmax of the first `count` scores, rounded to i16 so that each row is a weighting by integers; returns what one
/// unit of weight is worth, 1 / (sum of the integers). The other scores are overwritten and their weights are 0.
#[inline(always)]
pub(crate) fn softmax_quantize<K: Kernel>(
    kernel: K,
    scores: &mut [f32],
    count: usize,
    weights: &mut [i16],
) -> f32 {
    // Sums of weight · value stay below 2³¹ if the weights add up to at most 2³¹ / VALUE_MAX. Rounding may add half a
    // unit for each score, 128 in all for up to 256 of them.
    const SUM_LIMIT: i32 = i32::MAX / VALUE_MAX as i32;
    let greatest_sum = (SUM_LIMIT - 128 * count.div_ceil(256) as i32) as f32;
    scores[count..].fill(f32::MIN);
    let (scores, _) = scores.as_chunks_mut::<LANES>();
    let lowest = kernel.splat(f32::MIN);
    let greatest = scores.iter().fold(lowest, |greatest, lanes| greatest.max(kernel.load(lanes))).max_lane();
    let greatest = kernel.splat(greatest);
    let mut sum = kernel.splat(0.0);
    for lanes in scores.iter_mut() {
        let weight = exp(kernel, kernel.load(lanes).sub(greatest));
        sum = sum.add(weight);
        weight.store(lanes);
    }
    let steps = (greatest_sum / sum.sum()).min(f32::from(i16::MAX));
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

/// Scales a row to unit length; the floor keeps a zero vector finite (torch.nn.functional.normalize has the same).
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
