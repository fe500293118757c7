//! The forward pass over the tokens of one or more texts, and its results.

use super::attention::Attention;
use super::reader::Reading;
use super::scratch::{FEED_FORWARD_ROWS, Scratch};
use super::weights::{Layer, Weights};
use crate::DIMENSIONS;
use crate::kernels::{Kernel, Work, rows};
use crate::reader::packing::MARKER;

/// The encoder and its input.
pub(super) struct Forward<'a> {
    pub(super) weights: &'a Weights,
    /// The bytes of the model file up to the end of the word embeddings.
    pub(super) words: &'a [u8],
    pub(super) scratch: &'a mut Scratch,
    /// Token ids of the texts, concatenated without padding: every row is a real token.
    pub(super) ids: &'a [u32],
    /// Tokens of each text.
    pub(super) lengths: &'a [usize],
}

impl Forward<'_> {
    /// Writes the input of the first layer, word + position + token type, normalised, to
    /// `scratch.hidden`: `[ids][DIMENSIONS]`.
    ///
    /// `positions`: for each id the sum of position and token type. `marker`: the word embedding of
    /// [`MARKER`], which is zero in the embedder's file.
    #[inline(always)]
    pub(super) fn embed_tokens<'p, K: Kernel>(
        &mut self,
        kernel: K,
        positions: impl Iterator<Item = &'p [f32]>,
        marker: Option<&[f32]>,
    ) {
        let Self { weights, ids, scratch, .. } = self;
        let words = &self.words[weights.tokens.bytes.clone()];
        for ((id, position), row) in
            ids.iter().zip(positions).zip(scratch.hidden.chunks_exact_mut(DIMENSIONS))
        {
            match marker {
                Some(marker) if *id == MARKER => row.copy_from_slice(marker),
                _ => {
                    let id = *id as usize;
                    let word = &words[id * DIMENSIONS..][..DIMENSIONS];
                    rows::dequantize(kernel, word, weights.tokens.scales[id], row);
                }
            }
            rows::add(kernel, row, position);
            weights.norm.apply(kernel, row);
        }
    }
}

/// A forward pass.
///
/// There is one for everything that the model computes: its code, inlined into each kernel, is most
/// of the WebAssembly module.
pub(super) struct Pass<'a> {
    pub(super) forward: Forward<'a>,
    pub(super) goal: Goal<'a>,
}

/// Result of a pass.
pub(super) enum Goal<'a> {
    /// `[texts][DIMENSIONS]`: sentence vectors.
    Embed(&'a mut [f32]),
    Read(Reading<'a>),
}

impl Work for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Self { mut forward, goal } = self;
        let weights = forward.weights;
        let positions = &weights.positions;
        let (question_ids, passage_positions, marker, layers) = match &goal {
            Goal::Embed(_) => (0, positions, None, [weights.layers.as_slice(), &[]]),
            Goal::Read(Reading { question_ids, reader, .. }) => (
                *question_ids,
                &reader.passage_positions,
                Some(reader.marker.as_slice()),
                reader.layers(weights),
            ),
        };
        let positions = forward.lengths.iter().flat_map(|length| {
            let question = positions.chunks_exact(DIMENSIONS).take(question_ids);
            let passage = passage_positions.chunks_exact(DIMENSIONS).take(*length);
            question.chain(passage.skip(question_ids))
        });
        forward.embed_tokens(kernel, positions, marker);
        let Forward { scratch, ids, lengths, .. } = forward;
        let mut rows = ids.len();
        let mut layers = layers.into_iter().flatten().peekable();
        while let Some(layer) = layers.next() {
            attend(kernel, layer, lengths, rows, scratch);
            if let Goal::Read(reading) = &goal
                && layers.peek().is_none()
            {
                reading.gather(&mut scratch.hidden);
                rows = reading.read.len();
            }
            feed_forward(kernel, layer, rows, scratch);
        }
        match goal {
            Goal::Embed(vectors) => {
                let mut texts = scratch.hidden.as_slice();
                for (length, vector) in lengths.iter().zip(vectors.chunks_exact_mut(DIMENSIONS)) {
                    let (text, rest) = texts.split_at(length * DIMENSIONS);
                    pool(kernel, text, vector);
                    texts = rest;
                }
            }
            Goal::Read(reading) => reading.score(kernel, &scratch.hidden),
        }
    }
}

#[inline(always)]
pub(super) fn attend<K: Kernel>(
    kernel: K,
    layer: &Layer,
    lengths: &[usize],
    rows: usize,
    scratch: &mut Scratch,
) {
    let Scratch { hidden, expanded, step, inputs, sums, attention, .. } = scratch;
    let (hidden, step) = (&mut hidden[..rows * DIMENSIONS], &mut step[..rows * DIMENSIONS]);
    layer.attention_format.quantize(kernel, hidden, inputs);
    for (index, linear) in [&layer.query, &layer.key, &layer.value].into_iter().enumerate() {
        linear.apply(kernel, inputs, rows, sums, &mut expanded[index * DIMENSIONS..], 3 * DIMENSIONS);
    }
    Attention { scratch: attention, sums }.run(kernel, &expanded[..rows * 3 * DIMENSIONS], lengths, step);
    layer.attention_output_format.quantize(kernel, step, inputs);
    layer.attention_output.apply(kernel, inputs, rows, sums, step, DIMENSIONS);
    add_and_normalize(kernel, hidden, step, &layer.attention_norm);
}

#[inline(always)]
pub(super) fn feed_forward<K: Kernel>(kernel: K, layer: &Layer, rows: usize, scratch: &mut Scratch) {
    let Scratch { hidden, expanded, step, inputs, sums, .. } = scratch;
    let width = layer.intermediate.channels();
    // In blocks of rows, so that the output of the first layer stays in the processor's cache.
    for hidden in hidden[..rows * DIMENSIONS].chunks_mut(FEED_FORWARD_ROWS * DIMENSIONS) {
        let rows = hidden.len() / DIMENSIONS;
        let step = &mut step[..hidden.len()];
        layer.intermediate_format.quantize(kernel, hidden, inputs);
        layer.intermediate.apply(kernel, inputs, rows, sums, expanded, width);
        for (index, row) in expanded.chunks_exact_mut(width).take(rows).enumerate() {
            rows::activate(kernel, row);
            layer.output_format.quantize_row(kernel, row, index, inputs);
        }
        layer.output.apply(kernel, inputs, rows, sums, step, DIMENSIONS);
        add_and_normalize(kernel, hidden, step, &layer.output_norm);
    }
}

#[inline(always)]
pub(super) fn add_and_normalize<K: Kernel>(
    kernel: K,
    hidden: &mut [f32],
    step: &[f32],
    norm: &rows::LayerNorm,
) {
    for (row, step) in hidden.chunks_exact_mut(DIMENSIONS).zip(step.chunks_exact(DIMENSIONS)) {
        rows::add(kernel, row, step);
        norm.apply(kernel, row);
    }
}

/// Mean over the tokens, scaled to unit length, which makes the division by their number
/// unnecessary.
#[inline(always)]
fn pool<K: Kernel>(kernel: K, text: &[f32], vector: &mut [f32]) {
    vector.fill(0.0);
    for row in text.chunks_exact(DIMENSIONS) {
        rows::add(kernel, vector, row);
    }
    rows::normalize(kernel, vector);
}
