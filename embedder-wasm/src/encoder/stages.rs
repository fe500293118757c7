//! Repeats one part of an embedding, for `cargo xtask bench embedder`.
//!
//! A clock in the forward pass would cost more than some of its parts. So each part runs alone, on the buffers that a whole
//! pass leaves behind: its time depends only on the shapes.

use super::attention::Attention;
use super::forward::{Forward, add_and_normalize, attend};
use super::scratch::{FEED_FORWARD_ROWS, Scratch};
use super::weights::Layer;
use super::{Encoder, INTERMEDIATE};
use crate::DIMENSIONS;
use crate::kernels::{Kernel, Work, rows};
use crate::stages::Stage;

/// Steps of [`Kernel::multiply_registers`] in one repeat.
const REGISTER_STEPS: u64 = 10_000;

impl Encoder {
    /// Does `stage` as often as one embedding of `ids` does, `repeats` times. Returns the products of two integers that a
    /// repeat computes, for the parts that compute nothing else; otherwise 0.
    pub(crate) fn repeat(&mut self, stage: Stage, ids: &[u32], repeats: u32) -> u64 {
        let Self { kernel, model, scratch } = self;
        let lengths = [ids.len()];
        kernel.run(Repeat { forward: model.forward(scratch, ids, &lengths), stage, repeats })
    }
}

struct Repeat<'a> {
    forward: Forward<'a>,
    stage: Stage,
    repeats: u32,
}

impl Work for Repeat<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> u64 {
        let Self { mut forward, stage, repeats } = self;
        let (weights, rows) = (forward.weights, forward.ids.len());
        forward.embed_tokens(kernel, weights.positions.chunks_exact(DIMENSIONS), None);
        attend(kernel, &weights.layers[0], forward.lengths, rows, forward.scratch);
        let mut products = 0;
        for _ in 0..repeats {
            products = 0;
            match stage {
                Stage::Tokenizer => {}
                Stage::Registers => products = kernel.multiply_registers(REGISTER_STEPS),
                Stage::Words => {
                    forward.embed_tokens(kernel, weights.positions.chunks_exact(DIMENSIONS), None)
                }
                _ => {
                    for layer in &weights.layers {
                        products +=
                            repeat_in_layer(kernel, stage, layer, forward.lengths, rows, forward.scratch);
                    }
                }
            }
        }
        products
    }
}

#[inline(always)]
fn repeat_in_layer<K: Kernel>(
    kernel: K,
    stage: Stage,
    layer: &Layer,
    lengths: &[usize],
    rows: usize,
    scratch: &mut Scratch,
) -> u64 {
    let Scratch { hidden, expanded, step, inputs, sums, attention, .. } = scratch;
    let (hidden, step) = (&mut hidden[..rows * DIMENSIONS], &mut step[..rows * DIMENSIONS]);
    let mut attention = Attention { scratch: attention, sums };
    match stage {
        Stage::Attention => attention.run(kernel, &expanded[..rows * 3 * DIMENSIONS], lengths, step),
        Stage::Softmax => attention.repeat_softmax(kernel, rows),
        Stage::Norm => {
            add_and_normalize(kernel, hidden, step, &layer.attention_norm);
            add_and_normalize(kernel, hidden, step, &layer.output_norm);
        }
        Stage::Rounding => {
            layer.attention_format.quantize(kernel, hidden, inputs);
            layer.attention_output_format.quantize(kernel, step, inputs);
        }
        Stage::Linear => {
            for (index, linear) in [&layer.query, &layer.key, &layer.value].into_iter().enumerate() {
                linear.apply(kernel, inputs, rows, sums, &mut expanded[index * DIMENSIONS..], 3 * DIMENSIONS);
            }
            layer.attention_output.apply(kernel, inputs, rows, sums, step, DIMENSIONS);
        }
        _ => {}
    }
    for hidden in hidden.chunks_mut(FEED_FORWARD_ROWS * DIMENSIONS) {
        let rows = hidden.len() / DIMENSIONS;
        match stage {
            Stage::Linear => {
                layer.intermediate.apply(kernel, inputs, rows, sums, expanded, INTERMEDIATE);
                layer.output.apply(kernel, inputs, rows, sums, step, DIMENSIONS);
            }
            Stage::Rounding => {
                layer.intermediate_format.quantize(kernel, hidden, inputs);
                layer.output_format.quantize(kernel, &expanded[..rows * INTERMEDIATE], inputs);
            }
            Stage::Gelu => {
                for row in expanded.chunks_exact_mut(INTERMEDIATE).take(rows) {
                    // Repeated, it would arrive at values so small that arithmetic becomes slow.
                    row.fill(1.5);
                    rows::activate(kernel, row);
                }
            }
            _ => {}
        }
    }
    let weights = 4 * DIMENSIONS * DIMENSIONS + 2 * DIMENSIONS * INTERMEDIATE;
    if stage == Stage::Linear { (rows * weights) as u64 } else { 0 }
}
