//! Eight f32 lanes: the vector type of the model's float steps, the same on every machine.

/// Lanes of a [`Lanes`] vector.
pub(crate) const LANES: usize = 8;

/// A vector of eight f32 values, created by a [`Kernel`](super::Kernel).
///
/// Every operation is IEEE 754 single precision, rounded once, lane by lane, without fused multiply-add. So an
/// expression over lanes has the same bits on every machine. `max`, `min` and the conversions to integers only ever
/// get finite values.
pub(crate) trait Lanes: Copy {
    fn store(self, to: &mut [f32; LANES]);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn abs(self) -> Self;
    /// Rounds to the nearest integer, ties to even. The rounded values must fit in i16.
    fn store_i16(self, to: &mut [i16; LANES]);
    /// Splits each lane into 2ⁿ and the rest `lane - n`, where `n` is the nearest integer, ties to even, and must be in
    /// -126..=127.
    fn split_exponent(self) -> (Self, Self);

    #[inline(always)]
    fn to_array(self) -> [f32; LANES] {
        let mut values = [0.0; LANES];
        self.store(&mut values);
        values
    }

    /// Sum of the lanes, added from the first to the last.
    #[inline(always)]
    fn sum(self) -> f32 {
        let [a, b, c, d, e, f, g, h] = self.to_array();
        a + b + c + d + e + f + g + h
    }

    /// The largest lane.
    #[inline(always)]
    fn max_lane(self) -> f32 {
        self.to_array().into_iter().fold(f32::MIN, |max, lane| if lane > max { lane } else { max })
    }
}
