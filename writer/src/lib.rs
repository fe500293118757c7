//! A small language model that runs on the visitor's device: a chat in, text out, one piece at a time.
//!
//! It loads GGUF files of the llama family (SmolLM2, Llama 3, ...) while they arrive, and writes greedily: the same chat always
//! gets the same text, natively and in the browser. candle decodes the weights, in whichever way they are quantised; they are
//! then stored in the one form that the crate's own products are fast with.
//!
//! ```no_run
//! use writer::{Loader, Message, Role};
//!
//! let file = std::fs::read("SmolLM2-135M-Instruct.Q4_1.gguf").unwrap();
//! let mut loader = Loader::new(file.len() as u64);
//! loader.push(&file)?;
//! let model = loader.finish()?;
//! let chat = [Message { role: Role::User, content: "What is the capital of France?".to_owned() }];
//! let mut session = model.start(&chat, 50)?;
//! while let Some(piece) = session.next() {
//!     print!("{piece}");
//! }
//! # Ok::<(), writer::WriterError>(())
//! ```

#![deny(missing_docs, unsafe_code)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)
)]

mod chat;
mod error;
mod gguf;
mod kernels;
mod loader;
mod model;
mod session;
#[cfg(test)]
mod tests;
mod tokenizer;
#[cfg(target_arch = "wasm32")]
mod wasm;

use std::rc::Rc;

pub use chat::{Message, Role};
pub use error::{ModelError, WriterError};
pub use loader::Loader;
pub use session::{Ending, Session};

use chat::Template;
use model::{Config, Weights};
use tokenizer::Tokenizer;

/// A loaded model.
pub struct Model(Rc<Inner>);

/// What the answers of a model share.
struct Inner {
    config: Config,
    tokenizer: Tokenizer,
    template: Template,
    weights: Weights,
}

impl Model {
    fn new(config: Config, tokenizer: Tokenizer, template: Template, weights: Weights) -> Self {
        Self(Rc::new(Inner { config, tokenizer, template, weights }))
    }

    /// Tokens that fit in a prompt and its answer together.
    pub fn context_length(&self) -> usize {
        self.0.config.context
    }

    /// Tokens of a chat as a prompt, with those that its template adds.
    ///
    /// # Errors
    /// If the tokenizer of the file turns out to be damaged.
    pub fn count_tokens(&self, messages: &[Message]) -> Result<usize, WriterError> {
        Ok(self.0.template.encode(messages, &self.0.tokenizer)?.len())
    }

    /// Starts an answer of at most `max_tokens` tokens. Nothing is computed yet.
    ///
    /// # Errors
    /// [`WriterError::ContextTooLong`] if prompt and answer together do not fit; [`WriterError::OutOfMemory`].
    pub fn start(&self, messages: &[Message], max_tokens: usize) -> Result<Session, WriterError> {
        let prompt = self.0.template.encode(messages, &self.0.tokenizer)?;
        let limit = self.context_length().saturating_sub(max_tokens);
        if prompt.len() > limit {
            return Err(WriterError::ContextTooLong { tokens: prompt.len(), limit });
        }
        Session::new(Rc::clone(&self.0), prompt, max_tokens)
    }
}
