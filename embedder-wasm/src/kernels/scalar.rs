//! The kernel without SIMD. It is the definition: the others return the same bits, only faster.

use super::lanes::{LANES, Lanes};
use super::{Kernel, Panel, Rows};

/// Runs on every machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scalar;

impl Kernel for Scalar {
    const WIDTH: usize = 8;
    type Lanes = ScalarLanes;

    #[inline(always)]
    fn splat(self, value: f32) -> ScalarLanes {
        ScalarLanes([value; LANES])
    }

    #[inline(always)]
    fn load(self, values: &[f32; LANES]) -> ScalarLanes {
        ScalarLanes(*values)
    }

    #[inline(always)]
    fn load_i32(self, values: &[i32; LANES]) -> ScalarLanes {
        ScalarLanes(values.map(|value| value as f32))
    }

    #[inline(always)]
    fn load_i8(self, values: &[u8; LANES]) -> ScalarLanes {
        ScalarLanes(values.map(|value| f32::from(value.cast_signed())))
    }

    fn panel_product(self, panel: Panel<'_>, out: &mut [i32]) {
        panel.check(Self::WIDTH, out);
        let Rows { values, stride, count, depth } = panel.rows;
        let (weights, _) = panel.weights.as_chunks::<{ 2 * Self::WIDTH }>();
        for (row, sums) in (0..count).zip(out.chunks_exact_mut(Self::WIDTH)) {
            let (pairs, _) = values[row * stride..][..depth].as_chunks::<2>();
            sums.fill(0);
            for (&[even, odd], weights) in pairs.iter().zip(weights) {
                let (weights, _) = weights.as_chunks::<2>();
                for (sum, &[for_even, for_odd]) in sums.iter_mut().zip(weights) {
                    *sum += i32::from(even) * i32::from(for_even) + i32::from(odd) * i32::from(for_odd);
                }
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ScalarLanes([f32; LANES]);

impl ScalarLanes {
    #[inline(always)]
    fn map(self, f: impl Fn(f32) -> f32) -> Self {
        Self(self.0.map(f))
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let mut lanes = self.0;
        for (lane, other) in lanes.iter_mut().zip(other.0) {
            *lane = f(*lane, other);
        }
        Self(lanes)
    }
}

impl Lanes for ScalarLanes {
    #[inline(always)]
    fn store(self, to: &mut [f32; LANES]) {
        *to = self.0;
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.map(f32::abs)
    }

    #[inline(always)]
    fn store_i16(self, to: &mut [i16; LANES]) {
        *to = self.0.map(|lane| lane.round_ties_even() as i16);
    }

    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        let integer = self.map(f32::round_ties_even);
        let power =
            |lane: f32| f32::from_bits((lane as i32).wrapping_add(127).wrapping_shl(23).cast_unsigned());
        (integer.map(power), self.sub(integer))
    }
}
