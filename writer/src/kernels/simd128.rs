//! WebAssembly with plain `simd128`.

#![cfg_attr(target_feature = "relaxed-simd", allow(dead_code, reason = "only its float steps are used"))]

use std::arch::wasm32::*;

use super::PANEL;
#[cfg(not(target_feature = "relaxed-simd"))]
use super::{InputBlock, WeightBlock, matrix::Inputs};

/// Multiplies the rows of one or two panels (the second may be empty) with all inputs.
#[cfg(not(target_feature = "relaxed-simd"))]
pub(super) fn panels(
    first: &[WeightBlock],
    second: &[WeightBlock],
    inputs: &Inputs,
    write: &mut impl FnMut(usize, usize, [f32; PANEL]),
) {
    // Four inputs share each extension of weights; their eight sums fit in the registers of x86-64.
    for (number, panel) in [first, second].into_iter().enumerate().filter(|(_, panel)| !panel.is_empty()) {
        let (tiles, done) = inputs.tiles::<4>();
        for (at, tile) in tiles.enumerate() {
            for (offset, sums) in product(panel, tile).into_iter().enumerate() {
                write(4 * at + offset, number, sums);
            }
        }
        for (at, input) in inputs.rows_from(done).enumerate() {
            let [sums] = product(panel, [input]);
            write(done + at, number, sums);
        }
    }
}

#[cfg(not(target_feature = "relaxed-simd"))]
#[inline(always)]
fn product<const N: usize>(panel: &[WeightBlock], inputs: [&[InputBlock]; N]) -> [[f32; PANEL]; N] {
    let mut sums = [f32x4_splat(0.0); N];
    for (at, weights) in panel.iter().enumerate() {
        let blocks = inputs.map(|input| input.get(at).unwrap_or(&InputBlock::ZERO));
        // Pairs of columns of rows 0 and 1, and of rows 2 and 3.
        let mut low = [i32x4_splat(0); N];
        let mut high = [i32x4_splat(0); N];
        for (group, bytes) in weights.weights.iter().enumerate() {
            let bytes = load(bytes);
            let (of_low, of_high) = (u16x8_extend_low_u8x16(bytes), u16x8_extend_high_u8x16(bytes));
            for ((block, low), high) in blocks.iter().zip(&mut low).zip(&mut high) {
                let Some(values) = block.values.get(group) else { continue };
                let values = load_repeated(values);
                *low = i32x4_add(*low, i32x4_dot_i16x8(of_low, values));
                *high = i32x4_add(*high, i32x4_dot_i16x8(of_high, values));
            }
        }
        let scales = load_floats(&weights.scales);
        for (((sum, block), low), high) in sums.iter_mut().zip(blocks).zip(low).zip(high) {
            let even = i32x4_shuffle::<0, 2, 4, 6>(low, high);
            let odd = i32x4_shuffle::<1, 3, 5, 7>(low, high);
            let integers = i32x4_add(i32x4_add(even, odd), i32x4_splat(block.correction));
            *sum = add_scaled(*sum, integers, scales, block.scale);
        }
    }
    sums.map(to_array)
}

/// The float steps between blocks.
#[inline(always)]
pub(super) fn add_scaled(sum: v128, integers: v128, scales: v128, scale: f32) -> v128 {
    f32x4_add(sum, f32x4_mul(f32x4_convert_i32x4(integers), f32x4_mul(scales, f32x4_splat(scale))))
}

#[inline(always)]
pub(super) fn load(bytes: &[u8; 16]) -> v128 {
    // SAFETY: the array is one vector long; loads need no alignment.
    unsafe { v128_load(bytes.as_ptr().cast()) }
}

#[inline(always)]
pub(super) fn load_floats(floats: &[f32; 4]) -> v128 {
    // SAFETY: the array is one vector long; loads need no alignment.
    unsafe { v128_load(floats.as_ptr().cast()) }
}

/// Four integers twice.
#[cfg(not(target_feature = "relaxed-simd"))]
#[inline(always)]
fn load_repeated(values: &[i16; 4]) -> v128 {
    // SAFETY: the array has eight bytes; loads need no alignment.
    unsafe { v128_load64_splat(values.as_ptr().cast()) }
}

#[inline(always)]
pub(super) fn to_array(vector: v128) -> [f32; PANEL] {
    [
        f32x4_extract_lane::<0>(vector),
        f32x4_extract_lane::<1>(vector),
        f32x4_extract_lane::<2>(vector),
        f32x4_extract_lane::<3>(vector),
    ]
}
