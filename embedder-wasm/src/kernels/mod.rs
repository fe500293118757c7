//! The arithmetic of the model, with the same bits on every machine.
//!
//! Matrix products are exact integers (i16 × i16 summed in i32), so the order of additions does not
//! matter, and each architecture has its own inner loop ([`Kernel::panel_product`]). Float steps
//! are written once ([`rows`], [`elementary`]) over [`Lanes`], whose order of operations is fixed.
//!
//! All `unsafe` code of the crate is in this module, except the view of WebAssembly memory that
//! `wasm.rs` hands to JavaScript. It is sound by type: a [`Kernel`] proves that its instructions
//! exist, and every SIMD product checks the lengths of its slices ([`Rows::check`]) before it uses
//! pointers.

#![allow(unsafe_code, reason = "SIMD intrinsics and pointers into panels")]
#![warn(clippy::undocumented_unsafe_blocks)]

mod any_kernel;
mod elementary;
mod inputs;
mod lanes;
mod linear;
mod matrix;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "aarch64")]
mod neon_dot;
mod panels;
#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
mod relaxed;
#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
mod relaxed_pairs;
pub(crate) mod rows;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod scalar;
mod segments;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use any_kernel::AnyKernel;
pub(crate) use inputs::{Growth, InputFormat, Inputs};
pub(crate) use lanes::{LANES, Lanes};
pub(crate) use linear::Linear;
pub(crate) use matrix::{LargeWeight, Matrix};
pub(crate) use panels::{product, write_channel, write_pair};

/// Largest magnitude of a quantised activation: 13 bits and a sign. Products of two such values
/// summed over the 32 dimensions of an attention head still fit in i32: 32 · 8191² < 2³¹.
pub(crate) const MAX_ACTIVATION: i16 = 8191;

/// An instruction set, as a zero-sized token.
///
/// A value proves that this machine has the instructions, so its methods are safe. Where not every
/// machine of the target has them (`x86.rs`), only detection creates the value. Vectors
/// ([`Kernel::Lanes`]) come only from a kernel, so they prove the same.
pub(crate) trait Kernel: Copy {
    /// Output channels of one panel of weights; a multiple of 8 that divides 32.
    const WIDTH: usize;
    /// Whether [`Kernel::byte_panel_product`] is faster than [`Kernel::panel_product`].
    const PREFERS_BYTES: bool = false;
    /// Whether [`Kernel::byte_panel_product`] adds products in i16, up to the next of
    /// [`BytePanel::ends`].
    const ADDS_IN_I16: bool = false;
    /// Its float vectors.
    type Lanes: Lanes;

    /// A vector with `value` in every lane.
    fn splat(self, value: f32) -> Self::Lanes;
    fn load(self, values: &[f32; LANES]) -> Self::Lanes;
    /// Exact for magnitudes up to 2²⁴, otherwise rounded to nearest, ties to even.
    fn load_i32(self, values: &[i32; LANES]) -> Self::Lanes;
    /// Bytes in two's complement.
    fn load_i8(self, values: &[u8; LANES]) -> Self::Lanes;

    /// Multiplies every row by every channel of the panel: `out[row * WIDTH + channel]`.
    ///
    /// # Panics
    /// If a slice does not have the length that the shapes require.
    fn panel_product(self, panel: Panel<'_>, out: &mut [i32]);

    /// Multiplies rows of bytes by every channel: `(high parts · 2⁷ + low parts + offset)`.
    ///
    /// # Panics
    /// If a slice does not have the length that the shapes require.
    fn byte_panel_product(self, panel: BytePanel<'_>, out: &mut [i32]) {
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

impl<T> Rows<'_, T> {
    /// Checks what every SIMD kernel relies on: `weights` has `depth / group` groups for each of
    /// `width` channels, and `out` has room for `width` sums per row.
    ///
    /// # Panics
    /// If a slice does not have the length that the shapes require.
    #[inline(always)]
    fn check<W>(&self, weights: &[W], group: usize, width: usize, out: &[i32]) {
        let Self { values, stride, count, depth } = *self;
        assert!(count > 0 && depth.is_multiple_of(group) && depth <= stride, "bad shape");
        // Checked: a product that wraps around would let a kernel read past the end.
        let inputs = (count - 1).checked_mul(stride).and_then(|skipped| skipped.checked_add(depth));
        assert!(inputs.is_some_and(|inputs| values.len() >= inputs), "too few inputs");
        assert!(depth.checked_mul(width) == Some(weights.len()), "wrong number of weights");
        assert!(
            count.checked_mul(width).is_some_and(|sums| out.len() >= sums),
            "too little room for the sums"
        );
    }
}

/// Operands of [`Kernel::panel_product`].
#[derive(Clone, Copy)]
pub(crate) struct Panel<'a> {
    rows: Rows<'a, i16>,
    /// `[depth / 2][WIDTH][2]`: for each pair of inputs the weights of every channel.
    weights: &'a [i16],
}

impl Panel<'_> {
    /// # Panics
    /// If a slice does not have the length that the shapes require.
    #[inline(always)]
    fn check(&self, width: usize, out: &[i32]) {
        self.rows.check(self.weights, 2, width, out);
    }
}

