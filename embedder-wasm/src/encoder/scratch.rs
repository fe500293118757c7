//! Working memory of a forward pass. It is allocated once, and takes memory of the machine as texts
//! become longer.

use super::{HEAD_DIMENSIONS, INTERMEDIATE};
use crate::DIMENSIONS;
use crate::kernels::{Growth, Inputs};

/// Largest [`crate::kernels::Kernel::WIDTH`].
const MAX_WIDTH: usize = 32;

/// Rows of one feed-forward step.
pub(super) const FEED_FORWARD_ROWS: usize = 64;

#[derive(Default)]
pub(super) struct Scratch {
    /// Most rows of a pass.
    rows: usize,
    /// `[rows][DIMENSIONS]`: the input and output of a layer.
    pub(super) hidden: Vec<f32>,
    /// `[rows][3 * DIMENSIONS]` (queries, keys and values in each row) or
    /// `[FEED_FORWARD_ROWS][INTERMEDIATE]`.
    pub(super) expanded: Vec<f32>,
    /// `[rows][DIMENSIONS]`: output of a step before it is added to `hidden`.
    pub(super) step: Vec<f32>,
    /// Inputs of a linear layer.
    pub(super) inputs: Inputs,
    /// Sums of one panel.
    pub(super) sums: Vec<i32>,
    pub(super) attention: AttentionScratch,
}

/// Working memory of attention.
#[derive(Default)]
pub(super) struct AttentionScratch {
    /// `[rows][DIMENSIONS]`, and the value of one unit of a row.
    pub(super) queries: Vec<i16>,
    pub(super) query_scales: Vec<f32>,
    /// `[rows][DIMENSIONS]`, and the value of one unit of a row.
    pub(super) keys: Vec<i16>,
    pub(super) key_scales: Vec<f32>,
    /// Keys of one head, in panels with one channel per token.
    pub(super) key_panels: Vec<i16>,
    /// `[tokens][HEAD_DIMENSIONS]`: values of one head.
    pub(super) values: Vec<i16>,
    /// Values of one head, in panels with one channel per dimension.
    pub(super) value_panels: Vec<i16>,
    /// `[tokens][tokens, padded]` of one head.
    pub(super) scores: Vec<f32>,
    pub(super) weights: Vec<i16>,
    /// The value of one unit of a row of `weights`.
    pub(super) weight_scales: Vec<f32>,
}

impl Scratch {
    /// Allocates for passes over up to `rows` rows, of one or more texts.
    pub(super) fn new(rows: usize) -> Self {
        let mut scratch = Self { rows, ..Self::default() };
        scratch.grow(rows, Growth::Reserve);
        scratch
    }

    /// Prepares for a pass over `rows` rows, at most those of [`Scratch::new`].
    pub(super) fn prepare(&mut self, rows: usize) {
        self.grow(rows, Growth::ZeroFill);
    }

    fn grow(&mut self, rows: usize, growth: Growth) {
        // Keys are stored in whole panels.
        let rows = rows.next_multiple_of(MAX_WIDTH);
        let feed_forward = FEED_FORWARD_ROWS.min(rows) * INTERMEDIATE;
        let Self { rows: _, hidden, expanded, step, inputs, sums, attention } = self;
        growth.apply(hidden, rows * DIMENSIONS);
        growth.apply(expanded, (rows * 3 * DIMENSIONS).max(feed_forward));
        growth.apply(step, rows * DIMENSIONS);
        inputs.grow(rows, (rows * DIMENSIONS).max(feed_forward), growth);
        growth.apply(sums, rows * MAX_WIDTH);
        attention.grow(rows, growth);
    }
}

/// The clone has memory of its own for as many rows. Its content is only of use during a pass.
impl Clone for Scratch {
    fn clone(&self) -> Self {
        Self::new(self.rows)
    }
}

impl AttentionScratch {
    fn grow(&mut self, rows: usize, growth: Growth) {
        let Self { queries, query_scales, keys, key_scales, .. } = self;
        growth.apply(queries, rows * DIMENSIONS);
        growth.apply(query_scales, rows);
        growth.apply(keys, rows * DIMENSIONS);
        growth.apply(key_scales, rows);
        let Self { key_panels, values, value_panels, scores, weights, weight_scales, .. } = self;
        growth.apply(key_panels, rows * HEAD_DIMENSIONS);
        growth.apply(values, rows * HEAD_DIMENSIONS);
        growth.apply(value_panels, rows * HEAD_DIMENSIONS);
        growth.apply(scores, rows * rows);
        growth.apply(weights, rows * rows);
        growth.apply(weight_scales, rows);
    }
}
