//! A linear layer: `output = inputs · weightsᵀ · scale + bias`.

use super::inputs::{InputFormat, Inputs};
use super::matrix::Matrix;
use super::panels::write_channel;
use super::segments::Segments;
use super::{BytePanel, Kernel, LANES, Lanes, Panel, Rows};

/// Weights packed for one kernel.
#[derive(Debug)]
pub(crate) struct Linear {
    channels: usize,
    depth: usize,
    weights: Weights,
    /// The value of one unit of a weight, per channel.
    scale: Vec<f32>,
    bias: Vec<f32>,
}

#[derive(Debug)]
enum Weights {
    /// Panels for [`Kernel::panel_product`].
    I16(Vec<i16>),
    /// Panels for [`Kernel::byte_panel_product`].
    Bytes(ByteWeights),
}

#[derive(Debug)]
struct ByteWeights {
    panels: Vec<i8>,
    /// Per channel, the contribution of the offsets of the input bytes.
    offsets: Vec<i32>,
    segments: Segments,
    /// The part of large weights that does not fit in i8, ascending by channel.
    corrections: Vec<Correction>,
}

#[derive(Debug)]
struct Correction {
    channel: usize,
    column: usize,
    weight: i32,
}

/// A matrix with more weights outside of i8 is faster in i16.
const MAX_CORRECTIONS: usize = 1500;

impl Linear {
    /// Packs weights; the number of channels must be a multiple of 32.
    #[inline(always)]
    pub(crate) fn pack<K: Kernel>(
        format: &InputFormat,
        matrix: &Matrix<'_>,
        scale: Vec<f32>,
        bias: Vec<f32>,
    ) -> Self {
        let (depth, channels) = (matrix.depth, bias.len());
        let weights = if format.suits_bytes::<K>() && matrix.large.len() <= MAX_CORRECTIONS {
            Weights::Bytes(ByteWeights::pack::<K>(format, matrix, channels))
        } else {
            let (mut panels, mut weights) = (vec![0; channels * depth], vec![0; depth]);
            for (channel, row) in matrix.rows().enumerate() {
                row.write(&mut weights);
                write_channel::<K, i16, 2>(&mut panels, depth, channel, &weights);
            }
            Weights::I16(panels)
        };
        Self { channels, depth, weights, scale, bias }
    }

    pub(crate) fn channels(&self) -> usize {
        self.channels
    }

    /// Computes the outputs of `rows` rows: those of row `r` are `out[r * stride..][..channels]`.
    #[inline(always)]
    pub(crate) fn apply<K: Kernel>(
        &self,
        kernel: K,
        inputs: &Inputs,
        rows: usize,
        scratch: &mut [i32],
        out: &mut [f32],
        stride: usize,
    ) {
        let depth = self.depth;
        let values = Rows { values: &inputs.values, stride: depth, count: rows, depth };
        let sums = &mut scratch[..rows * K::WIDTH];
        let finish = Finish { linear: self, input_scales: &inputs.scales, stride };
        match &self.weights {
            // Loops, not closures: code that works on lanes must be inlined here.
            Weights::I16(panels) => {
                for (index, weights) in panels.chunks_exact(K::WIDTH * depth).enumerate() {
                    kernel.panel_product(Panel { rows: values, weights }, sums);
                    finish.panel(kernel, index * K::WIDTH, sums, out);
                }
            }
            Weights::Bytes(packed) => {
                let width = packed.panels.len() / self.channels;
                let bytes = Rows { values: &inputs.bytes, stride: width, count: rows, depth: width };
                let mut corrections = packed.corrections.as_slice();
                let panels =
                    packed.panels.chunks_exact(K::WIDTH * width).zip(packed.offsets.chunks_exact(K::WIDTH));
                let ends = packed.segments.ends.split_inclusive(|end| *end == width / 4);
                let mut starts = packed.segments.starts.as_slice();
                for (index, ((weights, offsets), ends)) in panels.zip(ends).enumerate() {
                    let own_starts = if K::ADDS_IN_I16 { ends.len() * 2 * K::WIDTH } else { 0 };
                    let (own_starts, later_starts) = starts.split_at(own_starts);
                    starts = later_starts;
                    let high = width - depth;
                    let panel = BytePanel { rows: bytes, weights, high, offsets, ends, starts: own_starts };
                    kernel.byte_panel_product(panel, sums);
                    let first = index * K::WIDTH;
                    let count =
                        corrections.partition_point(|correction| correction.channel < first + K::WIDTH);
                    let (own, later) = corrections.split_at(count);
                    corrections = later;
                    for correction in own {
                        correction.apply(values, &mut sums[correction.channel - first..], K::WIDTH);
                    }
                    finish.panel(kernel, first, sums, out);
                }
            }
        }
    }
}

