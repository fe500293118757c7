//! all-MiniLM-L6-v2 sentence embeddings: text in, 384 unit-length floats out.
//!
//! The crate runs natively (the `kb` command line) and as WebAssembly in the visitor's browser. It
//! returns the same bits on every machine: matrix products are exact integers, and float steps run in
//! one fixed order.
//!
//! ```no_run
//! let mut embedder = embedder::Embedder::from_dir("all-MiniLM-L6-v2".as_ref())?;
//! let embedding = embedder.embed("Can I get my money back?");
//! assert_eq!(embedding.vector.len(), embedder::DIMENSIONS);
//! # Ok::<(), embedder::EmbedderError>(())
//! ```
//!
//! A [`Reader`] also reads a question and a passage together, and says which statements of the passage answer it.

#![deny(missing_docs, unsafe_code)]

// Unit tests include code of `tests/`, which names the crate.
#[cfg(test)]
extern crate self as embedder;

mod encoder;
mod error;
mod files;
#[cfg(any(test, target_arch = "wasm32"))]
mod gunzip;
mod kernels;
mod model_file;
mod reader;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "wasm32")]
mod wasm;
mod wordpiece;

use std::path::Path;
use std::sync::Arc;

pub use error::EmbedderError;
pub use files::{
    MODEL_BYTES, MODEL_FILE, MODEL_SHA256, READER_BYTES, READER_FILE, READER_SHA256, fingerprint,
    reader_fingerprint,
};
#[cfg(not(target_arch = "wasm32"))]
pub use files::{default_model_dir, model_dir};
pub use reader::{Passage, Reader};
pub use wordpiece::WordPiece;

use encoder::{Encoder, MAX_ROWS};
use kernels::AnyKernel;

/// Length of every embedding vector.
pub const DIMENSIONS: usize = 384;

/// Maximum tokens that the model reads, including \[CLS\] and \[SEP\] (`max_seq_length` of
/// sentence-transformers).
pub const MAX_TOKENS: usize = 256;

/// One embedded text.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// [`DIMENSIONS`] floats of unit Euclidean length.
    pub vector: Vec<f32>,
    /// Tokens of the whole text before truncation, including \[CLS\] and \[SEP\].
    pub tokens: usize,
    /// Whether the text has more than [`MAX_TOKENS`] tokens, so that its end was not read.
    pub truncated: bool,
}

/// The loaded model and its tokenizer.
///
/// A clone shares the weights and has its own working memory: use one per thread. That memory is
/// allocated at once (about 4 MB) and never grows; the system provides it as passes get larger.
///
/// Every text has a vector. A text without tokens (empty, or only white space and control
/// characters) has the vector of the empty sentence, "\[CLS\] \[SEP\]", as in
/// sentence-transformers.
#[derive(Clone)]
pub struct Embedder {
    tokenizer: Arc<WordPiece>,
    encoder: Encoder,
    ids: Vec<u32>,
    batch: Batch,
}

impl Embedder {
    /// Loads [`MODEL_FILE`] from a folder.
    ///
    /// # Errors
    /// [`EmbedderError::Io`] if the file cannot be read, otherwise those of [`Embedder::new`].
    pub fn from_dir(dir: &Path) -> Result<Self, EmbedderError> {
        let path = dir.join(MODEL_FILE);
        match std::fs::read(&path) {
            Ok(bytes) => Self::new(bytes),
            Err(source) => Err(EmbedderError::Io { path, source }),
        }
    }

    /// Loads the model from the bytes of [`MODEL_FILE`].
    ///
    /// # Errors
    /// [`EmbedderError::WrongFile`] unless it is exactly the file that [`fingerprint`] stands for: vectors of another
    /// model are not comparable, and no later check would detect it.
    pub fn new(model: Vec<u8>) -> Result<Self, EmbedderError> {
        files::verify(&model)?;
        Self::from_trusted(model)
    }

