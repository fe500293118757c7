//! The whole JavaScript boundary.

#![allow(unreachable_pub, reason = "wasm-bindgen exports what is pub, whatever Rust can reach")]

use wasm_bindgen::prelude::*;

use crate::{Embedder, EmbedderError, Embedding};

/// The loaded model, owned by JavaScript; call `free()` when done.
#[wasm_bindgen]
pub struct WasmEmbedder(Embedder);

#[wasm_bindgen]
impl WasmEmbedder {
    /// Loads the model from the bytes of `model.safetensors` and `tokenizer.json`.
    ///
    /// # Errors
    /// Throws an `Error` if a file is not the expected one.
    #[wasm_bindgen(constructor)]
    pub fn new(model: Vec<u8>, tokenizer: &[u8]) -> Result<WasmEmbedder, JsError> {
        Ok(Self(Embedder::new(model, tokenizer).map_err(to_js)?))
    }

    /// Embeds one text.
    ///
    /// # Errors
    /// Throws an `Error` if the forward pass fails.
    pub fn embed(&self, text: &str) -> Result<WasmEmbedding, JsError> {
        Ok(WasmEmbedding(self.0.embed(text).map_err(to_js)?))
    }

    /// Token ids the model reads for this text.
    #[wasm_bindgen(js_name = tokenIds)]
    pub fn token_ids(&self, text: &str) -> Vec<u32> {
        self.0.token_ids(text)
    }
}

/// One embedded text.
#[wasm_bindgen]
pub struct WasmEmbedding(Embedding);

#[wasm_bindgen]
impl WasmEmbedding {
    /// 384 floats of unit length, copied out of WebAssembly memory.
    #[wasm_bindgen(getter)]
    pub fn vector(&self) -> js_sys::Float32Array {
        js_sys::Float32Array::from(self.0.vector.as_slice())
    }

    /// Tokens of the whole text before truncation.
    #[wasm_bindgen(getter, js_name = tokenCount)]
    pub fn token_count(&self) -> usize {
        self.0.token_count
    }

    /// True if the end of the text was not read.
    #[wasm_bindgen(getter)]
    pub fn truncated(&self) -> bool {
        self.0.truncated
    }
}

/// Short hash that identifies the model and everything else that decides a vector's value.
#[wasm_bindgen]
pub fn fingerprint() -> String {
    crate::fingerprint().to_owned()
}

fn to_js(error: EmbedderError) -> JsError {
    JsError::new(&error.to_string())
}
