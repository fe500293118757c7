//! Embeds texts on all cores, one text per call: batching several texts into one pass saves nothing natively.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use embedder::{Embedder, EmbedderError, MODEL_BYTES, MODEL_FILE, MODEL_SHA256};
use flate2::read::GzDecoder;
use rayon::prelude::*;

/// Why the model cannot be used, and where to get it.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0}. The npm package @evidence-chat/embedder contains the file, `cargo xtask setup model` makes it, and --model-dir or \
     EVIDENCE_MODEL_DIR names its folder"
)]
pub struct ModelError(#[from] EmbedderError);

/// Loads the model from its folder: the file itself, or as the npm package has it, compressed with gzip.
///
/// # Errors
/// If the file cannot be read, or is not the model.
pub fn load_model(folder: &Path) -> Result<Embedder, ModelError> {
    let compressed = folder.join(compressed_file());
    if folder.join(MODEL_FILE).exists() || !compressed.exists() {
        return Ok(Embedder::from_dir(folder)?);
    }
    match File::open(&compressed).and_then(decompress) {
        // Compares the hash.
        Ok(model) => Ok(Embedder::new(model)?),
        Err(source) => Err(EmbedderError::Io { path: compressed, source }.into()),
    }
}

/// Name of the compressed file in the npm package, which has the start of the model's hash.
fn compressed_file() -> String {
    let stem = MODEL_FILE.trim_end_matches(".safetensors");
    format!("{stem}-{}.safetensors.gz", MODEL_SHA256.get(..8).unwrap_or(MODEL_SHA256))
}

/// Reads at most one byte more than the model has, which is enough to find that it is another file.
fn decompress(file: impl Read) -> io::Result<Vec<u8>> {
    let mut model = Vec::with_capacity(MODEL_BYTES + 1);
    GzDecoder::new(file).take(MODEL_BYTES as u64 + 1).read_to_end(&mut model)?;
    Ok(model)
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

/// Embeds `texts`, in order. Equal texts, such as a heading of several passages, are embedded once.
pub fn embed_all(embedder: &impl TextEmbedder, texts: &[String]) -> Vec<Vec<f32>> {
    let distinct: HashSet<&str> = texts.iter().map(String::as_str).collect();
    let embed = |embedder: &mut _, text| (text, TextEmbedder::vector(embedder, text));
    let vectors: HashMap<&str, _> = distinct.into_par_iter().map_init(|| embedder.clone(), embed).collect();
    texts.iter().filter_map(|text| vectors.get(text.as_str()).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// A folder with a file that has the name of the compressed model.
    fn folder_with(bytes: &[u8]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(compressed_file()), bytes).unwrap();
        folder
    }

    fn error_of(folder: &Path) -> String {
        load_model(folder).err().unwrap().to_string()
    }

    #[test]
    fn a_compressed_model_gives_the_same_vectors_as_the_file_itself() {
        let model =
            std::fs::read(embedder::model_dir().join(MODEL_FILE)).expect("run `cargo xtask setup model`");
        let folder = folder_with(&gzip(&model));
        let mut compressed = load_model(folder.path()).unwrap();
        let mut raw = load_model(&embedder::model_dir()).unwrap();
        assert_eq!(compressed_file(), "all-MiniLM-L6-v2-int8-98f50412.safetensors.gz");
        assert_eq!(compressed.embed("a text").vector, raw.embed("a text").vector);
    }

    #[test]
    fn a_compressed_file_that_is_not_the_model_is_rejected() {
        let folder = folder_with(&gzip(b"{}"));
        assert!(error_of(folder.path()).starts_with("this is not"), "{}", error_of(folder.path()));
    }

    #[test]
    fn a_truncated_compressed_model_is_rejected_with_its_path() {
        let whole = gzip(&[7; 4096]);
        let folder = folder_with(whole.get(..whole.len() - 9).unwrap());
        let error = error_of(folder.path());
        assert!(error.starts_with("cannot read ") && error.contains(".gz"), "{error}");
    }

    #[test]
    fn a_compressed_file_that_grows_without_end_is_read_to_the_length_of_the_model() {
        let bomb = gzip(&vec![0; MODEL_BYTES + 100_000]);
        assert_eq!(decompress(&*bomb).unwrap().len(), MODEL_BYTES + 1);
        assert!(error_of(folder_with(&bomb).path()).starts_with("this is not"));
    }

    #[test]
    fn the_error_for_a_missing_model_names_the_file_and_says_where_to_get_it() {
        let message = load_model(Path::new("no-such-folder")).err().unwrap().to_string();
        assert!(message.contains(embedder::MODEL_FILE), "{message}");
        assert!(message.contains("`cargo xtask setup model`"), "{message}");
    }
}
