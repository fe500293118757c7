//! Which kernel runs.

use std::fmt;

use super::Work;

/// The kernels there are. All give the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instructions {
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    Scalar,
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128,
    #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
    Relaxed,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Instructions {
    /// What this machine can run, slowest first.
    pub(crate) fn available() -> Vec<Self> {
        vec![
            #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
            Self::Scalar,
            #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
            Self::Relaxed,
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Self::Simd128,
            #[cfg(target_arch = "aarch64")]
            Self::Neon,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512,
        ]
        .into_iter()
        .filter(|instructions| instructions.is_available())
        .collect()
    }

    /// The fastest that this machine can run.
    pub(crate) fn best() -> Self {
        #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
        if super::relaxed::is_fast() {
            return Self::Relaxed;
        }
        // The list is never empty: the first is there on every machine it is compiled for.
        Self::available().pop().unwrap_or(Self::FIRST)
    }

    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    const FIRST: Self = Self::Scalar;
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    const FIRST: Self = Self::Simd128;

    fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vnni")
            }
            // Compiled only for machines that have them.
            _ => true,
        }
    }

    /// Runs `work` with these instructions. They must be [`Instructions::available`].
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        match self {
            #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
            Self::Scalar => work.run::<super::scalar::Scalar>(),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Self::Simd128 => work.run::<super::simd128::Simd128>(),
            #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
            Self::Relaxed => work.run::<super::relaxed::Relaxed>(),
            // SAFETY: values of these variants come from `available`, which asked the processor.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { super::x86::with_avx2(work) },
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { super::x86::with_avx512(work) },
            #[cfg(target_arch = "aarch64")]
            Self::Neon => work.run::<super::neon::Neon>(),
        }
    }
}

impl fmt::Display for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
