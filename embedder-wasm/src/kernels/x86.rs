//! x86-64: AVX2 (every processor since about 2015), and AVX-512 with VNNI where the processor has
//! it.
//!
//! [`Avx2`] and [`Avx512`] have private fields and only `detect` creates them, so a value proves
//! that the processor has the instructions. An [`AvxLanes`] comes only from one of them and proves
//! the same.

use std::arch::x86_64::*;

use super::lanes::{LANES, Lanes};
use super::{BytePanel, Kernel, Panel, Rows, Work, float_steps_of, for_each_tile, tile_of};

/// The processor has AVX2: `vpmaddubsw` and `vpmaddwd` over panels of 16 channels in two vectors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    /// Runs `work` in code that is compiled for AVX2.
    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        #[target_feature(enable = "avx2")]
        fn run<W: Work>(avx2: Avx2, work: W) -> W::Output {
            work.run(avx2)
        }
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { run(self, work) }
    }
}

impl Kernel for Avx2 {
    const WIDTH: usize = 16;
    const PREFERS_BYTES: bool = true;
    const ADDS_IN_I16: bool = true;
    type Lanes = AvxLanes;

    #[inline(always)]
    fn splat(self, value: f32) -> AvxLanes {
        // SAFETY: `self` proves that the processor has AVX2.
        AvxLanes(unsafe { _mm256_set1_ps(value) })
    }

    #[inline(always)]
    fn load(self, values: &[f32; LANES]) -> AvxLanes {
        // SAFETY: `self` proves that the processor has AVX2; the array is one vector long.
        AvxLanes(unsafe { _mm256_loadu_ps(values.as_ptr()) })
    }

    #[inline(always)]
    fn load_i32(self, values: &[i32; LANES]) -> AvxLanes {
        // SAFETY: `self` proves that the processor has AVX2; the array is one vector long.
        AvxLanes(unsafe { _mm256_cvtepi32_ps(_mm256_loadu_si256(values.as_ptr().cast())) })
    }

    #[inline(always)]
    fn load_i8(self, values: &[u8; LANES]) -> AvxLanes {
        // SAFETY: `self` proves that the processor has AVX2; the array is the low half of a 128-bit vector.
        AvxLanes(unsafe { _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(values.as_ptr().cast()))) })
    }

    #[inline(always)]
    fn panel_product(self, panel: Panel<'_>, out: &mut [i32]) {
        panel.check(Self::WIDTH, out);
        let Rows { values, stride, count, depth } = panel.rows;
        for_each_tile(count, 6, |first, height| {
            let tile = tile_of!(tile_avx2, height, 1 2 3 4 5 6);
            // SAFETY: `self` proves that the processor has AVX2; `check` compared the lengths of all slices with the
            // shapes, and the rows `first..first + height` are below `count`.
            unsafe {
                let inputs = values.as_ptr().add(first * stride);
                let out = out.as_mut_ptr().add(first * Self::WIDTH);
                tile(inputs, stride, depth / 2, panel.weights.as_ptr(), out);
            }
        });
    }

    #[inline(always)]
    fn byte_panel_product(self, panel: BytePanel<'_>, out: &mut [i32]) {
        panel.check(Self::WIDTH, out);
        panel.check_starts(Self::WIDTH);
        let BytePanel { rows, weights, high, offsets, ends, starts } = panel;
        for_each_tile(rows.count, 6, |first, height| {
            let tile = tile_of!(byte_tile_avx2, height, 1 2 3 4 5 6);
            // SAFETY: `self` proves that the processor has AVX2; `check` and `check_starts` compared the lengths of all slices
            // with the shapes, and the rows `first..first + height` are below `count`.
            unsafe {
                let inputs = rows.values.as_ptr().add(first * rows.stride);
                let out = out.as_mut_ptr().add(first * Self::WIDTH);
                tile(
                    inputs,
                    rows.stride,
                    high / 4,
                    (ends, starts.as_ptr()),
                    weights.as_ptr(),
                    offsets.as_ptr(),
                    out,
                );
            }
        });
    }
}

