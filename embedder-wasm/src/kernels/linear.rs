//! A linear layer: `output = inputs · weightsᵀ · scale + bias`.

use super::inputs::{InputFormat, Inputs};
use super::panels::{product, write_channel};
use super::{Kernel, LANES, Lanes, NarrowPanel, Panel, Rows};

/// Weights packed for one kernel.
#[derive(Debug)]
pub(crate) struct Linear {
    channels: usize,
    depth: usize,
    weights: Weights,
    /// What one unit of a weight is worth, per channel.
    scale: Vec<f32>,
    bias: Vec<f32>,
}

#[derive(Debug)]
enum Weights {
    /// i16 panels.
    Wide(Vec<i16>),
    /// i8 panels for [`Kernel::narrow_panel_product`].
    Narrow(Narrow),
}

#[derive(Debug, Default)]
struct Narrow {
    panels: Vec<i8>,
    /// Per channel, what the offsets of the input bytes come to.
    offsets: Vec<i32>,
    /// Parts of weights that do not fit in i8, ascending by channel.
    corrections: Vec<Correction>,
}

#[derive(Debug)]
struct Correction {
    channel: usize,
    column: usize,
    weight: i32,
}

/// A matrix with more weights beyond i8 is faster in i16.
const MOST_CORRECTIONS: usize = 1000;

impl Linear {
    /// Packs `rows` of weights, one per channel; their number must be a multiple of 32, their length `format`'s depth.
    #[inline(always)]
    pub(crate) fn pack<K: Kernel>(
        format: &InputFormat,
        rows: &[i16],
        scale: Vec<f32>,
        bias: Vec<f32>,
    ) -> Self {
        let (depth, channels) = (format.depth(), bias.len());
        let beyond = rows.iter().filter(|weight| i8::try_from(**weight).is_err()).count();
        let rows = rows.chunks_exact(depth);
        let weights = if K::NARROW && beyond <= MOST_CORRECTIONS {
            Weights::Narrow(Narrow::pack::<K>(format, rows, channels))
        } else {
            let mut panels = vec![0; channels * depth];
            for (channel, weights) in rows.enumerate() {
                write_channel::<K, i16, 2>(&mut panels, depth, channel, weights);
            }
            Weights::Wide(panels)
        };
        Self { channels, depth, weights, scale, bias }
    }

    pub(crate) fn channels(&self) -> usize {
        self.channels
    }

    /// The outputs of `rows` rows: row `r` goes to `out[r * stride..][..channels]`.
    #[inline(always)]
    pub(crate) fn apply<K: Kernel>(
        &self,
        inputs: &Inputs,
        rows: usize,
        scratch: &mut [i32],
        out: &mut [f32],
        stride: usize,
    ) {
        let depth = self.depth;
        let values = Rows { values: &inputs.values, stride: depth, count: rows, depth };
        let mut finish = |channel: usize, sums: &mut [i32]| {
            self.finish_panel::<K>(channel, sums, &inputs.scales, out, stride);
        };
        match &self.weights {
            Weights::Wide(panels) => product::<K>(values, panels, self.channels, scratch, finish),
            Weights::Narrow(narrow) => {
                let width = narrow.panels.len() / self.channels;
                let bytes = Rows { values: &inputs.bytes, stride: width, count: rows, depth: width };
                let sums = &mut scratch[..rows * K::WIDTH];
                let mut corrections = narrow.corrections.as_slice();
                let panels =
                    narrow.panels.chunks_exact(K::WIDTH * width).zip(narrow.offsets.chunks_exact(K::WIDTH));
                for (index, (weights, offsets)) in panels.enumerate() {
                    let panel = Panel::new(bytes, weights, 4, K::WIDTH);
                    K::narrow_panel_product(&NarrowPanel::new(panel, width - depth, offsets), sums);
                    let first = index * K::WIDTH;
                    let count =
                        corrections.partition_point(|correction| correction.channel < first + K::WIDTH);
                    let (own, later) = corrections.split_at(count);
                    corrections = later;
                    for correction in own {
                        correction.apply(values, &mut sums[correction.channel - first..], K::WIDTH);
                    }
                    finish(first, sums);
                }
            }
        }
    }

    #[inline(always)]
    fn finish_panel<K: Kernel>(
        &self,
        channel: usize,
        sums: &[i32],
        input_scales: &[f32],
        out: &mut [f32],
        stride: usize,
    ) {
        let (scales, _) = self.scale[channel..][..K::WIDTH].as_chunks::<LANES>();
        let (biases, _) = self.bias[channel..][..K::WIDTH].as_chunks::<LANES>();
        let rows = sums.chunks_exact(K::WIDTH).zip(out.chunks_mut(stride)).zip(input_scales);
        for ((sums, out), input_scale) in rows {
            let input_scale = K::Lanes::splat(*input_scale);
            let (sums, _) = sums.as_chunks::<LANES>();
            let (out, _) = out[channel..][..K::WIDTH].as_chunks_mut::<LANES>();
            for (((sums, out), scale), bias) in sums.iter().zip(out).zip(scales).zip(biases) {
                K::Lanes::from_i32(sums)
                    .mul(K::Lanes::load(scale))
                    .mul(input_scale)
                    .add(K::Lanes::load(bias))
                    .store(out);
            }
        }
    }
}

impl Narrow {
    #[inline(always)]
    fn pack<'a, K: Kernel>(
        format: &InputFormat,
        rows: impl Iterator<Item = &'a [i16]>,
        channels: usize,
    ) -> Self {
        let width = format.high() + format.depth();
        let mut narrow = Self { panels: vec![0; channels * width], ..Self::default() };
        for (channel, weights) in rows.enumerate() {
            let fitting = |weight: i16| weight.clamp(i16::from(i8::MIN), i16::from(i8::MAX));
            let high = format.wide().iter().map(|column| fitting(weights[*column]) as i8);
            let padding = (format.wide().len()..format.high()).map(|_| 0);
            let low = weights.iter().map(|weight| fitting(*weight) as i8);
            let bytes: Vec<i8> = high.chain(padding).chain(low).collect();
            write_channel::<K, i8, 4>(&mut narrow.panels, width, channel, &bytes);
            let fitting: Vec<i16> = weights.iter().map(|weight| fitting(*weight)).collect();
            narrow.offsets.push(format.offset(&fitting));
            narrow.corrections.extend(
                weights
                    .iter()
                    .zip(fitting)
                    .enumerate()
                    .map(|(column, (weight, fitting))| Correction {
                        channel,
                        column,
                        weight: i32::from(*weight) - i32::from(fitting),
                    })
                    .filter(|correction| correction.weight != 0),
            );
        }
        narrow
    }
}

impl Correction {
    /// Adds what is missing from the sums of one channel, `width` apart.
    #[inline(always)]
    fn apply(&self, inputs: Rows<'_, i16>, sums: &mut [i32], width: usize) {
        let column = inputs.values[self.column..].iter().step_by(inputs.stride);
        for (sum, input) in sums.iter_mut().step_by(width).zip(column) {
            *sum += self.weight * i32::from(*input);
        }
    }
}
