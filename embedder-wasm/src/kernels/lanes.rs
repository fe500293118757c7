//! Eight f32 lanes: what the float steps of the model are written in, once for every machine.

/// Lanes of a [`Lanes`] vector.
pub(crate) const LANES: usize = 8;

/// Eight f32 values that are worked on together.
///
/// Every operation is IEEE 754 single precision, rounded once, lane by lane, and there is no fused multiply-add: an
/// expression written in lanes therefore has the same bits on every machine. `max`, `min` and the conversions to
/// integers are only ever given finite values.
pub(crate) trait Lanes: Copy {
    fn splat(value: f32) -> Self;
    fn load(values: &[f32; LANES]) -> Self;
    fn store(self, to: &mut [f32; LANES]);
    /// Exact for values below 2²⁴, else rounded to the nearest even.
    fn from_i32(values: &[i32; LANES]) -> Self;
    /// Bytes in two's complement.
    fn from_i8(values: &[u8; LANES]) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn abs(self) -> Self;
    /// Rounds to the nearest integer, ties to even. The rounded values must fit in i16.
    fn store_i16(self, to: &mut [i16; LANES]);
    /// 2 to the power of the nearest integer (ties to even), which must be in -126..=127; and each lane less the integer.
    fn split_exponent(self) -> (Self, Self);

    /// The lanes as an array.
    #[inline(always)]
    fn to_array(self) -> [f32; LANES] {
        let mut values = [0.0; LANES];
        self.store(&mut values);
        values
    }

    /// Sum of the lanes, from the first to the last.
    #[inline(always)]
    fn sum(self) -> f32 {
        let [a, b, c, d, e, f, g, h] = self.to_array();
        a + b + c + d + e + f + g + h
    }

    /// Greatest lane.
    #[inline(always)]
    fn greatest(self) -> f32 {
        self.to_array()
            .into_iter()
            .fold(f32::MIN, |greatest, lane| if lane > greatest { lane } else { greatest })
    }
}
