//! Which kernel runs.

use super::Work;
#[cfg(target_arch = "aarch64")]
use super::neon::Neon;
#[cfg(target_arch = "aarch64")]
use super::neon_dot::NeonDot;
#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
use super::relaxed::Relaxed;
#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
use super::relaxed_pairs::RelaxedPairs;
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
use super::scalar::Scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use super::simd128::Simd128;
#[cfg(target_arch = "x86_64")]
use super::x86::{Avx2, Avx512};

/// A kernel that this machine can run. All return the same bits.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AnyKernel {
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    Scalar(Scalar),
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128(Simd128),
    #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
    Relaxed(Relaxed),
    #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
    RelaxedPairs(RelaxedPairs),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    #[cfg(target_arch = "aarch64")]
    NeonDot(NeonDot),
}

impl AnyKernel {
    /// The kernel that every machine of the target can run.
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    pub(crate) const BASELINE: Self = Self::Scalar(Scalar);
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    pub(crate) const BASELINE: Self = Self::Simd128(Simd128);

    /// Every kernel that this machine can run, slowest first. Never empty.
    pub(crate) fn available() -> Vec<Self> {
        let kernels = [
            #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
            Some(Self::Relaxed(Relaxed)),
            #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
            Some(Self::RelaxedPairs(RelaxedPairs)),
            Some(Self::BASELINE),
            #[cfg(target_arch = "aarch64")]
            Some(Self::Neon(Neon)),
            #[cfg(target_arch = "aarch64")]
            NeonDot::detect().map(Self::NeonDot),
            #[cfg(target_arch = "x86_64")]
            Avx2::detect().map(Self::Avx2),
            #[cfg(target_arch = "x86_64")]
            Avx512::detect().map(Self::Avx512),
        ];
        kernels.into_iter().flatten().collect()
    }

    /// The fastest kernel that this machine can run.
    pub(crate) fn best() -> Self {
        #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
        if super::relaxed::is_fast() {
            return Self::Relaxed(Relaxed);
        } else if super::relaxed_pairs::is_exact() {
            return Self::RelaxedPairs(RelaxedPairs);
        }
        Self::available().pop().unwrap_or(Self::BASELINE)
    }

    /// Runs `work` with this kernel.
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        match self {
            #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
            Self::Scalar(scalar) => work.run(scalar),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Self::Simd128(simd128) => work.run(simd128),
            #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
            Self::Relaxed(relaxed) => work.run(relaxed),
            #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
            Self::RelaxedPairs(pairs) => work.run(pairs),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(avx2) => avx2.run(work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(avx512) => avx512.run(work),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(neon) => work.run(neon),
            #[cfg(target_arch = "aarch64")]
            Self::NeonDot(neon) => work.run(neon),
        }
    }
}
