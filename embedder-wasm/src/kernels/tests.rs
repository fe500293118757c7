//! Compares every kernel with the scalar one, bit for bit.

use super::rows::{self, LayerNorm};
use super::scalar::Scalar;
use super::segments::Segments;
use super::*;

/// xorshift64* (Vigna 2016).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 33) as usize % limit
    }

    /// A value in ±magnitude.
    fn float(&mut self, magnitude: f32) -> f32 {
        ((self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0) * magnitude
    }

    fn floats(&mut self, count: usize, magnitude: f32) -> Vec<f32> {
        (0..count).map(|_| self.float(magnitude)).collect()
    }

    pub(super) fn integers(&mut self, count: usize, max: i16) -> Vec<i16> {
        let max = i32::from(max);
        (0..count).map(|_| (self.below(2 * max as usize + 1) as i32 - max) as i16).collect()
    }
}

/// Asserts that every kernel of this machine returns the same result.
fn assert_same<W: Work<Output: PartialEq + std::fmt::Debug> + Clone>(work: &W, what: &str) {
    let expected = AnyKernel::BASELINE.run(work.clone());
    for kernel in AnyKernel::available() {
        assert!(kernel.run(work.clone()) == expected, "{kernel:?} differs from scalar: {what}");
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The scalar kernel with the definition of the byte product, and segments of pairs if `PAIRS`.
#[derive(Clone, Copy)]
pub(super) struct BytesOnScalar<const PAIRS: bool>;

/// Only to make segments: it does not multiply with them.
pub(super) type PairScalar = BytesOnScalar<true>;

impl<const PAIRS: bool> Kernel for BytesOnScalar<PAIRS> {
    const WIDTH: usize = Scalar::WIDTH;
    type Lanes = <Scalar as Kernel>::Lanes;
    const PREFERS_BYTES: bool = true;
    const ADDS_IN_I16: bool = PAIRS;

    fn splat(self, value: f32) -> Self::Lanes {
        Scalar.splat(value)
    }

    fn load(self, values: &[f32; LANES]) -> Self::Lanes {
        Scalar.load(values)
    }

    fn load_i32(self, values: &[i32; LANES]) -> Self::Lanes {
        Scalar.load_i32(values)
    }

    fn load_i8(self, values: &[u8; LANES]) -> Self::Lanes {
        Scalar.load_i8(values)
    }

    fn panel_product(self, panel: Panel<'_>, out: &mut [i32]) {
        Scalar.panel_product(panel, out);
    }
}

/// A product of i16 rows and channels.
#[derive(Clone)]
struct Product {
    rows: usize,
    channels: usize,
    depth: usize,
    inputs: Vec<i16>,
    weights: Vec<i16>,
}

impl Product {
    fn new(rows: usize, channels: usize, depth: usize, mut values: impl FnMut(usize) -> Vec<i16>) -> Self {
        Self { rows, channels, depth, inputs: values(rows * depth), weights: values(channels * depth) }
    }

    /// Row times channel, straightforwardly.
    fn expected(&self) -> Vec<i64> {
        let mut sums = Vec::new();
        for row in self.inputs.chunks_exact(self.depth) {
            for channel in self.weights.chunks_exact(self.depth) {
                sums.push(row.iter().zip(channel).map(|(a, b)| i64::from(*a) * i64::from(*b)).sum());
            }
        }
        sums
    }
}

impl Work for Product {
    type Output = Vec<i64>;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Vec<i64> {
        let Self { rows, channels, depth, inputs, weights } = self;
        let mut panels = vec![0; channels.next_multiple_of(K::WIDTH) * depth];
        for (channel, weights) in weights.chunks_exact(depth).enumerate() {
            write_channel::<K, i16, 2>(&mut panels, depth, channel, weights);
        }
        let mut out = vec![0; rows * channels];
        let inputs = Rows { values: &inputs, stride: depth, count: rows, depth };
        product(kernel, inputs, &panels, channels, &mut vec![0; rows * K::WIDTH], |first, sums| {
            for (sums, out) in sums.chunks_exact(K::WIDTH).zip(out.chunks_exact_mut(channels)) {
                for (sum, out) in sums.iter().zip(&mut out[first..]) {
                    *out = i64::from(*sum);
                }
            }
        });
        out
    }
}

#[test]
fn products_are_exact_for_every_number_of_rows() {
    let mut random = Random(1);
    for rows in (1..=30).chain([255, 256]) {
        let (channels, depth) = (1 + random.below(70), 2 * (1 + random.below(40)));
        let product = Product::new(rows, channels, depth, |count| random.integers(count, MAX_ACTIVATION));
        for kernel in AnyKernel::available() {
            assert_eq!(kernel.run(product.clone()), product.expected(), "{kernel:?}, {rows} rows");
        }
    }
}

#[test]
fn products_of_the_largest_values_do_not_overflow() {
    for sign in [1, -1] {
        // An attention head: 32 dimensions of activations on both sides.
        let head = Product::new(7, 9, 32, |count| vec![sign * MAX_ACTIVATION; count]);
        // The largest weights that a model file may contain: Σ|w| · 8191 just below 2³¹.
        let mut row = Product::new(3, 8, 1536, |count| vec![sign * MAX_ACTIVATION; count]);
        row.weights = [vec![-170; 1535], vec![-1218]].concat().repeat(8);
        for product in [head, row] {
            for kernel in AnyKernel::available() {
                assert_eq!(kernel.run(product.clone()), product.expected(), "{kernel:?}");
            }
        }
    }
}

/// A product of three rows and one panel, of which one part may not fit the others.
#[derive(Clone, Copy)]
struct Fitting {
    fault: Option<Fault>,
    is_bytes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    ShortInputs,
    ShortWeights,
    LongWeights,
    ShortOut,
    OddDepth,
    DepthAboveStride,
    NoRows,
    /// `(count - 1) * stride` wraps around to 0.
    HugeStride,
    ShortOffsets,
    HighAboveDepth,
    /// Segments that cover less than the panel, more, not in order, or high and low parts at once.
    Segments(&'static [usize]),
    /// Only for kernels that add in i16.
    ShortStarts,
}

const FAULTS: [Fault; 8] = [
    Fault::ShortInputs,
    Fault::ShortWeights,
    Fault::LongWeights,
    Fault::ShortOut,
    Fault::OddDepth,
    Fault::DepthAboveStride,
    Fault::NoRows,
    Fault::HugeStride,
];
const BYTE_FAULTS: [Fault; 7] = [
    Fault::ShortOffsets,
    Fault::HighAboveDepth,
    Fault::Segments(&[]),
    Fault::Segments(&[1]),
    Fault::Segments(&[1, 2, 3]),
    Fault::Segments(&[1, 3, 2]),
    Fault::Segments(&[2]),
];

impl Work for Fitting {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let if_fault = |fault| usize::from(self.fault == Some(fault));
        let inputs = 28 - if_fault(Fault::ShortInputs);
        let weights = 8 * K::WIDTH + if_fault(Fault::LongWeights) - if_fault(Fault::ShortWeights);
        let mut out = vec![0; 3 * K::WIDTH - if_fault(Fault::ShortOut)];
        let count = 3 - 3 * if_fault(Fault::NoRows);
        let depth = 8 - if_fault(Fault::OddDepth);
        let stride = match self.fault {
            Some(Fault::HugeStride) => 1 << (usize::BITS - 1),
            Some(Fault::DepthAboveStride) => 4,
            _ => 10,
        };
        if self.is_bytes {
            let (values, weights) = (vec![1; inputs], vec![1; weights]);
            let rows = Rows { values: &values, stride, count, depth };
            let offsets = vec![0; K::WIDTH - if_fault(Fault::ShortOffsets)];
            let high = 4 + 8 * if_fault(Fault::HighAboveDepth);
            let ends = if let Some(Fault::Segments(ends)) = self.fault { ends } else { &[1, 2] };
            let starts = 2 * K::WIDTH * ends.len() - if_fault(Fault::ShortStarts);
            let starts = vec![0; if K::ADDS_IN_I16 { starts } else { 0 }];
            let panel = BytePanel { rows, weights: &weights, high, offsets: &offsets, ends, starts: &starts };
            kernel.byte_panel_product(panel, &mut out);
        } else {
            let (values, weights) = (vec![1; inputs], vec![1; weights]);
            let rows = Rows { values: &values, stride, count, depth };
            kernel.panel_product(Panel { rows, weights: &weights }, &mut out);
        }
    }
}

/// Whether the kernel adds products of bytes in i16.
struct AddsInI16;

impl Work for AddsInI16 {
    type Output = bool;

    fn run<K: Kernel>(self, _kernel: K) -> bool {
        K::ADDS_IN_I16
    }
}

#[test]
fn products_panic_if_a_slice_does_not_fit_the_shapes() {
    for kernel in AnyKernel::available() {
        for is_bytes in [false, true] {
            kernel.run(Fitting { fault: None, is_bytes });
            let byte_faults = if is_bytes { BYTE_FAULTS.as_slice() } else { &[] };
            for fault in FAULTS.iter().chain(byte_faults) {
                let work = Fitting { fault: Some(*fault), is_bytes };
                let outcome = std::panic::catch_unwind(|| kernel.run(work));
                assert!(outcome.is_err(), "{kernel:?} accepts {fault:?}, bytes: {is_bytes}");
            }
        }
        if kernel.run(AddsInI16) {
            let work = Fitting { fault: Some(Fault::ShortStarts), is_bytes: true };
            assert!(std::panic::catch_unwind(|| kernel.run(work)).is_err(), "{kernel:?}");
        }
    }
}

/// A product of rows of bytes and channels.
#[derive(Clone)]
struct ByteProduct {
    rows: usize,
    depth: usize,
    high: usize,
    inputs: Vec<u8>,
    /// `[32][depth]`
    weights: Vec<i8>,
}

impl ByteProduct {
    const CHANNELS: usize = 32;

    fn expected(&self) -> Vec<i32> {
        let mut sums = Vec::new();
        for row in self.inputs.chunks_exact(self.depth) {
            for (channel, weights) in self.weights.chunks_exact(self.depth).enumerate() {
                let products: Vec<i32> =
                    row.iter().zip(weights).map(|(a, b)| i32::from(*a) * i32::from(*b)).collect();
                let (high, low) = products.split_at(self.high);
                sums.push(high.iter().sum::<i32>() * 128 + low.iter().sum::<i32>() + channel as i32);
            }
        }
        sums
    }
}

impl Work for ByteProduct {
    type Output = Vec<i32>;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Vec<i32> {
        let Self { rows, depth, high, inputs, weights } = self;
        let mut panels = vec![0; Self::CHANNELS * depth];
        for (channel, weights) in weights.chunks_exact(depth).enumerate() {
            write_channel::<K, i8, 4>(&mut panels, depth, channel, weights);
        }
        let mut offsets: Vec<i32> = (0..Self::CHANNELS as i32).collect();
        let rows = Rows { values: &inputs, stride: depth, count: rows, depth };
        let mut out = vec![0; rows.count * Self::CHANNELS];
        for (index, weights) in panels.chunks_exact(K::WIDTH * depth).enumerate() {
            let (mut segments, mut sums) = (Segments::default(), vec![-1; rows.count * K::WIDTH]);
            let offsets = &mut offsets[index * K::WIDTH..][..K::WIDTH];
            segments.push::<K>(weights, high / 4, offsets);
            let Segments { ends, starts } = &segments;
            kernel.byte_panel_product(BytePanel { rows, weights, high, offsets, ends, starts }, &mut sums);
            for (out, sums) in out.chunks_exact_mut(Self::CHANNELS).zip(sums.chunks_exact(K::WIDTH)) {
                out[index * K::WIDTH..][..K::WIDTH].copy_from_slice(sums);
            }
        }
        out
    }
}

#[test]
fn products_of_bytes_are_exact_for_every_number_of_rows_and_for_extreme_values() {
    let mut random = Random(7);
    for rows in (1..=26).chain([64]) {
        for round in 0..6 {
            let depth = 4 * (1 + random.below(50));
            let high = 4 * random.below(depth / 4 + 1);
            let mut inputs: Vec<u8> = (0..rows * depth).map(|_| random.below(128) as u8).collect();
            let weights = random.integers(ByteProduct::CHANNELS * depth, [127, 127, 127, 127, 9, 1][round]);
            let mut weights: Vec<i8> = weights.into_iter().map(|weight| weight as i8).collect();
            match round {
                0 => inputs.fill(127),
                1 => weights.fill(i8::MIN),
                2 => (inputs, weights) = (vec![127; inputs.len()], vec![i8::MIN; weights.len()]),
                3 => (inputs, weights) = (vec![127; inputs.len()], vec![i8::MAX; weights.len()]),
                _ => {}
            }
            let product = ByteProduct { rows, depth, high, inputs, weights };
            let expected = product.expected();
            assert!(
                product.clone().run(BytesOnScalar::<false>) == expected,
                "{rows} rows of {depth}, {high} high"
            );
            for kernel in AnyKernel::available() {
                assert!(
                    kernel.run(product.clone()) == expected,
                    "{kernel:?}: {rows} rows of {depth}, {high} high, round {round}"
                );
            }
        }
    }
}

/// A linear layer and its input rows before rounding.
#[derive(Clone)]
struct Layer {
    depth: usize,
    wide: Vec<usize>,
    min: i16,
    rows: Vec<f32>,
    weights: Vec<i16>,
    channels: usize,
}

impl Layer {
    /// Some columns of the inputs and some weights are many times larger than the others.
    fn random(random: &mut Random, rows: usize, depth: usize, large_weights: usize) -> Self {
        let channels = 32 * (1 + random.below(3));
        let wide: Vec<usize> = (0..random.below(20)).map(|_| random.below(depth)).collect();
        let mut inputs = random.floats(rows * depth, 1.0);
        for column in &wide {
            for row in inputs.chunks_exact_mut(depth) {
                row[*column] *= 30.0;
            }
        }
        let mut weights = random.integers(channels * depth, 127);
        for _ in 0..large_weights {
            weights[random.below(channels * depth)] = random.integers(1, 2000)[0];
        }
        let min = [-64, -14][random.below(2)];
        Self { depth, wide, min, rows: inputs, weights, channels }
    }
}

impl Work for Layer {
    /// The rounded inputs, their scales and the outputs, as bits.
    type Output = (Vec<i16>, Vec<u32>, Vec<u32>);

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Self::Output {
        let Self { depth, wide, min, rows, weights, channels } = self;
        let count = rows.len() / depth;
        let format = InputFormat::new(depth, wide, min);
        let scale = (0..channels).map(|channel| 0.01 + channel as f32).collect();
        let bytes: Vec<u8> = weights.iter().map(|weight| *weight as u8).collect();
        let large = weights.iter().enumerate().filter(|(_, weight)| i8::try_from(**weight).is_err());
        let large = large.map(|(index, weight)| LargeWeight {
            channel: index / depth,
            column: index % depth,
            weight: *weight,
        });
        let matrix = Matrix { depth, bytes: &bytes, large: large.collect() };
        let linear = Linear::pack::<K>(&format, &matrix, scale, vec![0.5; channels]);
        let mut inputs = new_inputs(count, count * depth);
        format.quantize(kernel, &rows, &mut inputs);
        let mut out = vec![0.0; count * channels];
        linear.apply(kernel, &inputs, count, &mut vec![0; count * 32], &mut out, channels);
        (inputs.values.clone(), bits(&inputs.scales), bits(&out))
    }
}

#[test]
fn linear_layers_return_the_same_bits_in_bytes_and_in_i16() {
    let mut random = Random(4);
    for rows in (1..=13).chain([64]) {
        // 2000 is above MAX_CORRECTIONS, so that layer runs in i16.
        for large_weights in [0, 50, 2000] {
            let depth = 8 * (1 + random.below(40));
            let layer = Layer::random(&mut random, rows, depth, large_weights);
            let expected = AnyKernel::BASELINE.run(layer.clone());
            assert!(layer.clone().run(BytesOnScalar::<false>) == expected, "{rows} rows of {depth}");
            assert_same(&layer, &format!("{rows} rows of {depth}, {large_weights} large weights"));
        }
    }
}

fn new_inputs(rows: usize, integers: usize) -> Inputs {
    let mut inputs = Inputs::default();
    inputs.grow(rows, integers, Growth::ZeroFill);
    inputs
}

#[test]
fn narrow_columns_have_seven_bits_and_wide_columns_fourteen() {
    let mut random = Random(5);
    for min in [-64, -14] {
        let format = InputFormat::new(16, vec![3, 3, 9], min);
        for magnitude in [1e-3, 1.0, 1e3] {
            let mut row = random.floats(16, 1.0);
            row[9] = magnitude * random.float(1.0);
            let mut inputs = new_inputs(1, 16);
            format.quantize(Scalar, &row, &mut inputs);
            for (column, (value, exact)) in inputs.values.iter().zip(&row).enumerate() {
                let range = if [3, 9].contains(&column) { -8191..8192 } else { min..min + 128 };
                assert!(range.contains(value), "{value} in column {column}");
                assert!((f32::from(*value) * inputs.scales[0] - exact).abs() <= inputs.scales[0] * 0.501);
            }
        }
    }
}

#[test]
fn a_row_of_zeros_is_rounded_to_zeros() {
    for row in [[0.0; 8], [-0.0; 8], [f32::MIN_POSITIVE; 8]] {
        let mut inputs = new_inputs(1, 8);
        InputFormat::new(8, vec![1], -64).quantize(Scalar, &row, &mut inputs);
        assert_eq!((inputs.values, inputs.scales), (vec![0; 8], vec![0.0]));
    }
}

/// All float steps on one row.
#[derive(Clone)]
struct Steps {
    row: Vec<f32>,
    other: Vec<f32>,
    bytes: Vec<u8>,
    count: usize,
}

impl Work for Steps {
    type Output = (Vec<Vec<u32>>, Vec<Vec<i16>>);

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Self::Output {
        let Self { row, other, bytes, count } = self;
        let mut scales = Vec::new();
        let mut quantized = vec![vec![0; row.len()]; 2];
        scales.push(rows::quantize(kernel, &row, &mut quantized[0]));
        let mut activated = row.clone();
        rows::activate(kernel, &mut activated);
        let mut scores = row.clone();
        scales.push(rows::softmax_quantize(kernel, &mut scores, count, &mut quantized[1]));
        let mut sum = row.clone();
        rows::add(kernel, &mut sum, &other);
        let mut normal = row.clone();
        LayerNorm { gain: other.clone(), shift: other.clone() }.apply(kernel, &mut normal);
        let mut unit = row.clone();
        rows::normalize(kernel, &mut unit);
        let mut dequantized = vec![0.0; bytes.len()];
        rows::dequantize(kernel, &bytes, other[0], &mut dequantized);
        scales.extend([rows::max_magnitude(kernel, &row), rows::dot(kernel, &row, &other)]);
        let floats = [scales, activated, scores, sum, normal, unit, dequantized];
        (floats.iter().map(|values| bits(values)).collect(), quantized)
    }
}

#[test]
fn float_steps_return_the_same_bits() {
    let mut random = Random(2);
    for round in 0..300 {
        let length = 8 * (1 + random.below(48));
        let magnitude = [1e-35, 1e-6, 0.5, 3.0, 40.0, 1e4][round % 6];
        let steps = Steps {
            row: random.floats(length, magnitude),
            other: random.floats(length, 2.0),
            bytes: (0..length).map(|_| random.below(256) as u8).collect(),
            count: 1 + random.below(length),
        };
        assert_same(&steps, &format!("{length} values within {magnitude}"));
    }
}

#[test]
fn float_steps_return_the_same_bits_for_zeros_ties_and_tiny_values() {
    // The largest value of the rows is 8191, so that quantising rounds x.5 exactly.
    let ties: Vec<f32> = (0..32).map(|i| i as f32 * 0.5 - 8.0).chain([8191.0, -8190.5, 0.5, -0.5]).collect();
    let tiny = vec![f32::MIN_POSITIVE / 3.0; 40];
    for row in [vec![0.0; 40], vec![-0.0; 40], [ties, vec![0.0; 4]].concat(), tiny] {
        let (other, bytes) = (vec![-0.0; 40], vec![0x80; 40]);
        assert_same(&Steps { row: row.clone(), other, bytes, count: 33 }, &format!("{row:?}"));
    }
}

#[test]
fn quantising_keeps_the_largest_value_and_rounds_ties_to_even() {
    let mut quantized = [0; 8];
    let row = [8191.0, 0.5, 1.5, 2.5, -0.5, -1.5, -8191.0, 0.49];
    assert_eq!(rows::quantize(Scalar, &row, &mut quantized).to_bits(), 1.0_f32.to_bits());
    assert_eq!(quantized, [8191, 0, 2, 2, 0, -2, -8191, 0]);
}

#[test]
fn softmax_weights_are_a_softmax_and_zero_after_the_end() {
    let scores = [0.0, 1.0, 2.0, -30.0, 1.0, 9.0, 9.0, 9.0_f32];
    let mut weights = [7; 8];
    let unit = rows::softmax_quantize(Scalar, &mut scores.clone(), 5, &mut weights);
    let total: f64 = scores[..5].iter().map(|score| f64::from(*score).exp()).sum();
    for (weight, score) in weights.iter().zip(scores).take(5) {
        let expected = f64::from(score).exp() / total;
        assert!((f64::from(*weight) * f64::from(unit) - expected).abs() < 3e-5, "{weight} for {score}");
    }
    assert_eq!(weights[5..], [0, 0, 0]);
}

#[test]
fn softmax_of_equal_scores_does_not_overflow_the_sum() {
    for count in 1..=512 {
        let mut weights = [0; 512];
        let unit = rows::softmax_quantize(Scalar, &mut [1.0; 512], count, &mut weights);
        let sum: i64 =
            weights.iter().map(|weight| i64::from(*weight) * i64::from(rows::MAX_ATTENTION_VALUE)).sum();
        assert!(sum <= i64::from(i32::MAX), "{sum} for {count} scores");
        assert!(count < 16 || sum > i64::from(i32::MAX) / 2, "{sum} for {count} scores");
        assert!((f32::from(weights[0]) * unit * count as f32 - 1.0).abs() < 1e-6);
    }
}

#[test]
fn layer_norm_returns_zero_mean_and_unit_variance() {
    let mut row = Random(3).floats(384, 5.0);
    LayerNorm { gain: vec![1.0; 384], shift: vec![0.0; 384] }.apply(Scalar, &mut row);
    let mean = row.iter().sum::<f32>() / 384.0;
    let variance = row.iter().map(|x| x * x).sum::<f32>() / 384.0;
    assert!(mean.abs() < 1e-5 && (variance - 1.0).abs() < 1e-4, "{mean} {variance}");
}

#[test]
fn a_zero_vector_stays_finite() {
    let mut row = [0.0; 8];
    rows::normalize(Scalar, &mut row);
    assert_eq!(row, [0.0; 8]);
}

#[test]
fn tiles_cover_every_row_once() {
    for (rows, max_height) in [(1, 4), (4, 4), (5, 4), (9, 6), (256, 12)] {
        let mut next = 0;
        for_each_tile(rows, max_height, |first, height| {
            assert!(
                first == next && (1..=max_height).contains(&height),
                "{rows} rows: {height} from {first}"
            );
            next += height;
        });
        assert_eq!(next, rows);
    }
}
