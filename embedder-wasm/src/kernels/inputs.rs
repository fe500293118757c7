//! Inputs of linear layers, rounded to integers.
//!
//! In a transformer a few input columns have values many times larger than all others (Dettmers et al. 2022,
//! "LLM.int8()"). These *wide* columns get 14 bits, the *narrow* ones 7, with one scale per row. So the exact integers
//! fit both kinds of kernels: as i16, or as bytes with separate high parts of the wide columns.

use super::{Kernel, LANES, Lanes, MAX_ACTIVATION};

/// Number of integers of a narrow column: 7 bits.
pub(crate) const NARROW_STEPS: i16 = 128;

/// Added to a wide value to make it positive.
const WIDE_OFFSET: i16 = MAX_ACTIVATION + 1;

/// How the inputs of a linear layer are rounded.
#[derive(Debug)]
pub(crate) struct InputFormat {
    /// Columns whose integers are in ±[`MAX_ACTIVATION`], ascending.
    wide: Vec<usize>,
    /// 0 for a wide column, 1 for a narrow one.
    is_narrow: Vec<f32>,
    /// Integers of the narrow columns are `min..min + NARROW_STEPS`.
    min: i16,
}

/// Rounded rows in the layout of the kernels.
#[derive(Default)]
pub(crate) struct Inputs {
    /// `[rows][depth]`
    pub(super) values: Vec<i16>,
    /// `[rows][high + depth]`: high parts of the wide columns, then the low part of every column. 7 bits, unsigned.
    /// Only for formats that [suit bytes](InputFormat::suits_bytes).
    pub(super) bytes: Vec<u8>,
    /// The value of one unit of a row.
    pub(super) scales: Vec<f32>,
}

impl Inputs {
    /// Makes room for `rows` rows with `integers` integers in total.
    pub(crate) fn grow(&mut self, rows: usize, integers: usize, growth: Growth) {
        growth.apply(&mut self.values, integers);
        growth.apply(&mut self.bytes, 2 * integers);
        growth.apply(&mut self.scales, rows);
    }
}

/// How working memory is made as long as it must be.
#[derive(Clone, Copy)]
pub(crate) enum Growth {
    /// Reserves it. Memory that nobody has written to does not take any of the machine's yet.
    Reserve,
    /// Extends it with zeros, within what was reserved.
    ZeroFill,
}

impl Growth {
    /// `buffer` must be empty for [`Growth::Reserve`].
    pub(crate) fn apply<T: Clone + Default>(self, buffer: &mut Vec<T>, length: usize) {
        match self {
            Self::Reserve => buffer.reserve_exact(length),
            Self::ZeroFill if buffer.len() < length => buffer.resize(length, T::default()),
            Self::ZeroFill => {}
        }
    }
}

impl InputFormat {
    /// `wide` columns must be below `depth`.
    pub(crate) fn new(depth: usize, mut wide: Vec<usize>, min: i16) -> Self {
        wide.sort_unstable();
        wide.dedup();
        let mut is_narrow = vec![1.0; depth];
        for column in &wide {
            is_narrow[*column] = 0.0;
        }
        Self { wide, is_narrow, min }
    }

    pub(crate) fn depth(&self) -> usize {
        self.is_narrow.len()
    }

    /// Whether products of bytes are faster: a wide column takes two of them.
    pub(super) fn suits_bytes<K: Kernel>(&self) -> bool {
        K::PREFERS_BYTES && 2 * self.wide.len() <= self.depth()
    }

    /// Bytes of a row with high parts: whole groups of four.
    pub(super) fn high(&self) -> usize {
        self.wide.len().next_multiple_of(4)
    }

    pub(super) fn wide(&self) -> &[usize] {
        &self.wide
    }

    /// The offset to add to a product of bytes, for these weights of one channel.
    pub(super) fn offset(&self, weights: &[i8]) -> i32 {
        let sum: i32 = weights.iter().map(|weight| i32::from(*weight)).sum();
        let wide: i32 = self.wide.iter().map(|column| i32::from(weights[*column])).sum();
        (sum - wide) * i32::from(self.min) - wide * i32::from(WIDE_OFFSET)
    }

    /// Rounds rows of `depth` values.
    #[inline(always)]
    pub(crate) fn quantize<K: Kernel>(&self, kernel: K, rows: &[f32], inputs: &mut Inputs) {
        for (index, row) in rows.chunks_exact(self.depth()).enumerate() {
            self.quantize_row(kernel, row, index, inputs);
        }
    }

    /// Rounds one row.
    #[inline(always)]
    pub(crate) fn quantize_row<K: Kernel>(&self, kernel: K, row: &[f32], index: usize, inputs: &mut Inputs) {
        let Inputs { values, bytes, scales } = inputs;
        let values = &mut values[index * self.depth()..][..self.depth()];
        let scale = self.scale(kernel, row);
        scales[index] = scale;
        if scale == 0.0 {
            values.fill(0);
        } else {
            let factor = kernel.splat(1.0 / scale);
            let (row, _) = row.as_chunks::<LANES>();
            let (values, _) = values.as_chunks_mut::<LANES>();
            for (lanes, values) in row.iter().zip(values) {
                kernel.load(lanes).mul(factor).store_i16(values);
            }
        }
        if self.suits_bytes::<K>() {
            let width = self.high() + self.depth();
            self.split(values, &mut bytes[index * width..][..width]);
        }
    }

    /// The value of one unit of this row's integers; 0 if all values are (almost) 0.
    #[inline(always)]
    fn scale<K: Kernel>(&self, kernel: K, row: &[f32]) -> f32 {
        let (row, _) = row.as_chunks::<LANES>();
        let (is_narrow, _) = self.is_narrow.as_chunks::<LANES>();
        let zero = kernel.splat(0.0);
        let (mut max, mut negated_min, mut magnitude) = (zero, zero, zero);
        for (lanes, is_narrow) in row.iter().zip(is_narrow) {
            let lanes = kernel.load(lanes);
            let narrow = lanes.mul(kernel.load(is_narrow));
            max = max.max(narrow);
            negated_min = negated_min.max(zero.sub(narrow));
            magnitude = magnitude.max(lanes.abs());
        }
        let scales = [
            max.max_lane() / f32::from(self.min + NARROW_STEPS - 1),
            negated_min.max_lane() / f32::from(-self.min),
            magnitude.max_lane() / f32::from(MAX_ACTIVATION),
        ];
        let scale = scales.into_iter().fold(0.0, |max, scale| if scale > max { scale } else { max });
        // Also keeps `1 / scale` finite.
        if scale < 1e-30 { 0.0 } else { scale }
    }

    /// Splits a row into bytes.
    #[inline(always)]
    fn split(&self, values: &[i16], bytes: &mut [u8]) {
        let (high, low) = bytes.split_at_mut(self.high());
        for (low, value) in low.iter_mut().zip(values) {
            *low = (value - self.min) as u8;
        }
        for (high, column) in high.iter_mut().zip(&self.wide) {
            let value = (values[*column] + WIDE_OFFSET) as u16;
            *high = (value >> 7) as u8;
            low[*column] = (value & 127) as u8;
        }
    }
}
