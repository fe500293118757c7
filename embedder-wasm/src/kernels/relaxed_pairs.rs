//! WebAssembly with relaxed SIMD on processors that multiply bytes in pairs: x86 without AVX-VNNI.
//!
//! `i16x8.relaxed_dot_i8x16_i7x16` is one instruction there, `vpmaddubsw`. Its result may differ
//! between machines only if an input has its top bit set: inputs here have 7 bits, so no pair of
//! products overflows i16.

use std::arch::wasm32::*;

use super::simd128::{Simd128, Simd128Lanes};
use super::{BytePanel, Kernel, LANES, Panel, float_steps_of, for_each_tile, tile_of};

/// [`Simd128`] with a product of bytes that is added in i16.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RelaxedPairs;

impl Kernel for RelaxedPairs {
    const WIDTH: usize = Simd128::WIDTH;
    const PREFERS_BYTES: bool = true;
    const ADDS_IN_I16: bool = true;
    float_steps_of!(self, Simd128, Simd128Lanes);

    fn panel_product(self, panel: Panel<'_>, out: &mut [i32]) {
        Simd128.panel_product(panel, out);
    }

    fn byte_panel_product(self, panel: BytePanel<'_>, out: &mut [i32]) {
        panel.check(Self::WIDTH, out);
        panel.check_starts(Self::WIDTH);
        let BytePanel { rows, weights, high, offsets, ends, starts } = panel;
        for_each_tile(rows.count, 4, |first, height| {
            let tile = tile_of!(tile, height, 1 2 3 4);
            // SAFETY: `check` and `check_starts` compared the lengths of all slices with the shapes, and the rows
            // `first..first + height` are below `count`.
            unsafe {
                let inputs = rows.values.as_ptr().add(first * rows.stride);
                let out = out.as_mut_ptr().add(first * Self::WIDTH);
                tile(
                    inputs,
                    rows.stride,
                    high / 4,
                    (ends, starts.as_ptr()),
                    weights.as_ptr(),
                    offsets.as_ptr(),
                    out,
                );
            }
        });
    }
}

/// Whether this machine multiplies pairs of bytes exactly. An early V8 (11.3, where relaxed SIMD
/// was experimental) treated the weights as unsigned.
pub(super) fn is_exact() -> bool {
    [-128, 127].into_iter().all(|weight| {
        let (weights, inputs) = std::hint::black_box((i8x16_splat(weight), i8x16_splat(127)));
        let sum = i16x8_extract_lane::<0>(i16x8_relaxed_dot_i8x16_i7x16(weights, inputs));
        i32::from(sum) == i32::from(weight) * 127 * 2
    })
}

/// Multiplies `ROWS` rows by 8 channels. Four rows are the most whose sums V8 keeps in the 16
/// registers of x86-64.
///
/// # Safety
/// `ends` must be ascending, and `starts` point to 16 integers for each of them. Row `r` starts at `inputs + r * stride` and
/// must have as many groups of 4 bytes as the last of `ends`; `weights` must point to as many groups of 32, `offsets` to 8
/// integers, and `out` to room for `ROWS` rows of 8 sums.
#[inline(never)]
unsafe fn tile<const ROWS: usize>(
    inputs: *const u8,
    stride: usize,
    high: usize,
    (ends, starts): (&[usize], *const i16),
    weights: *const i8,
    offsets: *const i32,
    out: *mut i32,
) {
    // SAFETY: the caller guarantees 8 offsets.
    let offsets = unsafe { [v128_load(offsets.cast()), v128_load(offsets.cast::<v128>().add(1))] };
    // SAFETY: the caller guarantees room for `ROWS` rows of 8 sums.
    let out: [*mut v128; ROWS] = std::array::from_fn(|row| unsafe { out.add(row * 8) }.cast());
    let mut group = 0;
    for (segment, &end) in ends.iter().enumerate() {
        // SAFETY: the caller guarantees 16 starts for each segment.
        let starts = unsafe {
            let starts = starts.add(segment * 16).cast::<v128>();
            [v128_load(starts), v128_load(starts.add(1))]
        };
        let mut sums = [starts; ROWS];
        while group < end {
            // SAFETY: `group` is below the last of `ends`, as the caller guarantees for the rows and the weights.
            unsafe {
                let weights = weights.add(group * 32).cast::<v128>();
                let (left, right) = (v128_load(weights), v128_load(weights.add(1)));
                for (row, [sum_left, sum_right]) in sums.iter_mut().enumerate() {
                    let input = v128_load32_splat(inputs.add(row * stride + 4 * group).cast());
                    *sum_left = i16x8_add(*sum_left, i16x8_relaxed_dot_i8x16_i7x16(left, input));
                    *sum_right = i16x8_add(*sum_right, i16x8_relaxed_dot_i8x16_i7x16(right, input));
                }
            }
            group += 1;
        }
        for (out, sums) in out.iter().zip(sums) {
            for (half, sum) in sums.into_iter().enumerate() {
                let mut sum = i32x4_extadd_pairwise_i16x8(sum);
                // SAFETY: the caller guarantees room for `ROWS` rows of two vectors.
                unsafe {
                    let out = out.add(half);
                    if segment > 0 {
                        sum = i32x4_add(sum, v128_load(out));
                    } else if high == 0 {
                        sum = i32x4_add(sum, offsets[half]);
                    }
                    if group == high {
                        sum = i32x4_add(i32x4_shl(sum, 7), offsets[half]);
                    }
                    v128_store(out, sum);
                }
            }
        }
    }
}
