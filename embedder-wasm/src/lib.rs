//! all-MiniLM-L6-v2 sentence embeddings: text in, 384 unit-length floats out.
//!
//! The same code runs natively (the `kb` command line) and as WebAssembly in the visitor's browser, so a question
//! and the documents it is compared with are always embedded by one implementation.
//!
//! ```no_run
//! let embedder = embedder::Embedder::from_dir("all-MiniLM-L6-v2".as_ref())?;
//! let embedding = embedder.embed("Can I get my money back?")?;
//! assert_eq!(embedding.vector.len(), embedder::DIMENSIONS);
//! # Ok::<(), embedder::EmbedderError>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod error;
mod files;
mod model;
mod tokenizer;
#[cfg(target_arch = "wasm32")]
mod wasm;
mod wordpiece;

use std::path::Path;

pub use error::EmbedderError;
pub use files::{MODEL_FILE, MODEL_SHA256, TOKENIZER_FILE, TOKENIZER_SHA256, fingerprint};
pub use wordpiece::{VocabularyError, WordPiece};

use model::Model;

/// Length of every embedding vector.
pub const DIMENSIONS: usize = 384;

/// Longest token sequence the model reads, [CLS] and [SEP] included (`max_seq_length` of sentence-transformers).
pub const MAX_TOKENS: usize = 256;

/// One embedded text.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// [`DIMENSIONS`] floats of unit Euclidean length.
    pub vector: Vec<f32>,
    /// Tokens of the whole text, [CLS] and [SEP] included, before truncation.
    pub token_count: usize,
    /// True if the text had more than [`MAX_TOKENS`] tokens and its end was not read.
    pub truncated: bool,
}

/// The loaded model and its tokenizer. Cheap to share between threads by reference.
pub struct Embedder {
    tokenizer: WordPiece,
    model: Model,
}

impl Embedder {
    /// Loads [`MODEL_FILE`] and [`TOKENIZER_FILE`] from a folder.
    ///
    /// # Errors
    /// [`EmbedderError::Io`] if a file cannot be read, otherwise as [`Embedder::new`].
    pub fn from_dir(dir: &Path) -> Result<Self, EmbedderError> {
        let read = |name: &str| {
            let path = dir.join(name);
            std::fs::read(&path).map_err(|source| EmbedderError::Io { path, source })
        };
        Self::new(read(MODEL_FILE)?, &read(TOKENIZER_FILE)?)
    }

    /// Loads the model from the bytes of its two files.
    ///
    /// # Errors
    /// [`EmbedderError::WrongFile`] unless both files are exactly those that [`fingerprint`] stands for: vectors of
    /// another model are not comparable, and nothing else would notice.
    pub fn new(model_safetensors: Vec<u8>, tokenizer_json: &[u8]) -> Result<Self, EmbedderError> {
        files::verify(TOKENIZER_FILE, tokenizer_json, TOKENIZER_SHA256)?;
        files::verify(MODEL_FILE, &model_safetensors, MODEL_SHA256)?;
        Ok(Self {
            tokenizer: tokenizer::from_json(tokenizer_json)?,
            model: Model::from_safetensors(model_safetensors)?,
        })
    }

    /// Embeds one text; only its first [`MAX_TOKENS`] tokens are read, and the result says so.
    ///
    /// # Errors
    /// [`EmbedderError::Inference`] if the forward pass fails.
    pub fn embed(&self, text: &str) -> Result<Embedding, EmbedderError> {
        let mut ids = Vec::new();
        let token_count = self.tokenizer.encode(text, &mut ids);
        Ok(Embedding { vector: self.model.embed(&ids)?, token_count, truncated: token_count > MAX_TOKENS })
    }

    /// Token ids the model would read for this text: \[CLS\] first, \[SEP\] last, at most [`MAX_TOKENS`].
    pub fn token_ids(&self, text: &str) -> Vec<u32> {
        let mut ids = Vec::new();
        self.tokenizer.encode(text, &mut ids);
        ids
    }

    /// Number of tokens of the whole text, \[CLS\] and \[SEP\] included, not limited by [`MAX_TOKENS`].
    pub fn count_tokens(&self, text: &str) -> usize {
        self.tokenizer.encode(text, &mut Vec::new())
    }
}
