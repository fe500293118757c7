//! The entire JavaScript boundary.

#![allow(unreachable_pub, reason = "wasm-bindgen exports pub items, reachable from Rust or not")]

use js_sys::{Error, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::{Ending, Message, WriterError};

/// Takes a GGUF file while it is downloaded, so that it is never in memory as a whole.
#[wasm_bindgen]
pub struct Loader {
    loader: crate::Loader,
    chunk: Vec<u8>,
}

#[wasm_bindgen]
impl Loader {
    /// Takes the next bytes of the file.
    ///
    /// # Errors
    /// Throws an `Error` with the code `invalid_model` or `out_of_memory`.
    pub fn push(&mut self, bytes: &Uint8Array) -> Result<(), JsValue> {
        // In parts, so that JavaScript may pass the whole file without a second copy of it here.
        const PART: u32 = 1 << 20;
        let mut start = 0;
        while start < bytes.length() {
            let part = bytes.subarray(start, bytes.length().min(start.saturating_add(PART)));
            self.chunk.resize(part.length() as usize, 0);
            part.copy_to(&mut self.chunk);
            self.loader.push(&self.chunk).map_err(throw)?;
            start += part.length();
        }
        Ok(())
    }

    /// Returns the model when all bytes of the file were taken.
    ///
    /// # Errors
    /// Throws an `Error` with the code `invalid_model` or `out_of_memory`.
    pub fn finish(self) -> Result<Model, JsValue> {
        self.loader.finish().map(Model).map_err(throw)
    }
}

/// A loaded model, owned by JavaScript; call `free()` when done.
#[wasm_bindgen]
pub struct Model(crate::Model);

#[wasm_bindgen]
impl Model {
    /// Prepares to load a file of this length.
    pub fn loader(#[wasm_bindgen(js_name = byteLength)] byte_length: f64) -> Loader {
        // The conversion saturates: a length that is not a number is treated as zero.
        Loader { loader: crate::Loader::new(byte_length as u64), chunk: Vec::new() }
    }

    /// Tokens that fit in a prompt and its answer together.
    #[wasm_bindgen(js_name = contextLength)]
    pub fn context_length(&self) -> usize {
        self.0.context_length()
    }

    /// Tokens of a chat, with those of the chat template. `messages` is JSON: `[{role, content}]`.
    ///
    /// # Errors
    /// Throws an `Error` with the code `invalid_input`.
    #[wasm_bindgen(js_name = countTokens)]
    pub fn count_tokens(&self, messages: &str) -> Result<usize, JsValue> {
        parse(messages).and_then(|messages| self.0.count_tokens(&messages)).map_err(throw)
    }

    /// Starts an answer. `messages` is JSON: `[{role, content}]`.
    ///
    /// # Errors
    /// Throws an `Error` with the code `invalid_input`, `out_of_memory`, or `context_too_long` and the properties `tokens` and
    /// `limit`.
    pub fn start(
        &self,
        messages: &str,
        #[wasm_bindgen(js_name = maxTokens)] max_tokens: usize,
    ) -> Result<Session, JsValue> {
        parse(messages).and_then(|messages| self.0.start(&messages, max_tokens)).map(Session).map_err(throw)
    }
}

/// An answer that is being written; call `free()` when done.
#[wasm_bindgen]
pub struct Session(crate::Session);

#[wasm_bindgen]
impl Session {
    /// Tokens of the prompt.
    #[wasm_bindgen(js_name = promptTokens)]
    pub fn prompt_tokens(&self) -> usize {
        self.0.prompt_tokens()
    }

    /// Reads the next part of the prompt, at most 32 tokens. Returns whether the prompt is read.
    #[wasm_bindgen(js_name = readPrompt)]
    pub fn read_prompt(&mut self) -> bool {
        self.0.read_prompt()
    }

    /// The next piece of text, empty while a character is incomplete; `undefined` after the last one.
    #[allow(clippy::should_implement_trait, reason = "the name in JavaScript")]
    pub fn next(&mut self) -> Option<String> {
        self.0.next()
    }

    /// Tokens of the answer so far.
    #[wasm_bindgen(js_name = completionTokens)]
    pub fn completion_tokens(&self) -> usize {
        self.0.completion_tokens()
    }

    /// `"stop"` if the model ended the answer, `"length"` if it has as many tokens as were asked for; `undefined` before.
    #[wasm_bindgen(js_name = endedBecause)]
    pub fn ended_because(&self) -> Option<String> {
        self.0.ended_because().map(|ending| match ending {
            Ending::Stop => "stop".to_owned(),
            Ending::Length => "length".to_owned(),
        })
    }
}

fn parse(messages: &str) -> Result<Vec<Message>, WriterError> {
    serde_json::from_str(messages).map_err(|error| WriterError::InvalidInput(error.to_string()))
}

fn throw(error: WriterError) -> JsValue {
    let thrown = Error::new(&error.to_string());
    // Setting a property of a new ordinary object cannot fail.
    let set = |key: &str, value: JsValue| {
        let _ = Reflect::set(&thrown, &key.into(), &value);
    };
    set("code", error.code().into());
    if let WriterError::ContextTooLong { tokens, limit } = error {
        set("tokens", (tokens as f64).into());
        set("limit", (limit as f64).into());
    }
    thrown.into()
}
