//! The numbers of the recipe, all measured on this model. The README of this crate describes how,
//! and what else was tried.

/// How coarsely the weights of the layers and of the words are rounded: a step is proportional to
/// the square root, so 4 times the coarseness saves one bit per weight.
///
/// With this ratio, a saved bit costs the same accuracy in both. The values keep the whole download
/// of the embedder below 15 MB (brotli).
const LAYER_COARSENESS: f64 = 3.65e-10;
const WORD_COARSENESS: f64 = 8.2e-10;

/// Steps of the linear layers for a coarseness of 5e-10, one row per encoder layer.
///
/// They minimise the bits for a given error of the vector: the step's error, weighted by the
/// sensitivity of the vector to the tensor (empirical Fisher information, for random directions of
/// the vector) and the variance of the inputs, is the same for all tensors.
const LINEAR_STEPS: [[f64; 6]; 6] = [
    // query, key, value, attention output, intermediate, output
    [0.008_52, 0.010_82, 0.002_57, 0.002_98, 0.003_61, 0.004_46],
    [0.008_33, 0.008_16, 0.002_08, 0.002_93, 0.004_20, 0.004_17],
    [0.007_87, 0.007_73, 0.001_88, 0.002_83, 0.003_74, 0.003_92],
    [0.006_88, 0.006_25, 0.001_43, 0.002_42, 0.003_04, 0.002_75],
    [0.006_74, 0.006_13, 0.001_06, 0.002_44, 0.002_00, 0.002_38],
    [0.005_82, 0.004_05, 0.000_82, 0.000_83, 0.002_28, 0.001_83],
];

/// The linear layers of an encoder layer, in the order of the columns of [`LINEAR_STEPS`].
#[derive(Clone, Copy)]
pub(crate) enum Linear {
    Query,
    Key,
    Value,
    AttentionOutput,
    Intermediate,
    Output,
}

impl Linear {
    /// The name within an encoder layer.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Query => "attention.self.query",
            Self::Key => "attention.self.key",
            Self::Value => "attention.self.value",
            Self::AttentionOutput => "attention.output.dense",
            Self::Intermediate => "intermediate.dense",
            Self::Output => "output.dense",
        }
    }

    /// One step for the whole weight matrix in an encoder layer (from 0).
    pub(crate) fn step(self, layer: usize) -> f32 {
        (LINEAR_STEPS[layer][self as usize] * (LAYER_COARSENESS / 5e-10).sqrt()) as f32
    }
}

pub(crate) const LAYERS: usize = LINEAR_STEPS.len();

/// Dimensions of a token.
pub(crate) const HIDDEN: usize = 384;
/// Width of the feed-forward step.
pub(crate) const INTERMEDIATE: usize = 1536;
/// Tokens of the vocabulary of BERT (uncased).
pub(crate) const VOCABULARY_SIZE: usize = 30_522;

/// Linear layers of an encoder layer that share an input.
pub(crate) struct Linears {
    pub(crate) input: &'static str,
    /// Width of the input.
    pub(crate) columns: usize,
    /// Width of each output.
    pub(crate) rows: usize,
    pub(crate) linears: &'static [Linear],
}

/// An encoder layer, in the order of its computation.
pub(crate) const LINEARS: [Linears; 4] = [
    Linears {
        input: "attention.self",
        columns: HIDDEN,
        rows: HIDDEN,
        linears: &[Linear::Query, Linear::Key, Linear::Value],
    },
    Linears {
        input: "attention.output.dense",
        columns: HIDDEN,
        rows: HIDDEN,
        linears: &[Linear::AttentionOutput],
    },
    Linears {
        input: "intermediate.dense",
        columns: HIDDEN,
        rows: INTERMEDIATE,
        linears: &[Linear::Intermediate],
    },
    Linears { input: "output.dense", columns: INTERMEDIATE, rows: HIDDEN, linears: &[Linear::Output] },
];

/// Added to the variance of each input of a linear layer, as a fraction of the mean variance.
pub(crate) const LAYER_DAMPING: f64 = 0.12;

/// Added to the sensitivity of the vectors to each dimension of the embeddings, as a fraction of
/// the mean sensitivity.
pub(crate) const WORD_DAMPING: f64 = 0.3;

/// Mantissa bits of biases and of the weights of layer norms: a relative error of 2⁻¹¹, far below
/// that of the weights.
const PARAMETER_BITS: u32 = 10;

/// Positions are multiples of this. Bytes would be too coarse: one column is ±0.45, the others a
/// tenth of it.
pub(crate) const POSITION_STEP: f32 = 1.0 / 512.0;

/// Mantissa bits of the words' steps, which need not be precise.
pub(crate) const WORD_STEP_BITS: u32 = 3;

/// The step of a word whose embedding has a root mean square of `relative` times the typical one.
///
/// Frequent words have low ids and finer steps. `is_non_latin`: the token has a letter of a script
/// other than Latin. Most tokens of a text in such a script are among a few hundred, mostly single
/// letters.
pub(crate) fn word_step(id: usize, relative: f64, is_non_latin: bool) -> f64 {
    let rarity = match id {
        999..1996 => FINE_RARITY,
        _ => (id.saturating_sub(996).max(1000) as f64 / 8000.0).sqrt().sqrt(),
    };
    let rarity = if is_non_latin { rarity.min(FINE_RARITY) } else { rarity };
    408.04 * WORD_COARSENESS.sqrt() * relative * rarity
}

/// The rarity of single characters and [non-Latin](word_step) tokens.
const FINE_RARITY: f64 = 0.5;

/// Rows of the embedding that no text uses: `[unused…]`.
pub(crate) fn is_unused(id: usize) -> bool {
    matches!(id, 1..100 | 104..999)
}

/// Rounds biases and layer norm weights for the model file.
pub(crate) fn round_parameters(mut values: Vec<f32>) -> Vec<f32> {
    values.iter_mut().for_each(|value| *value = round_mantissa(*value, PARAMETER_BITS));
    values
}

/// Rounds to this many bits of the mantissa, ties away from 0.
pub(crate) fn round_mantissa(value: f32, bits: u32) -> f32 {
    let dropped = 23 - bits;
    f32::from_bits((value.to_bits() + (1 << (dropped - 1))) >> dropped << dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mantissa_is_rounded_to_nearest() {
        assert_eq!(round_mantissa(1.06, 3), 1.0);
        assert_eq!(round_mantissa(1.07, 3), 1.125);
        assert_eq!(round_mantissa(-1.99, 3), -2.0);
        assert_eq!(round_mantissa(0.0, 3), 0.0);
    }

    #[test]
    fn frequent_and_non_latin_words_have_finer_steps() {
        let typical = word_step(9000, 1.0, false);
        assert!(word_step(3000, 1.0, false) < typical && typical < word_step(30_000, 1.0, false));
        assert!(word_step(1500, 1.0, false) == word_step(20_000, 1.0, true));
        assert!(word_step(9000, 2.0, false) == 2.0 * typical);
    }
}
