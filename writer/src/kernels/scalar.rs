//! The definition of the products, in Rust without intrinsics.

use super::matrix::Inputs;
use super::{InputBlock, PANEL, WeightBlock};

/// Multiplies the rows of one or two panels (the second may be empty) with all inputs.
pub(super) fn panels(
    first: &[WeightBlock],
    second: &[WeightBlock],
    inputs: &Inputs,
    write: &mut impl FnMut(usize, usize, [f32; PANEL]),
) {
    for (at, input) in inputs.rows_from(0).enumerate() {
        for (number, panel) in [first, second].into_iter().enumerate().filter(|(_, panel)| !panel.is_empty())
        {
            write(at, number, product(panel, input));
        }
    }
}

fn product(panel: &[WeightBlock], input: &[InputBlock]) -> [f32; PANEL] {
    let mut sums = [0.0; PANEL];
    for (weights, input) in panel.iter().zip(input) {
        let mut integers = [input.correction; PANEL];
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
