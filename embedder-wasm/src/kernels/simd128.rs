//! WebAssembly with plain `simd128`: no relaxed instructions, whose results may differ between
//! machines.

use std::arch::wasm32::*;

use super::lanes::{LANES, Lanes};
use super::{Kernel, Panel, Rows, for_each_tile, tile_of};

/// `i32x4.dot_i16x8_s` over panels of 8 channels in two vectors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Simd128;

impl Kernel for Simd128 {
    const WIDTH: usize = 8;
    type Lanes = Simd128Lanes;

    #[inline(always)]
    fn splat(self, value: f32) -> Simd128Lanes {
        Simd128Lanes(f32x4_splat(value), f32x4_splat(value))
    }

    #[inline(always)]
    fn load(self, values: &[f32; LANES]) -> Simd128Lanes {
        // SAFETY: the array is two vectors long; loads need no alignment.
        unsafe {
            let from = values.as_ptr().cast::<v128>();
            Simd128Lanes(v128_load(from), v128_load(from.add(1)))
        }
    }

    #[inline(always)]
    fn load_i32(self, values: &[i32; LANES]) -> Simd128Lanes {
        // SAFETY: the array is two vectors long; loads need no alignment.
        let integers = unsafe {
            let from = values.as_ptr().cast::<v128>();
            Simd128Lanes(v128_load(from), v128_load(from.add(1)))
        };
        integers.map(|lanes| f32x4_convert_i32x4(lanes))
    }

    #[inline(always)]
    fn load_i8(self, values: &[u8; LANES]) -> Simd128Lanes {
        // SAFETY: the array has eight bytes.
        let i16s = unsafe { i16x8_load_extend_i8x8(values.as_ptr().cast()) };
        Simd128Lanes(i32x4_extend_low_i16x8(i16s), i32x4_extend_high_i16x8(i16s))
            .map(|lanes| f32x4_convert_i32x4(lanes))
    }

    fn panel_product(self, panel: Panel<'_>, out: &mut [i32]) {
        panel.check(Self::WIDTH, out);
        let Rows { values, stride, count, depth } = panel.rows;
        for_each_tile(count, 4, |first, height| {
            let tile = tile_of!(tile, height, 1 2 3 4);
            // SAFETY: `check` compared the lengths of all slices with the shapes, and the rows
            // `first..first + height` are below `count`.
            unsafe {
                let inputs = values.as_ptr().add(first * stride);
                let out = out.as_mut_ptr().add(first * Self::WIDTH);
                tile(inputs, stride, depth / 2, panel.weights.as_ptr(), out);
            }
        });
    }
}

/// Multiplies `ROWS` rows by 8 channels. Four rows are the most whose sums V8 keeps in the 16
/// registers of x86-64.
///
/// # Safety
/// Row `r` starts at `inputs + r * stride` and must have `2 * pairs` integers; `weights` must point to `pairs` groups
/// of 16, and `out` to room for `ROWS` rows of 8 sums.
#[inline(never)]
unsafe fn tile<const ROWS: usize>(
    inputs: *const i16,
    stride: usize,
    pairs: usize,
    weights: *const i16,
    out: *mut i32,
) {
    let mut sums = [[i32x4_splat(0); 2]; ROWS];
    for pair in 0..pairs {
        // SAFETY: the caller guarantees `ROWS` rows of `pairs` pairs and as many groups of 16 weights.
        unsafe {
            let weights = weights.add(pair * 16).cast::<v128>();
            let (low, high) = (v128_load(weights), v128_load(weights.add(1)));
            for (row, [sum_low, sum_high]) in sums.iter_mut().enumerate() {
                let input = v128_load32_splat(inputs.add(row * stride + 2 * pair).cast());
                *sum_low = i32x4_add(*sum_low, i32x4_dot_i16x8(input, low));
                *sum_high = i32x4_add(*sum_high, i32x4_dot_i16x8(input, high));
            }
        }
    }
    for (row, [low, high]) in sums.into_iter().enumerate() {
        // SAFETY: the caller guarantees room for `ROWS` rows of 8 sums.
        unsafe {
            let out = out.add(row * 8).cast::<v128>();
            v128_store(out, low);
            v128_store(out.add(1), high);
        }
    }
}

/// 1.5 · 2²³: adding it to a float below 2²² leaves the nearest integer, ties to even, in the low bits. The instruction
/// for this, `i32x4.trunc_sat_f32x4_s`, compiles to eight on x86.
const SHIFT: f32 = 12_582_912.0;

/// Two 128-bit vectors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Simd128Lanes(v128, v128);

impl Simd128Lanes {
    #[inline(always)]
    fn map(self, f: impl Fn(v128) -> v128) -> Self {
        Self(f(self.0), f(self.1))
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(v128, v128) -> v128) -> Self {
        Self(f(self.0, other.0), f(self.1, other.1))
    }

    /// Rounds to the nearest integers, ties to even, in i32; for magnitudes below 2²².
    #[inline(always)]
    fn to_i32(self) -> Self {
        self.map(|lanes| {
            i32x4_sub(f32x4_add(lanes, f32x4_splat(SHIFT)), i32x4_splat(SHIFT.to_bits().cast_signed()))
        })
    }
}

impl Lanes for Simd128Lanes {
    #[inline(always)]
    fn store(self, to: &mut [f32; LANES]) {
        // SAFETY: the array has room for two vectors; stores need no alignment.
        unsafe {
            let to = to.as_mut_ptr().cast::<v128>();
            v128_store(to, self.0);
            v128_store(to.add(1), self.1);
        }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| f32x4_add(a, b))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| f32x4_sub(a, b))
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| f32x4_mul(a, b))
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| f32x4_div(a, b))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // pmax(b, a) is `a > b ? a : b`, the instruction x86 has.
        self.zip(other, |a, b| f32x4_pmax(b, a))
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| f32x4_pmin(b, a))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.map(|lanes| f32x4_abs(lanes))
    }

    #[inline(always)]
    fn store_i16(self, to: &mut [i16; LANES]) {
        let Self(low, high) = self.to_i32();
        // SAFETY: the array has room for one vector.
        unsafe { v128_store(to.as_mut_ptr().cast(), i16x8_narrow_i32x4(low, high)) }
    }

    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        let shifted = self.map(|lanes| f32x4_add(lanes, f32x4_splat(SHIFT)));
        // The shift has no low bits that would reach the exponent.
        let power = shifted.map(|lanes| i32x4_add(i32x4_shl(lanes, 23), i32x4_splat(127 << 23)));
        let integer = shifted.map(|lanes| f32x4_sub(lanes, f32x4_splat(SHIFT)));
        (power, self.sub(integer))
    }
}
