//! One forward pass over the tokens of one or more texts.

use super::attention::Attention;
use super::scratch::{FEED_FORWARD_ROWS, Scratch};
use super::weights::{Layer, Weights};
use crate::DIMENSIONS;
use crate::kernels::{Kernel, Work, rows};

pub(super) struct Forward<'a> {
    pub(super) weights: &'a Weights,
    /// The part of the model file that holds the word embeddings.
    pub(super) words: &'a [u8],
    pub(super) scratch: &'a mut Scratch,
    /// Token ids of the texts, one text after the other. No padding: every row is a real token.
    pub(super) ids: &'a [u32],
    /// Tokens of each text.
    pub(super) lengths: &'a [usize],
    /// `[texts][DIMENSIONS]`
    pub(super) vectors: &'a mut [f32],
}

impl Work for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self) {
        let Self { weights, words, scratch, ids, lengths, vectors } = self;
        embed_tokens::<K>(weights, words, ids, lengths, &mut scratch.hidden);
        for layer in &weights.layers {
            attend::<K>(layer, lengths, ids.len(), scratch);
            feed_forward::<K>(layer, ids.len(), scratch);
        }
        let mut texts = scratch.hidden.as_slice();
        for (length, vector) in lengths.iter().zip(vectors.chunks_exact_mut(DIMENSIONS)) {
            let (text, rest) = texts.split_at(length * DIMENSIONS);
            pool::<K>(text, vector);
            texts = rest;
        }
    }
}

/// Word + position + token type, normalised.
#[inline(always)]
fn embed_tokens<K: Kernel>(
    weights: &Weights,
    words: &[u8],
    ids: &[u32],
    lengths: &[usize],
    hidden: &mut [f32],
) {
    let words = &words[weights.tokens.bytes.clone()];
    let positions =
        lengths.iter().flat_map(|length| weights.positions.chunks_exact(DIMENSIONS).take(*length));
    for ((id, position), row) in ids.iter().zip(positions).zip(hidden.chunks_exact_mut(DIMENSIONS)) {
        let id = *id as usize;
        rows::dequantize::<K>(&words[id * DIMENSIONS..][..DIMENSIONS], weights.tokens.scales[id], row);
        rows::add::<K>(row, position);
        weights.norm.apply::<K>(row);
    }
}

#[inline(always)]
fn attend<K: Kernel>(layer: &Layer, lengths: &[usize], rows: usize, scratch: &mut Scratch) {
    let Scratch { hidden, wide, narrow, inputs, sums, attention } = scratch;
    let (hidden, narrow) = (&mut hidden[..rows * DIMENSIONS], &mut narrow[..rows * DIMENSIONS]);
    layer.attention_format.quantize::<K>(hidden, inputs);
    for (index, linear) in [&layer.query, &layer.key, &layer.value].into_iter().enumerate() {
        linear.apply::<K>(inputs, rows, sums, &mut wide[index * DIMENSIONS..], 3 * DIMENSIONS);
    }
    Attention { scratch: attention, sums }.run::<K>(&wide[..rows * 3 * DIMENSIONS], lengths, narrow);
    layer.attention_output_format.quantize::<K>(narrow, inputs);
    layer.attention_output.apply::<K>(inputs, rows, sums, narrow, DIMENSIONS);
    add_and_normalize::<K>(hidden, narrow, &layer.attention_norm);
}

#[inline(always)]
fn feed_forward<K: Kernel>(layer: &Layer, rows: usize, scratch: &mut Scratch) {
    let Scratch { hidden, wide, narrow, inputs, sums, .. } = scratch;
    let width = layer.intermediate.channels();
    // A part of the rows at a time, so that what is between the two layers stays in the processor's cache.
    for hidden in hidden[..rows * DIMENSIONS].chunks_mut(FEED_FORWARD_ROWS * DIMENSIONS) {
        let rows = hidden.len() / DIMENSIONS;
        let narrow = &mut narrow[..hidden.len()];
        layer.intermediate_format.quantize::<K>(hidden, inputs);
        layer.intermediate.apply::<K>(inputs, rows, sums, wide, width);
        for (index, row) in wide.chunks_exact_mut(width).take(rows).enumerate() {
            rows::activate::<K>(row);
            layer.output_format.quantize_row::<K>(row, index, inputs);
        }
        layer.output.apply::<K>(inputs, rows, sums, narrow, DIMENSIONS);
        add_and_normalize::<K>(hidden, narrow, &layer.output_norm);
    }
}

#[inline(always)]
fn add_and_normalize<K: Kernel>(hidden: &mut [f32], step: &[f32], norm: &rows::LayerNorm) {
    for (row, step) in hidden.chunks_exact_mut(DIMENSIONS).zip(step.chunks_exact(DIMENSIONS)) {
        rows::add::<K>(row, step);
        norm.apply::<K>(row);
    }
}

/// Mean over the tokens, at unit length. Unit length makes dividing by their number needless.
#[inline(always)]
fn pool<K: Kernel>(text: &[f32], vector: &mut [f32]) {
    vector.fill(0.0);
    for row in text.chunks_exact(DIMENSIONS) {
        rows::add::<K>(vector, row);
    }
    rows::normalize::<K>(vector);
}
