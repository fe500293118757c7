//! WebAssembly with `simd128`.

use std::arch::wasm32::*;

use super::matrix::Inputs;
use super::{InputBlock, PANEL, WeightBlock};

/// Inputs that share each load of weights. Their eight sums fit in the registers of x86-64.
const TILE: usize = 4;

/// Multiplies the rows of a panel with all inputs; calls `write` with the number of each.
pub(super) fn panel(panel: &[WeightBlock], inputs: &Inputs, mut write: impl FnMut(usize, [f32; PANEL])) {
    let (tiles, done) = inputs.tiles::<TILE>();
    for (at, tile) in tiles.enumerate() {
        for (offset, sums) in product(panel, tile).into_iter().enumerate() {
            write(TILE * at + offset, sums);
        }
    }
    for (at, input) in inputs.rows_from(done).enumerate() {
        let [sums] = product(panel, [input]);
        write(done + at, sums);
    }
}

#[inline(always)]
fn product<const N: usize>(panel: &[WeightBlock], inputs: [&[InputBlock]; N]) -> [[f32; PANEL]; N] {
    let mut sums = [f32x4_splat(0.0); N];
    for (at, weights) in panel.iter().enumerate() {
        let blocks = inputs.map(|input| input.get(at).unwrap_or(&InputBlock::ZERO));
        // Sums of columns 0 and 1, and of 2 and 3, of the first two rows and of the others.
        let mut low = [i32x4_splat(0); N];
        let mut high = [i32x4_splat(0); N];
        for (group, bytes) in weights.weights.iter().enumerate() {
            let bytes = load(bytes);
            let (of_low, of_high) = (i16x8_extend_low_i8x16(bytes), i16x8_extend_high_i8x16(bytes));
            for ((block, low), high) in blocks.iter().zip(&mut low).zip(&mut high) {
                let Some(values) = block.values.get(group) else { continue };
                let values = load_twice(values);
                *low = i32x4_add(*low, i32x4_dot_i16x8(of_low, values));
                *high = i32x4_add(*high, i32x4_dot_i16x8(of_high, values));
            }
        }
        let scales = load_floats(&weights.scales);
        for (((sum, block), low), high) in sums.iter_mut().zip(blocks).zip(low).zip(high) {
            let even = i32x4_shuffle::<0, 2, 4, 6>(low, high);
            let odd = i32x4_shuffle::<1, 3, 5, 7>(low, high);
            let integers = f32x4_convert_i32x4(i32x4_add(even, odd));
            let scales = f32x4_mul(scales, f32x4_splat(block.scale));
            *sum = f32x4_add(*sum, f32x4_mul(integers, scales));
        }
    }
    sums.map(to_array)
}

#[inline(always)]
fn load(bytes: &[i8; 16]) -> v128 {
    // SAFETY: the array is one vector long; loads need no alignment.
    unsafe { v128_load(bytes.as_ptr().cast()) }
}

#[inline(always)]
fn load_floats(floats: &[f32; 4]) -> v128 {
    // SAFETY: the array is one vector long; loads need no alignment.
    unsafe { v128_load(floats.as_ptr().cast()) }
}

/// Four integers, twice.
#[inline(always)]
fn load_twice(values: &[i16; 4]) -> v128 {
    // SAFETY: the array has the eight bytes that are read; loads need no alignment.
    unsafe { v128_load64_splat(values.as_ptr().cast()) }
}

#[inline(always)]
fn to_array(vector: v128) -> [f32; PANEL] {
    [
        f32x4_extract_lane::<0>(vector),
        f32x4_extract_lane::<1>(vector),
        f32x4_extract_lane::<2>(vector),
        f32x4_extract_lane::<3>(vector),
    ]
}
