use std::path::PathBuf;

use crate::VocabularyError;

/// Why text could not be embedded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedderError {
    /// A model file could not be read.
    #[error("cannot read {}: {source}. Run `cargo xtask setup` to fetch the model, or point EVIDENCE_MODEL_DIR at it", path.display())]
    Io {
        /// The file asked for.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A file is not the one this version embeds with.
    #[error(
        "{file} is not the expected file: its SHA-256 is {actual}, expected {expected}. Download it again"
    )]
    WrongFile {
        /// File name.
        file: &'static str,
        /// Checksum of the bytes given, hex.
        actual: String,
        /// Checksum this version needs, hex.
        expected: &'static str,
    },
    /// The tokens are not those of the model.
    #[error("this is not the vocabulary of all-MiniLM-L6-v2: {0}. Download it again")]
    Vocabulary(#[from] VocabularyError),
    /// The files are intact but could not be turned into a model.
    #[error("cannot load the model: {0}")]
    Load(String),
    /// The forward pass failed.
    #[error("cannot embed the text: {0}")]
    Inference(#[from] candle_core::Error),
}