/// Operands of [`Kernel::byte_panel_product`].
#[derive(Clone, Copy)]
pub(crate) struct BytePanel<'a> {
    /// Inputs are unsigned and have 7 bits.
    rows: Rows<'a, u8>,
    /// `[depth / 4][WIDTH][4]`: for each four inputs the weights of every channel.
    weights: &'a [i8],
    /// The first `high` bytes of a row are high parts, the others low parts; a multiple of four.
    high: usize,
    /// Per channel.
    offsets: &'a [i32],
    /// See [`Segments::ends`](segments::Segments::ends); ascending.
    ends: &'a [usize],
    /// See [`Segments::starts`](segments::Segments::starts).
    starts: &'a [i16],
}

impl BytePanel<'_> {
    /// # Panics
    /// If a slice does not have the length that the shapes require.
    #[inline(always)]
    fn check(&self, width: usize, out: &[i32]) {
        self.rows.check(self.weights, 4, width, out);
        assert!(self.high.is_multiple_of(4) && self.high <= self.rows.depth, "bad shape");
        assert!(self.offsets.len() == width, "wrong number of offsets");
        let [high, groups] = [self.high / 4, self.rows.depth / 4];
        assert!(self.ends.is_sorted() && self.ends.last() == Some(&groups), "segments that do not fit");
        assert!(high == 0 || self.ends.contains(&high), "a segment of high and low parts");
    }

    /// Checks what kernels that add in i16 rely on besides.
    ///
    /// # Panics
    /// If there are not two starts for each channel of each segment.
    #[allow(dead_code, reason = "not every target has such a kernel")]
    #[inline(always)]
    fn check_starts(&self, width: usize) {
        assert!(self.starts.len() == self.ends.len() * 2 * width, "wrong number of starts");
    }

    /// The definition of the product.
    fn product(&self, width: usize, out: &mut [i32]) {
        self.check(width, out);
        let Rows { values, stride, count, depth } = self.rows;
        for (row, sums) in (0..count).zip(out.chunks_exact_mut(width)) {
            let row = &values[row * stride..][..depth];
            for (channel, (sum, offset)) in sums.iter_mut().zip(self.offsets).enumerate() {
                let part = |range: std::ops::Range<usize>| -> i32 {
                    range
                        .map(|k| {
                            let weight = self.weights[k / 4 * 4 * width + channel * 4 + k % 4];
                            i32::from(row[k]) * i32::from(weight)
                        })
                        .sum()
                };
                *sum = part(0..self.high) * 128 + part(self.high..depth) + offset;
            }
        }
    }
}

/// A computation that is generic over the [`Kernel`] it runs with.
///
/// `run` and every function it calls that works on [`Lanes`] must be `#[inline(always)]`: only code
/// inlined into the kernel's entry point is compiled for its instructions.
pub(crate) trait Work {
    type Output;
    fn run<K: Kernel>(self, kernel: K) -> Self::Output;
}

/// Splits rows into tiles of nearly equal height, at most `max_height`, and calls
/// `tile(first, height)` for each.
#[allow(dead_code, reason = "the scalar kernel has no tiles")]
#[inline(always)]
fn for_each_tile(rows: usize, max_height: usize, mut tile: impl FnMut(usize, usize)) {
    let mut first = 0;
    for tiles_left in (1..=rows.div_ceil(max_height)).rev() {
        let height = (rows - first).div_ceil(tiles_left);
        tile(first, height);
        first += height;
    }
}

/// The float steps of a [`Kernel`], if they are those of another one. `$self` must be `self`, which
/// `$kernel` may use.
#[allow(unused_macros, reason = "the scalar kernel has its own")]
macro_rules! float_steps_of {
    ($self:ident, $kernel:expr, $lanes:ty) => {
        type Lanes = $lanes;

        #[inline(always)]
        fn splat($self, value: f32) -> $lanes {
            $kernel.splat(value)
        }

        #[inline(always)]
        fn load($self, values: &[f32; LANES]) -> $lanes {
            $kernel.load(values)
        }

        #[inline(always)]
        fn load_i32($self, values: &[i32; LANES]) -> $lanes {
            $kernel.load_i32(values)
        }

        #[inline(always)]
        fn load_i8($self, values: &[u8; LANES]) -> $lanes {
            $kernel.load_i8(values)
        }
    };
}
#[allow(unused_imports, reason = "the scalar kernel has its own")]
use float_steps_of;

/// The instance of `$tile` for this height, which must be in the list.
#[allow(unused_macros, reason = "the scalar kernel has no tiles")]
macro_rules! tile_of {
    ($tile:ident, $height:expr, $($lower:literal)* ) => {
        tile_of!(@ $tile, $height, [] $($lower)*)
    };
    (@ $tile:ident, $height:expr, [$($lower:literal)*] $highest:literal) => {
        match $height {
            $($lower => $tile::<$lower>,)*
            _ => $tile::<$highest>,
        }
    };
    (@ $tile:ident, $height:expr, [$($lower:literal)*] $next:literal $($rest:literal)+) => {
        tile_of!(@ $tile, $height, [$($lower)* $next] $($rest)+)
    };
}
#[allow(unused_imports, reason = "the scalar kernel has no tiles")]
use tile_of;
