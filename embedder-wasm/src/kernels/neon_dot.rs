//! 64-bit ARM with the dot product of bytes (`FEAT_DotProd`; every processor since about 2018).

use std::arch::aarch64::*;
use std::arch::{asm, is_aarch64_feature_detected};

use super::neon::{Neon, NeonLanes};
use super::{BytePanel, Kernel, LANES, Panel, float_steps_of, for_each_tile, tile_of};

/// The processor has `sdot`, which multiplies four bytes by four bytes in each lane; everything else is that of [`Neon`], which is part of the target.
/// Only `detect` creates a value, so it proves that the processor has the instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NeonDot(());

impl NeonDot {
    pub(super) fn detect() -> Option<Self> {
        is_aarch64_feature_detected!("dotprod").then_some(Self(()))
    }
}

impl Kernel for NeonDot {
    const WIDTH: usize = Neon::WIDTH;
    const PREFERS_BYTES: bool = true;
    float_steps_of!(self, Neon, NeonLanes);

    fn panel_product(self, panel: Panel<'_>, out: &mut [i32]) {
        Neon.panel_product(panel, out);
    }

    fn byte_panel_product(self, panel: BytePanel<'_>, out: &mut [i32]) {
        panel.check(Self::WIDTH, out);
        let BytePanel { rows, weights, high, offsets, .. } = panel;
        let groups = [high / 4, (rows.depth - high) / 4];
        for_each_tile(rows.count, 8, |first, height| {
            let tile = tile_of!(tile, height, 1 2 3 4 5 6 7 8);
            // SAFETY: `self` proves that the processor has `sdot`; `check` compared the lengths of all slices with the
            // shapes, and the rows `first..first + height` are below `count`.
            unsafe {
                let inputs = rows.values.as_ptr().add(first * rows.stride);
                let out = out.as_mut_ptr().add(first * Self::WIDTH);
                tile(inputs, rows.stride, groups, weights.as_ptr(), offsets.as_ptr(), out);
            }
        });
    }
}

/// `$sum += weights · inputs`, where the inputs of every lane are those of one lane of `$inputs`: `sdot`, whose intrinsic
/// is not stable.
///
/// The processor must have `FEAT_DotProd`.
macro_rules! dot_lane {
    ($sum:expr, $weights:expr, $inputs:expr, $lane:literal) => {
        asm!(
            concat!("sdot {sum:v}.4s, {weights:v}.16b, {inputs:v}.4b[", $lane, "]"),
            sum = inout(vreg) *$sum,
            weights = in(vreg) $weights,
            inputs = in(vreg) $inputs,
            options(pure, nomem, nostack, preserves_flags),
        )
    };
}

/// Multiplies `ROWS` rows by 8 channels. Eight rows of two vectors of sums and one of inputs, and two vectors of weights take
/// 26 of the 32 registers.
///
/// # Safety
/// The processor must have `FEAT_DotProd`. Row `r` starts at `inputs + r * stride` and must have `high + low` groups of 4
/// bytes; `weights` must point to as many groups of 32, `offsets` to 8 integers, and `out` to room for `ROWS` rows of 8
/// sums.
#[target_feature(enable = "neon,dotprod")]
unsafe fn tile<const ROWS: usize>(
    inputs: *const u8,
    stride: usize,
    [high, low]: [usize; 2],
    weights: *const i8,
    offsets: *const i32,
    out: *mut i32,
) {
    let mut sums = [[vdupq_n_s32(0); 2]; ROWS];
    let add = |sums: &mut [[int32x4_t; 2]; ROWS], from: usize, to: usize| {
        let mut group = from;
        // Four groups at a time, so that four instructions share a load of inputs.
        while to - group >= 4 {
            // SAFETY: the caller guarantees `ROWS` rows of `to` groups and as many groups of 32 weights, and that the
            // processor has `sdot`.
            unsafe {
                let inputs: [int8x16_t; ROWS] =
                    std::array::from_fn(|row| vld1q_s8(inputs.add(row * stride + 4 * group).cast()));
                macro_rules! add_group {
                    ($lane:literal) => {
                        let weights = weights.add((group + $lane) * 32);
                        let (left, right) = (vld1q_s8(weights), vld1q_s8(weights.add(16)));
                        for (inputs, [sum_left, sum_right]) in inputs.iter().zip(sums.iter_mut()) {
                            dot_lane!(sum_left, left, *inputs, $lane);
                            dot_lane!(sum_right, right, *inputs, $lane);
                        }
                    };
                }
                add_group!(0);
                add_group!(1);
                add_group!(2);
                add_group!(3);
            }
            group += 4;
        }
        while group < to {
            // SAFETY: as above.
            unsafe {
                let weights = weights.add(group * 32);
                let (left, right) = (vld1q_s8(weights), vld1q_s8(weights.add(16)));
                for (row, [sum_left, sum_right]) in sums.iter_mut().enumerate() {
                    let input = inputs.add(row * stride + 4 * group).cast::<i32>().read_unaligned();
                    let input = vdupq_n_s32(input);
                    dot_lane!(sum_left, left, input, 0);
                    dot_lane!(sum_right, right, input, 0);
                }
            }
            group += 1;
        }
    };
    add(&mut sums, 0, high);
    // SAFETY: the caller guarantees 8 offsets.
    let offsets = unsafe { [vld1q_s32(offsets), vld1q_s32(offsets.add(4))] };
    for sums in &mut sums {
        for (sum, offset) in sums.iter_mut().zip(offsets) {
            *sum = vaddq_s32(vshlq_n_s32::<7>(*sum), offset);
        }
    }
    add(&mut sums, high, high + low);
    for (row, [left, right]) in sums.into_iter().enumerate() {
        // SAFETY: the caller guarantees room for `ROWS` rows of 8 sums.
        unsafe {
            vst1q_s32(out.add(row * 8), left);
            vst1q_s32(out.add(row * 8 + 4), right);
        }
    }
}