/// Multiplies `ROWS` rows by 16 channels. Six rows of two vectors of sums, two of weights and one
/// of inputs fill the 16 registers.
///
/// # Safety
/// The processor must have AVX2. Row `r` starts at `inputs + r * stride` and must have `2 * pairs` integers; `weights`
/// must point to `pairs` groups of 32, and `out` to room for `ROWS` rows of 16 sums.
#[target_feature(enable = "avx2")]
unsafe fn tile_avx2<const ROWS: usize>(
    inputs: *const i16,
    stride: usize,
    pairs: usize,
    weights: *const i16,
    out: *mut i32,
) {
    let mut sums = [[_mm256_setzero_si256(); 2]; ROWS];
    for pair in 0..pairs {
        // SAFETY: the caller guarantees `ROWS` rows of `pairs` pairs and as many groups of 32 weights.
        unsafe {
            let weights = weights.add(pair * 32).cast::<__m256i>();
            let (low, high) = (_mm256_loadu_si256(weights), _mm256_loadu_si256(weights.add(1)));
            for (row, [sum_low, sum_high]) in sums.iter_mut().enumerate() {
                let input = inputs.add(row * stride + 2 * pair).cast::<i32>().read_unaligned();
                let input = _mm256_set1_epi32(input);
                *sum_low = _mm256_add_epi32(*sum_low, _mm256_madd_epi16(input, low));
                *sum_high = _mm256_add_epi32(*sum_high, _mm256_madd_epi16(input, high));
            }
        }
    }
    for (row, [low, high]) in sums.into_iter().enumerate() {
        // SAFETY: the caller guarantees room for `ROWS` rows of 16 sums.
        unsafe {
            let out = out.add(row * 16).cast::<__m256i>();
            _mm256_storeu_si256(out, low);
            _mm256_storeu_si256(out.add(1), high);
        }
    }
}

/// Multiplies `ROWS` rows of bytes by 16 channels. Six rows of two vectors of sums, two of weights,
/// one of inputs and one of products fill the 16 registers.
///
/// # Safety
/// The processor must have AVX2. `ends` must be ascending, and `starts` point to 32 integers for each of them. Row `r`
/// starts at `inputs + r * stride` and must have as many groups of 4 bytes as the last of `ends`; `weights` must point to as
/// many groups of 64, `offsets` to 16 integers, and `out` to room for `ROWS` rows of 16 sums.
#[target_feature(enable = "avx2")]
unsafe fn byte_tile_avx2<const ROWS: usize>(
    inputs: *const u8,
    stride: usize,
    high: usize,
    (ends, starts): (&[usize], *const i16),
    weights: *const i8,
    offsets: *const i32,
    out: *mut i32,
) {
    let ones = _mm256_set1_epi16(1);
    let mut group = 0;
    for (segment, &end) in ends.iter().enumerate() {
        // SAFETY: the caller guarantees 32 starts for each segment.
        let starts = unsafe {
            let starts = starts.add(segment * 32).cast::<__m256i>();
            [_mm256_loadu_si256(starts), _mm256_loadu_si256(starts.add(1))]
        };
        let mut sums = [starts; ROWS];
        while group < end {
            // SAFETY: `group` is below the last of `ends`, as the caller guarantees for the rows and the weights.
            unsafe {
                let weights = weights.add(group * 64).cast::<__m256i>();
                let (left, right) = (_mm256_loadu_si256(weights), _mm256_loadu_si256(weights.add(1)));
                for (row, [sum_left, sum_right]) in sums.iter_mut().enumerate() {
                    let input = inputs.add(row * stride + 4 * group).cast::<i32>().read_unaligned();
                    let input = _mm256_set1_epi32(input);
                    *sum_left = _mm256_add_epi16(*sum_left, _mm256_maddubs_epi16(input, left));
                    *sum_right = _mm256_add_epi16(*sum_right, _mm256_maddubs_epi16(input, right));
                }
            }
            group += 1;
        }
        for (row, sums) in sums.into_iter().enumerate() {
            for (half, sum) in sums.into_iter().enumerate() {
                let mut sum = _mm256_madd_epi16(sum, ones);
                // SAFETY: the caller guarantees 16 offsets, and room for `ROWS` rows of 16 sums.
                unsafe {
                    let out = out.add(row * 16 + half * 8).cast::<__m256i>();
                    let offset = _mm256_loadu_si256(offsets.add(half * 8).cast());
                    if segment > 0 {
                        sum = _mm256_add_epi32(sum, _mm256_loadu_si256(out));
                    } else if high == 0 {
                        sum = _mm256_add_epi32(sum, offset);
                    }
                    if group == high {
                        sum = _mm256_add_epi32(_mm256_slli_epi32::<7>(sum), offset);
                    }
                    _mm256_storeu_si256(out, sum);
                }
            }
        }
    }
}

/// The processor has AVX-512F and AVX-512 VNNI besides AVX2: `vpdpwssd` over panels of 32 channels
/// in two vectors. The float steps are those of AVX2.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512(Avx2);

