//! Texts → vectors, on all cores, one text at a time: passes shared by several texts save nothing natively.

use embedder::Embedder;
use rayon::prelude::*;

/// What is needed of the model; tests bring their own. A clone works beside the original, on another core.
pub trait TextEmbedder: Clone + Send + Sync {
    /// Tokens of a text, the special ones included, not limited by what the model reads.
    fn count_tokens(&self, text: &str) -> usize;

    /// The text's vector.
    fn vector(&mut self, text: &str) -> Vec<f32>;
}

impl TextEmbedder for Embedder {
    fn count_tokens(&self, text: &str) -> usize {
        self.count_tokens(text)
    }

    fn vector(&mut self, text: &str) -> Vec<f32> {
        self.embed(text).vector
    }
}

/// The vectors of `texts`, in order.
pub fn vectors(embedder: &impl TextEmbedder, texts: &[String]) -> Vec<Vec<f32>> {
    let embed = |embedder: &mut _, text: &String| TextEmbedder::vector(embedder, text);
    texts.par_iter().map_init(|| embedder.clone(), embed).collect()
}
