//! The arithmetic of the model on every machine, with the same bits.
//!
//! Matrix products are exact integers (i16 × i16 summed in i32), so the order in which a machine adds does not matter,
//! and their inner loop is written per architecture ([`Kernel::panel_product`]). Float steps are written once
//! ([`rows`], [`elementary`]) over [`Lanes`], whose order of operations is fixed.
//!
//! All `unsafe` code of the crate is in this module: the SIMD kernels and the calls into them.

#![allow(unsafe_code, reason = "SIMD needs it; nothing else does")]

#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod dense;
mod elementary;
mod inputs;
mod instructions;
mod lanes;
mod linear;
mod matrix;
#[cfg(target_arch = "aarch64")]
mod neon;
mod panels;
#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
mod relaxed;
pub(crate) mod rows;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use inputs::{InputFormat, Inputs};
pub(crate) use instructions::Instructions;
pub(crate) use lanes::{LANES, Lanes};
pub(crate) use linear::Linear;
pub(crate) use matrix::{LargeWeight, Matrix};
pub(crate) use panels::{product, write_channel, write_pair};

/// Greatest absolute value of a quantised activation: 13 bits and a sign. Products of two such values summed over the
/// 32 dimensions of an attention head still fit in i32: 32 · 8191² < 2³¹.
pub(crate) const ACTIVATION_MAX: i16 = 8191;

/// The instructions of one kind of machine.
pub(crate) trait Kernel: Copy {
    /// Output channels of one panel of weights; a multiple of 8 that divides 32.
    const WIDTH: usize;
    /// Its float vectors.
    type Lanes: Lanes;

    /// Multiplies every row by every channel of the panel, whose groups are pairs: `out[row * WIDTH + channel]`.
    fn panel_product(panel: &Panel<'_, i16, i16>, out: &mut [i32]);

    /// Whether [`Kernel::narrow_panel_product`] is faster than [`Kernel::panel_product`].
    const NARROW: bool = false;

    /// The same for bytes, in groups of four: `(high parts · 2⁷ + low parts + offset)`.
    fn narrow_panel_product(panel: &NarrowPanel<'_>, out: &mut [i32]) {
        panel.product(Self::WIDTH, out);
    }
}

/// Rows of integers: row `r` is `values[r * stride..][..depth]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a, T> {
    pub(crate) values: &'a [T],
    pub(crate) stride: usize,
    pub(crate) count: usize,
    pub(crate) depth: usize,
}

/// Operands of a panel's product; the slices are as long as the shapes say.
pub(crate) struct Panel<'a, I, W> {
    rows: Rows<'a, I>,
    /// `[depth / group][WIDTH][group]`: for each group of inputs the weights of every channel.
    weights: &'a [W],
}

impl<'a, I, W> Panel<'a, I, W> {
    /// # Panics
    /// If a slice is shorter than the shapes say: the SIMD kernels rely on it.
    #[inline(always)]
    fn new(rows: Rows<'a, I>, weights: &'a [W], group: usize, width: usize) -> Self {
        let Rows { values, stride, count, depth } = rows;
        assert!(count > 0 && depth.is_multiple_of(group) && depth <= stride, "bad shape");
        assert!(values.len() >= (count - 1) * stride + depth, "too few inputs");
        assert!(weights.len() == depth * width, "wrong number of weights");
        Self { rows, weights }
    }
}

/// Operands of [`Kernel::narrow_panel_product`].
pub(crate) struct NarrowPanel<'a> {
    /// Inputs are unsigned and have 7 bits.
    panel: Panel<'a, u8, i8>,
    /// How many of a row's bytes, the first, are high parts; a multiple of four.
    high: usize,
    /// Per channel.
    offsets: &'a [i32],
}

impl<'a> NarrowPanel<'a> {
    #[inline(always)]
    fn new(panel: Panel<'a, u8, i8>, high: usize, offsets: &'a [i32]) -> Self {
        assert!(high.is_multiple_of(4) && high <= panel.rows.depth, "bad shape");
        Self { panel, high, offsets }
    }

    /// The definition of the product.
    fn product(&self, width: usize, out: &mut [i32]) {
        let Rows { values, stride, count, depth } = self.panel.rows;
        assert!(self.offsets.len() == width, "wrong number of offsets");
        for (row, sums) in (0..count).zip(out.chunks_exact_mut(width)) {
            let row = &values[row * stride..][..depth];
            for (channel, (sum, offset)) in sums.iter_mut().zip(self.offsets).enumerate() {
                let part = |range: std::ops::Range<usize>| -> i32 {
                    range
                        .map(|k| {
                            let weight = self.panel.weights[k / 4 * 4 * width + channel * 4 + k % 4];
                            i32::from(row[k]) * i32::from(weight)
                        })
                        .sum()
                };
                *sum = part(0..self.high) * 128 + part(self.high..depth) + offset;
            }
        }
    }
}

/// Something that is written over [`Kernel`] and runs with the instructions of one. `run` must be `#[inline(always)]`,
/// as must everything in it that works on [`Lanes`].
pub(crate) trait Work {
    type Output;
    fn run<K: Kernel>(self) -> Self::Output;
}

/// Splits rows into tiles of nearly equal height, none above `most`, and calls `tile(first, height)` for each.
#[allow(dead_code, reason = "the scalar kernel has no tiles")]
#[inline(always)]
fn for_each_tile(rows: usize, most: usize, mut tile: impl FnMut(usize, usize)) {
    let mut first = 0;
    for tiles_left in (1..=rows.div_ceil(most)).rev() {
        let height = (rows - first).div_ceil(tiles_left);
        tile(first, height);
        first += height;
    }
}

/// The instance of `$tile` for this height, which must be one of those listed.
#[allow(unused_macros, reason = "the scalar kernel has no tiles")]
macro_rules! tile_of {
    ($tile:ident, $height:expr, $($lower:literal)* ) => {
        tile_of!(@ $tile, $height, [] $($lower)*)
    };
    (@ $tile:ident, $height:expr, [$($lower:literal)*] $greatest:literal) => {
        match $height {
            $($lower => $tile::<$lower>,)*
            _ => $tile::<$greatest>,
        }
    };
    (@ $tile:ident, $height:expr, [$($lower:literal)*] $next:literal $($rest:literal)+) => {
        tile_of!(@ $tile, $height, [$($lower)* $next] $($rest)+)
    };
}
#[allow(unused_imports, reason = "the scalar kernel has no tiles")]
use tile_of;
