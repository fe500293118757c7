//! Products of quantised matrices, with the same bits on every machine.
//!
//! Weights and inputs have 8 bits and a scale for each 32 of a row, like GGUF's Q8_0. Products are exact integers, so each
//! instruction set may add them in its own order ([`scalar`], [`simd128`]); the float steps between blocks have one order.
//!
//! candle's own products take one row of weights and one input at a time, with two half floats to convert for each 32 numbers.
//! Here four rows are interleaved, so that one vector operation serves them all and no sum over lanes is needed, and four
//! inputs share each load of weights, which makes reading the prompt several times faster. Relaxed SIMD was tried and is not
//! faster.
//!
//! All `unsafe` code of the crate is in this module: loads of vectors from arrays of their size.

#![allow(unsafe_code, reason = "vector loads from arrays of their size")]
#![warn(clippy::undocumented_unsafe_blocks)]

mod elementary;
mod matrix;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
mod weighted_sum;

pub(crate) use elementary::{exp_below, max, rms_norm, silu};
pub(crate) use matrix::{Inputs, Matrix};
pub(crate) use weighted_sum::{LANES, weighted_sums};

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
use scalar as best;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use simd128 as best;

/// Numbers that share a scale.
pub(crate) const BLOCK: usize = 32;
/// Rows of a matrix that are interleaved.
pub(crate) const PANEL: usize = 4;
/// Largest magnitude of a quantised number.
const MAX_QUANTISED: f32 = 127.0;

/// 32 columns of [`PANEL`] rows.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct WeightBlock {
    /// For each four columns: those of the first row, of the second, ...
    weights: [[i8; 4 * PANEL]; BLOCK / 4],
    /// Of each row.
    scales: [f32; PANEL],
}

/// 32 numbers of one input. They fit in bytes, but vectors multiply pairs of this size.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct InputBlock {
    values: [[i16; 4]; BLOCK / 4],
    scale: f32,
}

impl WeightBlock {
    const ZERO: Self = Self { weights: [[0; 4 * PANEL]; BLOCK / 4], scales: [0.0; PANEL] };
}

impl InputBlock {
    const ZERO: Self = Self { values: [[0; 4]; BLOCK / 4], scale: 0.0 };
}
