//! Embeds texts on all cores, one text per call: batching several texts into one pass saves nothing natively.

use std::collections::{HashMap, HashSet};

use embedder::Embedder;
use rayon::prelude::*;

/// The embedding model; tests replace it. A clone runs in parallel with the original, on another core.
pub trait TextEmbedder: Clone + Send + Sync {
    /// Number of tokens of a text, including the special ones and any beyond the limit of the model.
    fn count_tokens(&self, text: &str) -> usize;

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

/// Embeds `texts`, in order. Equal texts, such as a heading of several passages, are embedded once.
pub fn embed_all(embedder: &impl TextEmbedder, texts: &[String]) -> Vec<Vec<f32>> {
    let distinct: HashSet<&str> = texts.iter().map(String::as_str).collect();
    let embed = |embedder: &mut _, text| (text, TextEmbedder::vector(embedder, text));
    let vectors: HashMap<&str, _> = distinct.into_par_iter().map_init(|| embedder.clone(), embed).collect();
    texts.iter().filter_map(|text| vectors.get(text.as_str()).cloned()).collect()
}
