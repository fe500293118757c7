//! The checks of a written answer for JavaScript: a model's text in, supported sentences with citations out.
//!
//! `chat-core` does the work; this crate reads and writes JSON and is compiled to WebAssembly. It has no model, so that it stays
//! small for browsers that bring their own.

#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)
)]

#[cfg(test)]
mod tests;
#[cfg(target_arch = "wasm32")]
mod wasm;

use chat_core::answer::{Answer, Citation};
use chat_core::generate::{Ending, Fallback, Generation, GenerationReport};
use serde::{Deserialize, Serialize};

/// Bytes of the JSON that a verification starts with. The sources of an answer have a few tens of thousands.
const MAX_INPUT_BYTES: usize = 4 << 20;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifierError {
    /// The caller passed something else than documented.
    #[error("invalid input: {0}")]
    InvalidInput(String),
    /// The verification has ended with [`Verification::finish`].
    #[error("this verification is finished")]
    Finished,
}

impl VerifierError {
    /// The stable name of the kind of error, for JavaScript.
    pub fn code(&self) -> &'static str {
        "invalid_input"
    }
}

/// What an answer is written from.
#[derive(Debug, Deserialize)]
struct Input {
    question: String,
    /// The citations of the extractive answer.
    citations: Vec<Citation>,
    #[serde(default)]
    hedged: bool,
    /// The name of the model, for the report.
    model: String,
}

/// What was written.
#[derive(Debug, Serialize)]
struct Output {
    /// Missing if no sentence can be shown; then the report says why.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Written>,
    generation: GenerationReport,
}

#[derive(Debug, Serialize)]
struct Written {
    deltas: Vec<String>,
    hedged: bool,
    citations: Vec<Citation>,
    referenced_indices: Vec<u32>,
}

/// The check of one answer while a model writes it.
#[derive(Debug)]
pub struct Verification(Option<Generation>);

impl Verification {
    /// Starts from JSON: `{question, citations, hedged, model}`, with the citations of the extractive answer.
    ///
    /// # Errors
    /// [`VerifierError::InvalidInput`].
    pub fn new(input: &str) -> Result<Self, VerifierError> {
        if input.len() > MAX_INPUT_BYTES {
            return Err(VerifierError::InvalidInput(format!("more than {MAX_INPUT_BYTES} bytes")));
        }
        let input: Input = serde_json::from_str(input).map_err(invalid)?;
        let Input { question, citations, hedged, model } = input;
        Ok(Self(Some(Generation::from_citations(&question, &citations, hedged, &model))))
    }

    /// The messages for the model, as JSON: `[{role, content}]`. `tag` is random: 8 letters or digits. `share`, from 0 to 1,
    /// shortens the sources.
    ///
    /// # Errors
    /// [`VerifierError::InvalidInput`] if the tag could be guessed or would not fence the sources.
    pub fn messages(&self, tag: &str, share: f64) -> Result<String, VerifierError> {
        let is_tag = tag.len() == chat_core::generate::TAG_CHARS
            && tag.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_tag {
            let problem = format!("a tag has {} letters or digits", chat_core::generate::TAG_CHARS);
            return Err(VerifierError::InvalidInput(problem));
        }
        serde_json::to_string(&self.generation()?.messages(tag, share)).map_err(invalid)
    }

    /// Takes a piece of the model's output. Returns the pieces of the answer that it completes, with markers.
    ///
    /// # Errors
    /// [`VerifierError::Finished`].
    pub fn push(&mut self, output: &str) -> Result<Vec<String>, VerifierError> {
        Ok(self.generation_mut()?.push(output))
    }

    /// Whether further output would be ignored.
    pub fn is_done(&self) -> bool {
        self.0.as_ref().is_none_or(Generation::is_done)
    }

    /// Ends the output; `is_whole` unless it was cut off. Returns the last pieces of the answer.
    ///
    /// # Errors
    /// [`VerifierError::Finished`].
    pub fn end(&mut self, is_whole: bool) -> Result<Vec<String>, VerifierError> {
        Ok(self.generation_mut()?.end(if is_whole { Ending::Whole } else { Ending::Cut }))
    }

    /// Records what the model counted.
    pub fn set_usage(&mut self, prompt_tokens: Option<u64>, completion_tokens: Option<u64>) {
        if let Some(generation) = &mut self.0 {
            generation.set_usage(prompt_tokens, completion_tokens);
        }
    }

    /// The written answer and how it was written, as JSON: `{answer?, generation}`. `fault` is `timeout` or `error` if something
    /// went wrong with the model.
    ///
    /// # Errors
    /// [`VerifierError::Finished`] if called twice; [`VerifierError::InvalidInput`] for another fault.
    pub fn finish(&mut self, fault: Option<&str>) -> Result<String, VerifierError> {
        let fault = match fault {
            None => None,
            Some("timeout") => Some(Fallback::Timeout),
            Some("error") => Some(Fallback::Error),
            Some(_) => return Err(VerifierError::InvalidInput("a fault is timeout or error".to_owned())),
        };
        let (answer, generation) = self.0.take().ok_or(VerifierError::Finished)?.finish(fault);
        let answer = answer.map(|Answer { deltas, hedged, citations, referenced_indices, .. }| Written {
            deltas,
            hedged,
            citations,
            referenced_indices,
        });
        serde_json::to_string(&Output { answer, generation }).map_err(invalid)
    }

    fn generation(&self) -> Result<&Generation, VerifierError> {
        self.0.as_ref().ok_or(VerifierError::Finished)
    }

    fn generation_mut(&mut self) -> Result<&mut Generation, VerifierError> {
        self.0.as_mut().ok_or(VerifierError::Finished)
    }
}

fn invalid(error: serde_json::Error) -> VerifierError {
    VerifierError::InvalidInput(error.to_string())
}
