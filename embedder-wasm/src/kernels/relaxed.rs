//! WebAssembly with relaxed SIMD: products of four bytes at once, where the processor has an
//! instruction for it.
//!
//! The result of `i32x4.relaxed_dot_i8x16_i7x16_add` may differ between machines only if an input
//! has its top bit set or a pair of products overflows i16. Inputs here have 7 bits, so it is exact
//! everywhere.

use std::arch::wasm32::*;

use super::simd128::{Simd128, Simd128Lanes};
use super::{BytePanel, Kernel, LANES, Panel, float_steps_of, for_each_tile, tile_of};

/// [`Simd128`] with a product of bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Relaxed;

impl Kernel for Relaxed {
    const WIDTH: usize = Simd128::WIDTH;
    const PREFERS_BYTES: bool = true;
    float_steps_of!(self, Simd128, Simd128Lanes);

    fn panel_product(self, panel: Panel<'_>, out: &mut [i32]) {
        Simd128.panel_product(panel, out);
    }

    fn byte_panel_product(self, panel: BytePanel<'_>, out: &mut [i32]) {
        panel.check(Self::WIDTH, out);
        let BytePanel { rows, weights, high, offsets, .. } = panel;
        let groups = [high / 4, (rows.depth - high) / 4];
        for_each_tile(rows.count, 4, |first, height| {
            let tile = tile_of!(tile, height, 1 2 3 4);
            // SAFETY: `check` compared the lengths of all slices with the shapes, and the rows
            // `first..first + height` are below `count`.
            unsafe {
                let inputs = rows.values.as_ptr().add(first * rows.stride);
                let out = out.as_mut_ptr().add(first * Self::WIDTH);
                tile(inputs, rows.stride, groups, weights.as_ptr(), offsets.as_ptr(), out);
            }
        });
    }
}

/// Whether this machine multiplies bytes exactly, and faster than [`Simd128`] multiplies i16.
///
/// Outside the range where it is exact, the result of `i32x4.relaxed_dot_i8x16_i7x16_add` reveals
/// the instruction behind it. An x86 without AVX-VNNI saturates the pairs of products at 32767 and
/// takes so many steps that i16 is as fast, and
/// [`RelaxedPairs`](super::relaxed_pairs::RelaxedPairs) faster; `vpdpbusd` of AVX-VNNI and the
/// instructions of ARM do not saturate. Within the range, an early V8 (11.3, where relaxed SIMD was
/// experimental) treated the weights as unsigned.
pub(super) fn is_fast() -> bool {
    let first_sum = |weight: i8, input: u8| {
        let (weights, inputs) = std::hint::black_box((i8x16_splat(weight), u8x16_splat(input)));
        i32x4_extract_lane::<0>(i32x4_relaxed_dot_i8x16_i7x16_add(weights, inputs, i32x4_splat(5)))
    };
    let is_exact = first_sum(-128, 127) == -128 * 127 * 4 + 5 && first_sum(127, 127) == 127 * 127 * 4 + 5;
    is_exact && first_sum(127, 255) != 2 * i32::from(i16::MAX) + 5
}

/// Multiplies `ROWS` rows by 8 channels. Four rows are the most whose sums V8 keeps in the 16
/// registers of x86-64.
///
/// # Safety
/// Row `r` starts at `inputs + r * stride` and must have `high + low` groups of 4 bytes; `weights` must point to as many
/// groups of 32, `offsets` to 8 integers, and `out` to room for `ROWS` rows of 8 sums.
#[inline(never)]
unsafe fn tile<const ROWS: usize>(
    inputs: *const u8,
    stride: usize,
    [high, low]: [usize; 2],
    weights: *const i8,
    offsets: *const i32,
    out: *mut i32,
) {
    let mut sums = [[i32x4_splat(0); 2]; ROWS];
    let add = |sums: &mut [[v128; 2]; ROWS], group: usize| {
        // SAFETY: the caller guarantees `ROWS` rows of `high + low` groups and as many groups of 32 weights.
        unsafe {
            let weights = weights.add(group * 32).cast::<v128>();
            let (left, right) = (v128_load(weights), v128_load(weights.add(1)));
            for (row, [sum_left, sum_right]) in sums.iter_mut().enumerate() {
                let input = v128_load32_splat(inputs.add(row * stride + 4 * group).cast());
                *sum_left = i32x4_relaxed_dot_i8x16_i7x16_add(left, input, *sum_left);
                *sum_right = i32x4_relaxed_dot_i8x16_i7x16_add(right, input, *sum_right);
            }
        }
    };
    for group in 0..high {
        add(&mut sums, group);
    }
    // SAFETY: the caller guarantees 8 offsets.
    let offsets = unsafe { [v128_load(offsets.cast()), v128_load(offsets.cast::<v128>().add(1))] };
    for sums in &mut sums {
        for (sum, offset) in sums.iter_mut().zip(offsets) {
            *sum = i32x4_add(i32x4_shl(*sum, 7), offset);
        }
    }
    for group in high..high + low {
        add(&mut sums, group);
    }
    for (row, [left, right]) in sums.into_iter().enumerate() {
        // SAFETY: the caller guarantees room for `ROWS` rows of 8 sums.
        unsafe {
            let out = out.add(row * 8).cast::<v128>();
            v128_store(out, left);
            v128_store(out.add(1), right);
        }
    }
}
