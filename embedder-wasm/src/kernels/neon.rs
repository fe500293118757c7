//! 64-bit ARM with NEON, which is part of the target.

use std::arch::aarch64::*;

use super::lanes::{LANES, Lanes};
use super::{Kernel, Panel, Rows, for_each_tile, tile_of};

/// `smlal` over panels of 8 channels; `ld2` separates the weights of even and odd inputs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neon;

impl Kernel for Neon {
    const WIDTH: usize = 8;
    type Lanes = NeonLanes;

    #[inline(always)]
    fn splat(self, value: f32) -> NeonLanes {
        // SAFETY: NEON is part of the target.
        let lanes = unsafe { vdupq_n_f32(value) };
        NeonLanes(lanes, lanes)
    }

    #[inline(always)]
    fn load(self, values: &[f32; LANES]) -> NeonLanes {
        // SAFETY: NEON is part of the target; the array is two vectors long.
        unsafe { NeonLanes(vld1q_f32(values.as_ptr()), vld1q_f32(values.as_ptr().add(4))) }
    }

    #[inline(always)]
    fn load_i32(self, values: &[i32; LANES]) -> NeonLanes {
        // SAFETY: NEON is part of the target; the array is two vectors long.
        unsafe {
            let (low, high) = (vld1q_s32(values.as_ptr()), vld1q_s32(values.as_ptr().add(4)));
            NeonLanes(vcvtq_f32_s32(low), vcvtq_f32_s32(high))
        }
    }

    #[inline(always)]
    fn load_i8(self, values: &[u8; LANES]) -> NeonLanes {
        // SAFETY: NEON is part of the target; the array has eight bytes.
        unsafe {
            let i16s = vmovl_s8(vld1_s8(values.as_ptr().cast()));
            let (low, high) = (vmovl_s16(vget_low_s16(i16s)), vmovl_high_s16(i16s));
            NeonLanes(vcvtq_f32_s32(low), vcvtq_f32_s32(high))
        }
    }

    fn panel_product(self, panel: Panel<'_>, out: &mut [i32]) {
        panel.check(Self::WIDTH, out);
        let Rows { values, stride, count, depth } = panel.rows;
        for_each_tile(count, 8, |first, height| {
            let tile = tile_of!(tile, height, 1 2 3 4 5 6 7 8);
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

/// Multiplies `ROWS` rows by 8 channels. Eight rows of two vectors of sums take half of the 32 registers.
///
/// # Safety
/// Row `r` starts at `inputs + r * stride` and must have `2 * pairs` integers; `weights` must point to `pairs` groups
/// of 16, and `out` to room for `ROWS` rows of 8 sums.
unsafe fn tile<const ROWS: usize>(
    inputs: *const i16,
    stride: usize,
    pairs: usize,
    weights: *const i16,
    out: *mut i32,
) {
    // SAFETY: the caller guarantees `ROWS` rows of `pairs` pairs, as many groups of 16 weights, and room for `ROWS` rows
    // of 8 sums.
    unsafe {
        let mut sums = [[vdupq_n_s32(0); 2]; ROWS];
        for pair in 0..pairs {
            let int16x8x2_t(even, odd) = vld2q_s16(weights.add(pair * 16));
            for (row, [low, high]) in sums.iter_mut().enumerate() {
                let input = inputs.add(row * stride + 2 * pair);
                let (first, second) = (vdupq_n_s16(*input), vdupq_n_s16(*input.add(1)));
                *low = vmlal_s16(*low, vget_low_s16(even), vget_low_s16(first));
                *high = vmlal_high_s16(*high, even, first);
                *low = vmlal_s16(*low, vget_low_s16(odd), vget_low_s16(second));
                *high = vmlal_high_s16(*high, odd, second);
            }
        }
        for (row, [low, high]) in sums.into_iter().enumerate() {
            vst1q_s32(out.add(row * 8), low);
            vst1q_s32(out.add(row * 8 + 4), high);
        }
    }
}

/// Two NEON vectors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NeonLanes(float32x4_t, float32x4_t);

impl NeonLanes {
    #[inline(always)]
    fn map(self, f: impl Fn(float32x4_t) -> float32x4_t) -> Self {
        Self(f(self.0), f(self.1))
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(float32x4_t, float32x4_t) -> float32x4_t) -> Self {
        Self(f(self.0, other.0), f(self.1, other.1))
    }
}

impl Lanes for NeonLanes {
    #[inline(always)]
    fn store(self, to: &mut [f32; LANES]) {
        // SAFETY: NEON is part of the target; the pointer is to an array of the length that is written.
        unsafe {
            vst1q_f32(to.as_mut_ptr(), self.0);
            vst1q_f32(to.as_mut_ptr().add(4), self.1);
        }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: NEON is part of the target.
        self.zip(other, |a, b| unsafe { vaddq_f32(a, b) })
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: NEON is part of the target.
        self.zip(other, |a, b| unsafe { vsubq_f32(a, b) })
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: NEON is part of the target.
        self.zip(other, |a, b| unsafe { vmulq_f32(a, b) })
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // SAFETY: NEON is part of the target.
        self.zip(other, |a, b| unsafe { vdivq_f32(a, b) })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: NEON is part of the target.
        self.zip(other, |a, b| unsafe { vbslq_f32(vcgtq_f32(a, b), a, b) })
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: NEON is part of the target.
        self.zip(other, |a, b| unsafe { vbslq_f32(vcltq_f32(a, b), a, b) })
    }

    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: NEON is part of the target.
        self.map(|lanes| unsafe { vabsq_f32(lanes) })
    }

    #[inline(always)]
    fn store_i16(self, to: &mut [i16; LANES]) {
        // SAFETY: NEON is part of the target; the pointer is to an array of the length that is written.
        unsafe {
            let low = vqmovn_s32(vcvtnq_s32_f32(self.0));
            vst1q_s16(to.as_mut_ptr(), vqmovn_high_s32(low, vcvtnq_s32_f32(self.1)));
        }
    }

    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        // SAFETY: NEON is part of the target.
        let integer = self.map(|lanes| unsafe { vrndnq_f32(lanes) });
        // SAFETY: NEON is part of the target.
        let power = integer.map(|lanes| unsafe {
            let exponent = vaddq_s32(vcvtnq_s32_f32(lanes), vdupq_n_s32(127));
            vreinterpretq_f32_s32(vshlq_n_s32::<23>(exponent))
        });
        (power, self.sub(integer))
    }
}