    /// Like [`Embedder::new`], for bytes whose SHA-256 the caller has compared with
    /// [`MODEL_SHA256`].
    ///
    /// # Errors
    /// [`EmbedderError::Damaged`] if the bytes are not the model after all. No bytes make it panic or
    /// allocate more than the model needs.
    pub fn from_trusted(model: Vec<u8>) -> Result<Self, EmbedderError> {
        Self::with_kernel(model, AnyKernel::best())
    }

    fn with_kernel(model: Vec<u8>, kernel: AnyKernel) -> Result<Self, EmbedderError> {
        let (encoder, tokenizer) = Encoder::load(model, kernel, WordPiece::from_vocabulary)?;
        Ok(Self {
            tokenizer: Arc::new(tokenizer),
            encoder,
            ids: Vec::with_capacity(MAX_TOKENS),
            batch: Batch::default(),
        })
    }

    /// Embeds one text. Only its first [`MAX_TOKENS`] tokens are read; the result says whether
    /// there are more.
    pub fn embed(&mut self, text: &str) -> Embedding {
        let tokens = self.tokenizer.encode(text, &mut self.ids);
        let mut vector = vec![0.0; DIMENSIONS];
        self.encoder.embed(&self.ids, &[self.ids.len()], &mut vector);
        Embedding { vector, tokens, truncated: tokens > MAX_TOKENS }
    }

    /// Embeds texts, in their order. Each gets exactly the vector that [`Embedder::embed`] returns.
    ///
    /// Short texts share a pass over the weights, without padding.
    pub fn embed_batch<T: AsRef<str>>(&mut self, texts: &[T]) -> Vec<Embedding> {
        let mut embeddings = Vec::with_capacity(texts.len());
        for text in texts {
            let tokens = self.tokenizer.encode(text.as_ref(), &mut self.ids);
            if self.batch.ids.len() + self.ids.len() > MAX_ROWS {
                self.batch.flush(&mut self.encoder, &mut embeddings);
            }
            self.batch.ids.extend_from_slice(&self.ids);
            self.batch.lengths.push(self.ids.len());
            self.batch.tokens.push(tokens);
        }
        self.batch.flush(&mut self.encoder, &mut embeddings);
        embeddings
    }

    /// Token ids that the model reads for this text: \[CLS\] first, \[SEP\] last, at most
    /// [`MAX_TOKENS`].
    pub fn token_ids(&self, text: &str) -> Vec<u32> {
        let mut ids = Vec::new();
        self.tokenizer.encode(text, &mut ids);
        ids
    }

    /// Number of tokens of the whole text, including \[CLS\] and \[SEP\], not limited by
    /// [`MAX_TOKENS`].
    pub fn count_tokens(&self, text: &str) -> usize {
        self.tokenizer.encode(text, &mut Vec::new())
    }
}

/// Texts for the next forward pass.
#[derive(Clone, Default)]
struct Batch {
    ids: Vec<u32>,
    /// Number of ids of each text.
    lengths: Vec<usize>,
    /// Tokens of each text before truncation.
    tokens: Vec<usize>,
}

impl Batch {
    /// Embeds the texts and clears the batch.
    fn flush(&mut self, encoder: &mut Encoder, embeddings: &mut Vec<Embedding>) {
        if self.lengths.is_empty() {
            return;
        }
        let mut vectors = vec![0.0; self.lengths.len() * DIMENSIONS];
        encoder.embed(&self.ids, &self.lengths, &mut vectors);
        let vectors = vectors.chunks_exact(DIMENSIONS);
        embeddings.extend(vectors.zip(&self.tokens).map(|(vector, tokens)| Embedding {
            vector: vector.to_vec(),
            tokens: *tokens,
            truncated: *tokens > MAX_TOKENS,
        }));
        self.ids.clear();
        self.lengths.clear();
        self.tokens.clear();
    }
}
