//! WebAssembly with relaxed SIMD: four products of bytes in one lane.
//!
//! The result of `i32x4.relaxed_dot_i8x16_i7x16_add` may differ between machines only if a weight has its top bit set or a pair
//! of products overflows i16. Weights have 7 bits, and 2 · 127 · 127 < 2¹⁵, so it is exact everywhere.

use std::arch::wasm32::*;

use super::matrix::Inputs;
use super::simd128::{add_scaled, load, load_floats, to_array};
use super::{InputBlock, PANEL, WeightBlock};

/// Multiplies the rows of one or two panels (the second may be empty) with all inputs.
pub(super) fn panels(
    first: &[WeightBlock],
    second: &[WeightBlock],
    inputs: &Inputs,
    write: &mut impl FnMut(usize, usize, [f32; PANEL]),
) {
    if second.is_empty() {
        for (at, input) in inputs.rows_from(0).enumerate() {
            let [[sums]] = product([first], [input]);
            write(at, 0, sums);
        }
        return;
    }
    // Eight sums fit in the registers of x86-64.
    let (tiles, done) = inputs.tiles::<4>();
    for (at, tile) in tiles.enumerate() {
        for (number, panel) in product([first, second], tile).into_iter().enumerate() {
            for (offset, sums) in panel.into_iter().enumerate() {
                write(4 * at + offset, number, sums);
            }
        }
    }
    for (at, input) in inputs.rows_from(done).enumerate() {
        for (number, [sums]) in product([first, second], [input]).into_iter().enumerate() {
            write(done + at, number, sums);
        }
    }
}

#[inline(always)]
fn product<const P: usize, const N: usize>(
    panels: [&[WeightBlock]; P],
    inputs: [&[InputBlock]; N],
) -> [[[f32; PANEL]; N]; P] {
    let mut sums = [[f32x4_splat(0.0); N]; P];
    let length = panels.first().map_or(0, |panel| panel.len());
    for at in 0..length {
        let weights = panels.map(|panel| panel.get(at).unwrap_or(&WeightBlock::ZERO));
        let blocks = inputs.map(|input| input.get(at).unwrap_or(&InputBlock::ZERO));
        let mut integers = [blocks.map(|block| i32x4_splat(block.correction)); P];
        for group in 0..super::BLOCK / 4 {
            let values = blocks.map(|block| block.values.get(group).map_or(i32x4_splat(0), load_repeated));
            for (panel, integers) in weights.iter().zip(&mut integers) {
                let Some(bytes) = panel.weights.get(group) else { continue };
                let bytes = load(bytes);
                for (integer, values) in integers.iter_mut().zip(values) {
                    *integer = i32x4_relaxed_dot_i8x16_i7x16_add(values, bytes, *integer);
                }
            }
        }
        for ((panel, sums), integers) in weights.iter().zip(&mut sums).zip(integers) {
            let scales = load_floats(&panel.scales);
            for ((sum, integers), block) in sums.iter_mut().zip(integers).zip(blocks) {
                *sum = add_scaled(*sum, integers, scales, block.scale);
            }
        }
    }
    sums.map(|panel| panel.map(to_array))
}

/// Four bytes four times.
#[inline(always)]
fn load_repeated(values: &[i8; 4]) -> v128 {
    i32x4_splat(i32::from_le_bytes(values.map(|value| value as u8)))
}
