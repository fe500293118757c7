//! Working memory of one forward pass, allocated once.

use super::{HEAD_DIMENSIONS, INTERMEDIATE};
use crate::DIMENSIONS;
use crate::kernels::Inputs;

/// Largest [`crate::kernels::Kernel::WIDTH`].
const MAX_WIDTH: usize = 32;

/// Rows of one feed-forward step.
pub(super) const FEED_FORWARD_ROWS: usize = 64;

#[derive(Clone)]
pub(super) struct Scratch {
    /// `[rows][DIMENSIONS]`: the input and output of a layer.
    pub(super) hidden: Vec<f32>,
    /// `[rows][3 * DIMENSIONS]` (queries, keys and values in each row) or `[FEED_FORWARD_ROWS][INTERMEDIATE]`.
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
#[derive(Clone)]
pub(super) struct AttentionScratch {
    /// `[rows][DIMENSIONS]`, and what one unit of a row is worth.
    pub(super) queries: Vec<i16>,
    pub(super) query_scales: Vec<f32>,
    /// `[rows][DIMENSIONS]`, and what one unit of a row is worth.
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
    /// What one unit of a row of `weights` is worth.
    pub(super) weight_scales: Vec<f32>,
}

impl Scratch {
    /// Allocates for a pass over `rows` rows, of one or more texts.
    pub(super) fn new(rows: usize) -> Self {
        // Keys are stored in whole panels.
        let rows = rows.next_multiple_of(MAX_WIDTH);
        Self {
            hidden: vec![0.0; rows * DIMENSIONS],
            expanded: vec![0.0; (rows * 3 * DIMENSIONS).max(FEED_FORWARD_ROWS * INTERMEDIATE)],
            step: vec![0.0; rows * DIMENSIONS],
            inputs: Inputs::new(rows, (rows * DIMENSIONS).max(FEED_FORWARD_ROWS * INTERMEDIATE)),
            sums: vec![0; rows * MAX_WIDTH],
            attention: AttentionScratch {
                queries: vec![0; rows * DIMENSIONS],
                query_scales: vec![0.0; rows],
                keys: vec![0; rows * DIMENSIONS],
                key_scales: vec![0.0; rows],
                key_panels: vec![0; rows * HEAD_DIMENSIONS],
                values: vec![0; rows * HEAD_DIMENSIONS],
                value_panels: vec![0; rows * HEAD_DIMENSIONS],
                scores: vec![0.0; rows * rows],
                weights: vec![0; rows * rows],
                weight_scales: vec![0.0; rows],
            },
        }
    }
}
