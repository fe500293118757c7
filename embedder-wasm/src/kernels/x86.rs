//! x86-64: AVX2 (every processor since about 2015), and AVX-512 with VNNI where there is one.
//!
//! The functions with `#[target_feature]` are reached only through [`with_avx2`] and [`with_avx512`]; the methods of
//! [`AvxLanes`] are inlined into those.

use std::arch::x86_64::*;

use super::lanes::{LANES, Lanes};
use super::{Kernel, NarrowPanel, Panel, Rows, Work, for_each_tile, tile_of};

/// # Safety
/// The processor must have AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn with_avx2<W: Work>(work: W) -> W::Output {
    work.run::<Avx2>()
}

/// # Safety
/// The processor must have AVX2, AVX-512F and AVX-512 VNNI.
#[target_feature(enable = "avx2,avx512f,avx512vnni")]
pub(super) unsafe fn with_avx512<W: Work>(work: W) -> W::Output {
    work.run::<Avx512>()
}

/// `vpmaddwd` over panels of 16 channels in two vectors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2;

impl Kernel for Avx2 {
    const WIDTH: usize = 16;
    type Lanes = AvxLanes;

    #[inline(always)]
    fn panel_product(panel: &Panel<'_, i16, i16>, out: &mut [i32]) {
        let Rows { values, stride, count, depth } = panel.rows;
        assert!(out.len() >= count * Self::WIDTH);
        for_each_tile(count, 6, |first, height| {
            let tile = tile_of!(tile_avx2, height, 1 2 3 4 5 6);
            // SAFETY: `Panel` promises `count` rows and `depth / 2` groups of weights; the assertion covers `out`.
            unsafe {
                let inputs = values.as_ptr().add(first * stride);
                tile(
                    inputs,
                    stride,
                    depth / 2,
                    panel.weights.as_ptr(),
                    out.as_mut_ptr().add(first * Self::WIDTH),
                );
            }
        });
    }
}

/// Six rows of two vectors of sums, two of weights and one of inputs fill the 16 registers.
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
        // SAFETY: the caller promises `ROWS` rows of `pairs` pairs and as many groups of 32 weights.
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
        // SAFETY: the caller promises room for `ROWS` rows of 16 sums.
        unsafe {
            let out = out.add(row * 16).cast::<__m256i>();
            _mm256_storeu_si256(out, low);
            _mm256_storeu_si256(out.add(1), high);
        }
    }
}

/// `vpdpwssd` over panels of 32 channels in two vectors; the float steps are those of AVX2.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512;

impl Kernel for Avx512 {
    const WIDTH: usize = 32;
    type Lanes = AvxLanes;

    #[inline(always)]
    fn panel_product(panel: &Panel<'_, i16, i16>, out: &mut [i32]) {
        let Rows { values, stride, count, depth } = panel.rows;
        assert!(out.len() >= count * Self::WIDTH);
        for_each_tile(count, 12, |first, height| {
            let tile = tile_of!(tile_avx512, height, 1 2 3 4 5 6 7 8 9 10 11 12);
            // SAFETY: `Panel` promises `count` rows and `depth / 2` groups of weights; the assertion covers `out`.
            unsafe {
                let inputs = values.as_ptr().add(first * stride);
                tile(
                    inputs,
                    stride,
                    depth / 2,
                    panel.weights.as_ptr(),
                    out.as_mut_ptr().add(first * Self::WIDTH),
                );
            }
        });
    }

    const NARROW: bool = true;

    #[inline(always)]
    fn narrow_panel_product(panel: &NarrowPanel<'_>, out: &mut [i32]) {
        let NarrowPanel { panel: Panel { rows, weights }, high, offsets } = panel;
        assert!(out.len() >= rows.count * Self::WIDTH && offsets.len() == Self::WIDTH);
        let groups = [high / 4, (rows.depth - high) / 4];
        for_each_tile(rows.count, 12, |first, height| {
            let tile = tile_of!(narrow_tile_avx512, height, 1 2 3 4 5 6 7 8 9 10 11 12);
            // SAFETY: `Panel` promises `count` rows and `depth / 4` groups; the assertion covers the rest.
            unsafe {
                let inputs = rows.values.as_ptr().add(first * rows.stride);
                let out = out.as_mut_ptr().add(first * Self::WIDTH);
                tile(inputs, rows.stride, groups, weights.as_ptr(), offsets.as_ptr(), out);
            }
        });
    }
}

