//! The parts of an embedding, to measure how long each takes (feature `stages`).

use crate::Embedder;

/// A part of an embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Text to token ids.
    Tokenizer,
    /// Token ids to the rows of the first layer.
    Words,
    /// Inputs of linear layers to integers.
    Rounding,
    /// Products of linear layers.
    Linear,
    /// Attention, with its softmax.
    Attention,
    /// Softmax alone.
    Softmax,
    /// GELU.
    Gelu,
    /// Sums of steps, and their normalisation.
    Norm,
    /// Not a part: the instructions of [`Stage::Linear`] on registers only, the peak of this machine.
    Registers,
}

impl Stage {
    /// All parts.
    pub const ALL: [Self; 9] = [
        Self::Tokenizer,
        Self::Words,
        Self::Rounding,
        Self::Linear,
        Self::Attention,
        Self::Softmax,
        Self::Gelu,
        Self::Norm,
        Self::Registers,
    ];

    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tokenizer => "tokenizer",
            Self::Words => "words",
            Self::Rounding => "rounding",
            Self::Linear => "linear",
            Self::Attention => "attention",
            Self::Softmax => "softmax",
            Self::Gelu => "gelu",
            Self::Norm => "norm",
            Self::Registers => "registers",
        }
    }
}

impl Embedder {
    /// Does this part as often as one embedding of `text` does, `repeats` times. Returns the products of two integers that
    /// a repeat computes, for the parts that compute nothing else; otherwise 0.
    pub fn repeat(&mut self, stage: Stage, text: &str, repeats: u32) -> u64 {
        if stage == Stage::Tokenizer {
            for _ in 0..repeats {
                self.tokenizer.encode(text, &mut self.ids);
            }
            return 0;
        }
        self.tokenizer.encode(text, &mut self.ids);
        self.encoder.repeat(stage, &self.ids, repeats)
    }

    /// The instructions it uses.
    pub fn kernel(&self) -> String {
        self.encoder.kernel().to_string()
    }
}
