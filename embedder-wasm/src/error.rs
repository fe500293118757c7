use std::path::PathBuf;

use crate::VocabularyError;

/// Why the model could not be loaded. A loaded model can embed every text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedderError {
    /// The model file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The requested file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The bytes are not the model that this version embeds with.
    #[error(
        "this is not {file}: its SHA-256 is {actual}, expected {expected}. Download it again",
        file = crate::MODEL_FILE,
        expected = crate::MODEL_SHA256
    )]
    WrongFile {
        /// SHA-256 of the bytes, hex.
        actual: String,
    },
    /// The bytes do not describe a model.
    #[error("the model file is damaged: {0}. Download it again")]
    Damaged(String),
    /// The bytes describe a model of another kind.
    #[error(
        "the model file is of the kind {actual:?}, not the embedder's. Use {file}",
        actual = actual.as_deref().unwrap_or("embedder"),
        file = crate::MODEL_FILE
    )]
    WrongKind {
        /// The kind in the file's metadata; the embedder's file has none.
        actual: Option<String>,
    },
    /// The tokens are not those of the model.
    #[error("this is not the vocabulary of all-MiniLM-L6-v2: {0}. Download it again")]
    Vocabulary(#[from] VocabularyError),
}

/// Why the reader could not be loaded. A loaded reader can read every passage.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReaderError {
    /// The file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The requested file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The bytes are not the reader of this version.
    #[error(
        "this is not {file}: its SHA-256 is {actual}, expected {expected}. Download it again",
        file = crate::READER_FILE,
        expected = crate::READER_SHA256
    )]
    WrongFile {
        /// SHA-256 of the bytes, hex.
        actual: String,
    },
    /// A model of another kind, such as the embedder's.
    #[error(
        "this model file is not a reader but {}. Use {file}",
        kind.as_deref().map_or("the embedder's".to_owned(), |kind| format!("of the kind {kind:?}")),
        file = crate::READER_FILE
    )]
    NotAReader {
        /// The kind in the file's metadata; the embedder's file has none.
        kind: Option<String>,
    },
    /// The bytes do not describe a reader.
    #[error("the reader's file is damaged: {0}. Download it again")]
    Damaged(String),
}

/// Of the errors of loading a model file from its bytes.
impl From<EmbedderError> for ReaderError {
    fn from(error: EmbedderError) -> Self {
        match error {
            EmbedderError::WrongKind { actual } => Self::NotAReader { kind: actual },
            EmbedderError::Damaged(what) => Self::Damaged(what),
            EmbedderError::Io { path, source } => Self::Io { path, source },
            EmbedderError::WrongFile { actual } => Self::WrongFile { actual },
            EmbedderError::Vocabulary(error) => Self::Damaged(error.to_string()),
        }
    }
}
