use std::path::PathBuf;

/// Why the model or the reader could not be loaded. Loaded, they can embed every text and read
/// every passage.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedderError {
    /// The file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The requested file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The bytes are not the file that this version uses.
    #[error("this is not {file}: its SHA-256 is {actual}, expected {expected}. Download it again")]
    WrongFile {
        /// Name of the right file.
        file: &'static str,
        /// SHA-256 of the right file, hex.
        expected: &'static str,
        /// SHA-256 of the bytes, hex.
        actual: String,
    },
    /// The bytes do not describe a model.
    #[error("the model file is damaged: {0}. Download it again")]
    Damaged(String),
}
