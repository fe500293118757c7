//! Products of quantised matrices, with the same bits on every machine.
//!
//! Weights have 7 bits and a scale for each 32 of a row; inputs have 8 bits and a scale for each 32. Products are exact
//! integers, so each instruction set may add them in its own order ([`scalar`], [`simd128`], [`relaxed`]); the float steps
//! between blocks have one order.
//!
//! candle's own products take one row of weights and one input at a time and convert two half floats for each 32 numbers. Here
//! four rows are interleaved, so that one vector operation serves them all and no sum over lanes is needed, and four inputs
//! share each load of weights: the prompt is read several times faster. Seven bits are what WebAssembly's relaxed SIMD
//! multiplies exactly; models come with four to eight.
//!
//! All `unsafe` code of the crate is in this module: loads of vectors from arrays of their size.

#![allow(unsafe_code, reason = "vector loads from arrays of their size")]
#![warn(clippy::undocumented_unsafe_blocks)]

mod elementary;
mod matrix;
#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
mod relaxed;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
mod weighted_sum;

pub(crate) use elementary::{exp_below, rms_norm, silu};
pub(crate) use matrix::{Inputs, Matrix};
pub(crate) use weighted_sum::{LANES, weighted_sums};

#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
use relaxed as best;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
use scalar as best;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128", not(target_feature = "relaxed-simd")))]
use simd128 as best;

/// Numbers that share a scale.
pub(crate) const BLOCK: usize = 32;
/// Rows of a matrix that are interleaved.
pub(crate) const PANEL: usize = 4;
/// Weights are stored with this added, so that they are not negative.
const WEIGHT_OFFSET: i32 = 64;
/// Largest magnitude of a quantised weight.
const MAX_WEIGHT: f32 = 63.0;
/// Largest magnitude of a quantised input.
const MAX_INPUT: f32 = 127.0;

/// 32 columns of [`PANEL`] rows.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct WeightBlock {
    /// For each four columns: those of the first row, of the second, ...
    weights: [[u8; 16]; BLOCK / 4],
    /// Of each row.
    scales: [f32; PANEL],
}

impl WeightBlock {
    const ZERO: Self = Self { weights: [[WEIGHT_OFFSET as u8; 16]; BLOCK / 4], scales: [0.0; PANEL] };
}

/// What a kernel reads an input as: with plain SIMD two bytes, because its product takes those.
#[cfg(target_feature = "relaxed-simd")]
type Input = i8;
#[cfg(not(target_feature = "relaxed-simd"))]
type Input = i16;

/// 32 numbers of one input.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct InputBlock {
    values: [[Input; 4]; BLOCK / 4],
    scale: f32,
    /// What [`WEIGHT_OFFSET`] adds to every product, negated.
    correction: i32,
}

impl InputBlock {
    const ZERO: Self = Self { values: [[0; 4]; BLOCK / 4], scale: 0.0, correction: 0 };
}