impl Avx512 {
    pub(super) fn detect() -> Option<Self> {
        let avx2 = Avx2::detect()?;
        let has_avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
        has_avx512.then_some(Self(avx2))
    }

    /// Runs `work` in code that is compiled for AVX-512.
    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        #[target_feature(enable = "avx2,avx512f,avx512vnni")]
        fn run<W: Work>(avx512: Avx512, work: W) -> W::Output {
            work.run(avx512)
        }
        // SAFETY: `self` proves that the processor has all three.
        unsafe { run(self, work) }
    }
}

impl Kernel for Avx512 {
    const WIDTH: usize = 32;
    const PREFERS_BYTES: bool = true;
    float_steps_of!(self, self.0, AvxLanes);

    #[inline(always)]
    fn panel_product(self, panel: Panel<'_>, out: &mut [i32]) {
        panel.check(Self::WIDTH, out);
        let Rows { values, stride, count, depth } = panel.rows;
        for_each_tile(count, 12, |first, height| {
            let tile = tile_of!(tile_avx512, height, 1 2 3 4 5 6 7 8 9 10 11 12);
            // SAFETY: `self` proves that the processor has AVX-512; `check` compared the lengths of all slices with
            // the shapes, and the rows `first..first + height` are below `count`.
            unsafe {
                let inputs = values.as_ptr().add(first * stride);
                let out = out.as_mut_ptr().add(first * Self::WIDTH);
                tile(inputs, stride, depth / 2, panel.weights.as_ptr(), out);
            }
        });
    }

    #[inline(always)]
    fn byte_panel_product(self, panel: BytePanel<'_>, out: &mut [i32]) {
        panel.check(Self::WIDTH, out);
        let BytePanel { rows, weights, high, offsets, .. } = panel;
        let groups = [high / 4, (rows.depth - high) / 4];
        for_each_tile(rows.count, 12, |first, height| {
            let tile = tile_of!(byte_tile_avx512, height, 1 2 3 4 5 6 7 8 9 10 11 12);
            // SAFETY: `self` proves that the processor has AVX-512; `check` compared the lengths of all slices with
            // the shapes, and the rows `first..first + height` are below `count`.
            unsafe {
                let inputs = rows.values.as_ptr().add(first * rows.stride);
                let out = out.as_mut_ptr().add(first * Self::WIDTH);
                tile(inputs, rows.stride, groups, weights.as_ptr(), offsets.as_ptr(), out);
            }
        });
    }
}

/// Multiplies `ROWS` rows by 32 channels. Twelve rows of two vectors of sums, two of weights and
/// one of inputs take 27 of the 32 registers.
///
/// # Safety
/// The processor must have AVX-512F and AVX-512 VNNI. Row `r` starts at `inputs + r * stride` and must have `2 * pairs`
/// integers; `weights` must point to `pairs` groups of 64, and `out` to room for `ROWS` rows of 32 sums.
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn tile_avx512<const ROWS: usize>(
    inputs: *const i16,
    stride: usize,
    pairs: usize,
    weights: *const i16,
    out: *mut i32,
) {
    let mut sums = [[_mm512_setzero_si512(); 2]; ROWS];
    for pair in 0..pairs {
        // SAFETY: the caller guarantees `ROWS` rows of `pairs` pairs and as many groups of 64 weights.
        unsafe {
            let weights = weights.add(pair * 64).cast::<__m512i>();
            let (low, high) = (_mm512_loadu_si512(weights), _mm512_loadu_si512(weights.add(1)));
            for (row, [sum_low, sum_high]) in sums.iter_mut().enumerate() {
                let input = inputs.add(row * stride + 2 * pair).cast::<i32>().read_unaligned();
                let input = _mm512_set1_epi32(input);
                *sum_low = _mm512_dpwssd_epi32(*sum_low, input, low);
                *sum_high = _mm512_dpwssd_epi32(*sum_high, input, high);
            }
        }
    }
    for (row, [low, high]) in sums.into_iter().enumerate() {
        // SAFETY: the caller guarantees room for `ROWS` rows of 32 sums.
        unsafe {
            let out = out.add(row * 32).cast::<__m512i>();
            _mm512_storeu_si512(out, low);
            _mm512_storeu_si512(out.add(1), high);
        }
    }
}