/// Up to twelve rows of two vectors of sums, two of weights and one of inputs: 27 of the 32 registers.
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
        // SAFETY: the caller promises `ROWS` rows of `pairs` pairs and as many groups of 64 weights.
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
        // SAFETY: the caller promises room for `ROWS` rows of 32 sums.
        unsafe {
            let out = out.add(row * 32).cast::<__m512i>();
            _mm512_storeu_si512(out, low);
            _mm512_storeu_si512(out.add(1), high);
        }
    }
}

/// As [`tile_avx512`], with `vpdpbusd` over bytes in groups of four.
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn narrow_tile_avx512<const ROWS: usize>(
    inputs: *const u8,
    stride: usize,
    [high, low]: [usize; 2],
    weights: *const i8,
    offsets: *const i32,
    out: *mut i32,
) {
    let mut sums = [[_mm512_setzero_si512(); 2]; ROWS];
    let add = |sums: &mut [[__m512i; 2]; ROWS], group: usize| {
        // SAFETY: the caller promises `ROWS` rows of `high + low` groups and as many groups of 128 weights.
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
    // SAFETY: the caller promises 32 offsets.
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
        // SAFETY: the caller promises room for `ROWS` rows of 32 sums.
        unsafe {
            let out = out.add(row * 32).cast::<__m512i>();
            _mm512_storeu_si512(out, left);
            _mm512_storeu_si512(out.add(1), right);
        }
    }
}

/// One AVX vector. Used only below [`with_avx2`] and [`with_avx512`], which is what makes its `unsafe` blocks sound.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AvxLanes(__m256);

impl Lanes for AvxLanes {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: see the type.
        Self(unsafe { _mm256_set1_ps(value) })
    }

    #[inline(always)]
    fn load(values: &[f32; LANES]) -> Self {
        // SAFETY: see the type; the array is one vector long.
        Self(unsafe { _mm256_loadu_ps(values.as_ptr()) })
    }

    #[inline(always)]
    fn store(self, to: &mut [f32; LANES]) {
        // SAFETY: see the type; the array is one vector long.
        unsafe { _mm256_storeu_ps(to.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn from_i32(values: &[i32; LANES]) -> Self {
        // SAFETY: see the type; the array is one vector long.
        Self(unsafe { _mm256_cvtepi32_ps(_mm256_loadu_si256(values.as_ptr().cast())) })
    }

    #[inline(always)]
    fn from_i8(values: &[u8; LANES]) -> Self {
        // SAFETY: see the type; the array is the low half of a 128-bit vector.
        Self(unsafe { _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(values.as_ptr().cast()))) })
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: see the type.
        Self(unsafe { _mm256_add_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: see the type.
        Self(unsafe { _mm256_sub_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: see the type.
        Self(unsafe { _mm256_mul_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // SAFETY: see the type.
        Self(unsafe { _mm256_div_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see the type.
        Self(unsafe { _mm256_max_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see the type.
        Self(unsafe { _mm256_min_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see the type.
        Self(unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0) })
    }

    #[inline(always)]
    fn store_i16(self, to: &mut [i16; LANES]) {
        // SAFETY: see the type; the array is a 128-bit vector long. The conversion rounds ties to even, which is the
        // rounding mode Rust programs run in.
        unsafe {
            let integers = _mm256_cvtps_epi32(self.0);
            let (low, high) = (_mm256_castsi256_si128(integers), _mm256_extracti128_si256::<1>(integers));
            _mm_storeu_si128(to.as_mut_ptr().cast(), _mm_packs_epi32(low, high));
        }
    }

    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        // SAFETY: see the type. Both conversions round ties to even.
        unsafe {
            let integer = _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(self.0);
            let exponent = _mm256_add_epi32(_mm256_cvtps_epi32(integer), _mm256_set1_epi32(127));
            let power = _mm256_castsi256_ps(_mm256_slli_epi32::<23>(exponent));
            (Self(power), Self(_mm256_sub_ps(self.0, integer)))
        }
    }
}