/// Turns the sums of a panel into outputs.
struct Finish<'a> {
    linear: &'a Linear,
    input_scales: &'a [f32],
    stride: usize,
}

impl Finish<'_> {
    #[inline(always)]
    fn panel<K: Kernel>(&self, kernel: K, channel: usize, sums: &[i32], out: &mut [f32]) {
        let (scales, _) = self.linear.scale[channel..][..K::WIDTH].as_chunks::<LANES>();
        let (biases, _) = self.linear.bias[channel..][..K::WIDTH].as_chunks::<LANES>();
        let rows = sums.chunks_exact(K::WIDTH).zip(out.chunks_mut(self.stride)).zip(self.input_scales);
        for ((sums, out), input_scale) in rows {
            let input_scale = kernel.splat(*input_scale);
            let (sums, _) = sums.as_chunks::<LANES>();
            let (out, _) = out[channel..][..K::WIDTH].as_chunks_mut::<LANES>();
            for (((sums, out), scale), bias) in sums.iter().zip(out).zip(scales).zip(biases) {
                kernel
                    .load_i32(sums)
                    .mul(kernel.load(scale))
                    .mul(input_scale)
                    .add(kernel.load(bias))
                    .store(out);
            }
        }
    }
}

impl ByteWeights {
    #[inline(always)]
    fn pack<K: Kernel>(format: &InputFormat, matrix: &Matrix<'_>, channels: usize) -> Self {
        let width = format.high() + matrix.depth;
        let mut packed = Self {
            panels: vec![0; channels * width],
            offsets: Vec::with_capacity(channels),
            segments: Segments::default(),
            corrections: Vec::with_capacity(matrix.large.len()),
        };
        let mut weights = vec![0; width];
        for (channel, row) in matrix.rows().enumerate() {
            let (high, low) = weights.split_at_mut(format.high());
            row.write(low);
            for (high, column) in high.iter_mut().zip(format.wide()) {
                *high = low[*column];
            }
            packed.offsets.push(format.offset(low));
            for large in row.large {
                let weight = i32::from(large.weight) - i32::from(low[large.column]);
                packed.corrections.push(Correction { channel, column: large.column, weight });
            }
            write_channel::<K, i8, 4>(&mut packed.panels, width, channel, &weights);
        }
        let offsets = packed.offsets.chunks_exact_mut(K::WIDTH);
        for (panel, offsets) in packed.panels.chunks_exact(K::WIDTH * width).zip(offsets) {
            packed.segments.push::<K>(panel, format.high() / 4, offsets);
        }
        packed
    }
}

impl Correction {
    /// Adds the correction to the sums of one channel, which are `width` apart.
    #[inline(always)]
    fn apply(&self, inputs: Rows<'_, i16>, sums: &mut [i32], width: usize) {
        let column = inputs.values[self.column..].iter().step_by(inputs.stride);
        for (sum, input) in sums.iter_mut().step_by(width).zip(column) {
            *sum += self.weight * i32::from(*input);
        }
    }
}
