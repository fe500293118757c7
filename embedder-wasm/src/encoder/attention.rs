//! Multi-head attention within each text. Its two matrix products are exact integers, like all
//! others.

use super::scratch::AttentionScratch;
use super::{HEAD_DIMENSIONS, HEADS};
use crate::DIMENSIONS;
use crate::kernels::{Kernel, LANES, Lanes, Rows, product, rows, write_channel, write_pair};

pub(super) struct Attention<'a> {
    pub(super) scratch: &'a mut AttentionScratch,
    pub(super) sums: &'a mut [i32],
}

/// Width of a row: query, key and value.
const STRIDE: usize = 3 * DIMENSIONS;

impl Attention<'_> {
    /// `projected`: `[rows][STRIDE]` of all texts; `out`: `[rows][DIMENSIONS]`.
    #[inline(always)]
    pub(super) fn run<K: Kernel>(
        &mut self,
        kernel: K,
        projected: &[f32],
        lengths: &[usize],
        out: &mut [f32],
    ) {
        let (mut projected, mut out) = (projected, out);
        for length in lengths {
            let (text, projected_rest) = projected.split_at(length * STRIDE);
            let (text_out, out_rest) = out.split_at_mut(length * DIMENSIONS);
            self.attend_text(kernel, text, *length, text_out);
            (projected, out) = (projected_rest, out_rest);
        }
    }

    #[inline(always)]
    fn attend_text<K: Kernel>(&mut self, kernel: K, projected: &[f32], tokens: usize, out: &mut [f32]) {
        let scratch = &mut *self.scratch;
        for (token, row) in projected.chunks_exact(STRIDE).enumerate() {
            let place = token * DIMENSIONS..(token + 1) * DIMENSIONS;
            scratch.query_scales[token] =
                rows::quantize(kernel, &row[..DIMENSIONS], &mut scratch.queries[place.clone()])
                    / (HEAD_DIMENSIONS as f32).sqrt();
            scratch.key_scales[token] =
                rows::quantize(kernel, &row[DIMENSIONS..2 * DIMENSIONS], &mut scratch.keys[place]);
        }
        for head in 0..HEADS {
            self.score(kernel, head, tokens);
            self.softmax(kernel, tokens);
            self.sum_values(kernel, projected, head, tokens, out);
        }
    }

    /// `scores[token][other]`: query · key / √dimensions.
    #[inline(always)]
    fn score<K: Kernel>(&mut self, kernel: K, head: usize, tokens: usize) {
        let AttentionScratch { queries, query_scales, keys, key_scales, key_panels, scores, .. } =
            &mut *self.scratch;
        let offset = head * HEAD_DIMENSIONS;
        for (token, key) in keys.chunks_exact(DIMENSIONS).take(tokens).enumerate() {
            write_channel::<K, i16, 2>(key_panels, HEAD_DIMENSIONS, token, &key[offset..][..HEAD_DIMENSIONS]);
        }
        let width = padded(tokens);
        let queries =
            Rows { values: &queries[offset..], stride: DIMENSIONS, count: tokens, depth: HEAD_DIMENSIONS };
        product(kernel, queries, key_panels, tokens, self.sums, |first, sums| {
            // Channels after the last token are left over from other texts and never read.
            let count = K::WIDTH.min(width - first);
            let (key_scales, _) = key_scales[first..][..count].as_chunks::<LANES>();
            let rows =
                sums.chunks_exact(K::WIDTH).zip(scores.chunks_exact_mut(width)).zip(query_scales.iter());
            for ((sums, scores), query_scale) in rows {
                let query_scale = kernel.splat(*query_scale);
                let (sums, _) = sums.as_chunks::<LANES>();
                let (scores, _) = scores[first..][..count].as_chunks_mut::<LANES>();
                for ((sums, scores), key_scale) in sums.iter().zip(scores).zip(key_scales) {
                    kernel.load_i32(sums).mul(kernel.load(key_scale)).mul(query_scale).store(scores);
                }
            }
        });
    }

    /// Softmax of the scores.
    #[inline(always)]
    fn softmax<K: Kernel>(&mut self, kernel: K, tokens: usize) {
        let AttentionScratch { scores, weights, weight_scales, .. } = &mut *self.scratch;
        let width = padded(tokens);
        let rows = scores.chunks_exact_mut(width).zip(weights.chunks_exact_mut(width)).zip(weight_scales);
        for ((scores, weights), scale) in rows.take(tokens) {
            *scale = rows::softmax_quantize(kernel, scores, tokens, weights);
        }
    }

    /// The head's part of `out[token]`: the weighted sum of the values.
    #[inline(always)]
    fn sum_values<K: Kernel>(
        &mut self,
        kernel: K,
        projected: &[f32],
        head: usize,
        tokens: usize,
        out: &mut [f32],
    ) {
        let AttentionScratch { weights, weight_scales, values, value_panels, .. } = &mut *self.scratch;
        let offset = head * HEAD_DIMENSIONS;
        let head_values = |row: &'_ [f32]| -> [f32; HEAD_DIMENSIONS] {
            let mut values = [0.0; HEAD_DIMENSIONS];
            values.copy_from_slice(&row[2 * DIMENSIONS + offset..][..HEAD_DIMENSIONS]);
            values
        };
        // One scale for the whole head, because the sum over tokens is taken before scaling.
        let max = projected
            .chunks_exact(STRIDE)
            .map(|row| rows::max_magnitude(kernel, &head_values(row)))
            .fold(0.0, |max: f32, row| if row > max { row } else { max });
        let steps = f32::from(rows::MAX_ATTENTION_VALUE);
        let mut scale = 0.0;
        for (row, values) in projected.chunks_exact(STRIDE).zip(values.chunks_exact_mut(HEAD_DIMENSIONS)) {
            scale = rows::quantize_within(kernel, &head_values(row), max, steps, values);
        }
        let depth = tokens.next_multiple_of(2);
        values[tokens * HEAD_DIMENSIONS..].iter_mut().take(HEAD_DIMENSIONS).for_each(|value| *value = 0);
        for (pair, values) in values.chunks_exact(2 * HEAD_DIMENSIONS).take(depth / 2).enumerate() {
            let (even, odd) = values.split_at(HEAD_DIMENSIONS);
            write_pair::<K>(value_panels, depth, pair, even, odd);
        }
        let weights = Rows { values: weights, stride: padded(tokens), count: tokens, depth };
        let panels = &value_panels[..depth * HEAD_DIMENSIONS];
        product(kernel, weights, panels, HEAD_DIMENSIONS, self.sums, |first, sums| {
            let rows =
                sums.chunks_exact(K::WIDTH).zip(out.chunks_exact_mut(DIMENSIONS)).zip(weight_scales.iter());
            for ((sums, out), weight_scale) in rows {
                let scale = kernel.splat(scale * weight_scale);
                let (sums, _) = sums.as_chunks::<LANES>();
                let (out, _) = out[offset + first..][..K::WIDTH].as_chunks_mut::<LANES>();
                for (sums, out) in sums.iter().zip(out) {
                    kernel.load_i32(sums).mul(scale).store(out);
                }
            }
        });
    }
}

/// Scores are stored in rows of whole vectors.
fn padded(tokens: usize) -> usize {
    tokens.next_multiple_of(LANES)
}
