//! Embeds texts on all cores, one text per call: batching several texts into one pass saves nothing natively.

use std::path::Path;

use embedder::{Embedder, EmbedderError};
use rayon::prelude::*;

/// Why the model cannot be used, and where to get it.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0}. `cargo xtask setup model` makes the file, and --model-dir or EVIDENCE_MODEL_DIR names its folder"
)]
pub struct ModelError(#[from] EmbedderError);

/// Loads the model from its folder.
///
/// # Errors
/// If the file cannot be read, or is not the model.
pub fn load_model(folder: &Path) -> Result<Embedder, ModelError> {
    Ok(Embedder::from_dir(folder)?)
}

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

/// Embeds `texts`, in order.
pub fn embed_all(embedder: &impl TextEmbedder, texts: &[String]) -> Vec<Vec<f32>> {
    let embed = |embedder: &mut _, text: &String| TextEmbedder::vector(embedder, text);
    texts.par_iter().map_init(|| embedder.clone(), embed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_for_a_missing_model_names_the_file_and_says_where_to_get_it() {
        let message = load_model(Path::new("no-such-folder")).err().unwrap().to_string();
        assert!(message.contains(embedder::MODEL_FILE), "{message}");
        assert!(message.contains("`cargo xtask setup model`"), "{message}");
    }
}
