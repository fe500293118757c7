//! Texts → vectors, on all cores.

use embedder::{Embedder, EmbedderError};
use rayon::prelude::*;

/// What ingesting needs of the model; tests bring their own.
pub trait TextEmbedder: Sync {
    /// Tokens of a text, the special ones included, not limited by what the model reads.
    fn count_tokens(&self, text: &str) -> usize;

    /// The text's vector.
    ///
    /// # Errors
    /// If the model fails.
    fn vector(&self, text: &str) -> Result<Vec<f32>, EmbedderError>;
}

impl TextEmbedder for Embedder {
    fn count_tokens(&self, text: &str) -> usize {
        self.count_tokens(text)
    }

    fn vector(&self, text: &str) -> Result<Vec<f32>, EmbedderError> {
        Ok(self.embed(text)?.vector)
    }
}

/// The vectors of `texts`, in order. `done` is called after each, from any thread.
///
/// # Errors
/// The first failure.
pub fn vectors(
    embedder: &impl TextEmbedder,
    texts: &[String],
    done: impl Fn() + Sync,
) -> Result<Vec<Vec<f32>>, EmbedderError> {
    texts.par_iter().map(|text| embedder.vector(text).inspect(|_| done())).collect()
}
