//! The definition of the products, in Rust without intrinsics.

use super::matrix::Inputs;
use super::{InputBlock, PANEL, WeightBlock};

/// Multiplies the rows of a panel with all inputs; calls `write` with the number of each.
pub(super) fn panel(panel: &[WeightBlock], inputs: &Inputs, mut write: impl FnMut(usize, [f32; PANEL])) {
    for (at, input) in inputs.rows_from(0).enumerate() {
        write(at, product(panel, input));
    }
}

fn product(panel: &[WeightBlock], input: &[InputBlock]) -> [f32; PANEL] {
    let mut sums = [0.0; PANEL];
    for (weights, input) in panel.iter().zip(input) {
        let mut integers = [0; PANEL];
        for (group, values) in weights.weights.iter().zip(&input.values) {
            for (integer, weights) in integers.iter_mut().zip(group.as_chunks::<4>().0) {
                for (weight, value) in weights.iter().zip(values) {
                    *integer += i32::from(*weight) * i32::from(*value);
                }
            }
        }
        for ((sum, integer), scale) in sums.iter_mut().zip(integers).zip(weights.scales) {
            *sum += integer as f32 * (scale * input.scale);
        }
    }
    sums
}
