//! The integer weights of a linear layer as the model file stores them.

/// One row of bytes per channel, and the weights that do not fit in a byte.
pub(crate) struct Matrix<'a> {
    /// Number of weights per channel.
    pub(crate) depth: usize,
    /// `[channels][depth]`, two's complement. The bytes of large weights have no meaning.
    pub(crate) bytes: &'a [u8],
    /// Ascending by channel, then column.
    pub(crate) large: Vec<LargeWeight>,
}

/// A weight that may not fit in a byte.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LargeWeight {
    pub(crate) channel: usize,
    pub(crate) column: usize,
    pub(crate) weight: i16,
}

/// The weights of one channel.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    bytes: &'a [u8],
    pub(super) large: &'a [LargeWeight],
}

impl Matrix<'_> {
    /// The channels, in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let mut rest = self.large.as_slice();
        self.bytes.chunks_exact(self.depth).enumerate().map(move |(channel, bytes)| {
            let (large, later) = rest.split_at(rest.partition_point(|weight| weight.channel <= channel));
            rest = later;
            Row { bytes, large }
        })
    }
}

impl Row<'_> {
    /// Writes the weights as i16, or clamped as i8.
    pub(super) fn write<T: FromWeight>(&self, to: &mut [T]) {
        for (to, byte) in to.iter_mut().zip(self.bytes) {
            *to = T::from_byte(byte.cast_signed());
        }
        for large in self.large {
            to[large.column] = T::clamped(large.weight);
        }
    }

    /// Whether the sum of the magnitudes is above `limit`.
    pub(crate) fn exceeds(&self, limit: u32) -> bool {
        let large: u32 = self.large.iter().map(|large| u32::from(large.weight.unsigned_abs())).sum();
        // A cheap upper bound, which is almost always low enough.
        let max_bytes = self.bytes.len() as u32 * u32::from(i8::MIN.unsigned_abs());
        max_bytes + large > limit && self.magnitude() > limit
    }

    fn magnitude(&self) -> u32 {
        let mut weights = vec![0_i16; self.bytes.len()];
        self.write(&mut weights);
        weights.iter().map(|weight| u32::from(weight.unsigned_abs())).sum()
    }
}

/// An integer type that a weight can be written as.
pub(super) trait FromWeight: Copy {
    fn from_byte(byte: i8) -> Self;
    /// The nearest value of the type.
    fn clamped(weight: i16) -> Self;
}

impl FromWeight for i8 {
    fn from_byte(byte: i8) -> Self {
        byte
    }

    fn clamped(weight: i16) -> Self {
        weight.clamp(i16::from(i8::MIN), i16::from(i8::MAX)) as i8
    }
}

impl FromWeight for i16 {
    fn from_byte(byte: i8) -> Self {
        Self::from(byte)
    }

    fn clamped(weight: i16) -> Self {
        weight
    }
}