/// Like [`tile_avx512`], with `vpdpbusd` over bytes in groups of four.
///
/// # Safety
/// The processor must have AVX-512F and AVX-512 VNNI. Row `r` starts at `inputs + r * stride` and must have `high + low`
/// groups of 4 bytes; `weights` must point to as many groups of 128, `offsets` to 32 integers, and `out` to room for
/// `ROWS` rows of 32 sums.
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn byte_tile_avx512<const ROWS: usize>(
    inputs: *const u8,
    stride: usize,
    [high, low]: [usize; 2],
    weights: *const i8,
    offsets: *const i32,
    out: *mut i32,
) {
    let mut sums = [[_mm512_setzero_si512(); 2]; ROWS];
    let add = |sums: &mut [[__m512i; 2]; ROWS], group: usize| {
        // SAFETY: the caller guarantees `ROWS` rows of `high + low` groups and as many groups of 128 weights.
        unsafe {
            let weights = weights.add(group * 128).cast::<__m512i>();
            let (left, right) = (_mm512_loadu_si512(weights), _mm512_loadu_si512(weights.add(1)));
            for (row, [sum_left, sum_right]) in sums.iter_mut().enumerate() {
                let input = inputs.add(row * stride + 4 * group).cast::<i32>().read_unaligned();
                let input = _mm512_set1_epi32(input);
                *sum_left = _mm512_dpbusd_epi32(*sum_left, input, left);
                *sum_right = _mm512_dpbusd_epi32(*sum_right, input, right);
            }
        }
    };
    for group in 0..high {
        add(&mut sums, group);
    }
    // SAFETY: the caller guarantees 32 offsets.
    let offsets = unsafe {
        let offsets = offsets.cast::<__m512i>();
        [_mm512_loadu_si512(offsets), _mm512_loadu_si512(offsets.add(1))]
    };
    for sums in &mut sums {
        for (sum, offset) in sums.iter_mut().zip(offsets) {
            *sum = _mm512_add_epi32(_mm512_slli_epi32::<7>(*sum), offset);
        }
    }
    for group in high..high + low {
        add(&mut sums, group);
    }
    for (row, [left, right]) in sums.into_iter().enumerate() {
        // SAFETY: the caller guarantees room for `ROWS` rows of 32 sums.
        unsafe {
            let out = out.add(row * 32).cast::<__m512i>();
            _mm512_storeu_si512(out, left);
            _mm512_storeu_si512(out.add(1), right);
        }
    }
}

// A token costs nothing at run time.
const _: () = assert!(size_of::<Avx2>() == 0 && size_of::<Avx512>() == 0);

/// One AVX vector. Only [`Avx2`] creates it, so a value proves that the processor has AVX2.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AvxLanes(__m256);

impl Lanes for AvxLanes {
    #[inline(always)]
    fn store(self, to: &mut [f32; LANES]) {
        // SAFETY: `self` proves that the processor has AVX2; the array is one vector long.
        unsafe { _mm256_storeu_ps(to.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: `self` proves that the processor has AVX2.
        Self(unsafe { _mm256_add_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: `self` proves that the processor has AVX2.
        Self(unsafe { _mm256_sub_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: `self` proves that the processor has AVX2.
        Self(unsafe { _mm256_mul_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // SAFETY: `self` proves that the processor has AVX2.
        Self(unsafe { _mm256_div_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: `self` proves that the processor has AVX2.
        Self(unsafe { _mm256_max_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: `self` proves that the processor has AVX2.
        Self(unsafe { _mm256_min_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: `self` proves that the processor has AVX2.
        Self(unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0) })
    }

    #[inline(always)]
    fn store_i16(self, to: &mut [i16; LANES]) {
        // SAFETY: `self` proves that the processor has AVX2; the array is a 128-bit vector long.
        // The conversion rounds ties to even, the rounding mode that Rust programs run in.
        unsafe {
            let integers = _mm256_cvtps_epi32(self.0);
            let (low, high) = (_mm256_castsi256_si128(integers), _mm256_extracti128_si256::<1>(integers));
            _mm_storeu_si128(to.as_mut_ptr().cast(), _mm_packs_epi32(low, high));
        }
    }

    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        // SAFETY: `self` proves that the processor has AVX2.
        // Both conversions round ties to even.
        unsafe {
            let integer = _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(self.0);
            let exponent = _mm256_add_epi32(_mm256_cvtps_epi32(integer), _mm256_set1_epi32(127));
            let power = _mm256_castsi256_ps(_mm256_slli_epi32::<23>(exponent));
            (Self(power), Self(_mm256_sub_ps(self.0, integer)))
        }
    }
}
