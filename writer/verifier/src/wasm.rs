//! The entire JavaScript boundary.

#![allow(unreachable_pub, reason = "wasm-bindgen exports pub items, reachable from Rust or not")]

use js_sys::{Error, Reflect};
use wasm_bindgen::prelude::*;

use crate::VerifierError;

/// The check of one answer while a model writes it; call `free()` when done.
#[wasm_bindgen]
pub struct Verification(crate::Verification);

#[wasm_bindgen]
impl Verification {
    /// Starts from JSON: `{question, citations, hedged, model}`, with the citations of the extractive answer.
    ///
    /// # Errors
    /// Every method that throws does so with an `Error` with the code `invalid_input`.
    #[wasm_bindgen(constructor)]
    pub fn new(input: &str) -> Result<Self, JsValue> {
        crate::Verification::new(input).map(Self).map_err(throw)
    }

    /// The messages for the model, as JSON: `[{role, content}]`. `tag` is random: 8 letters or digits. `share`, from 0 to 1,
    /// shortens the sources.
    ///
    /// # Errors
    /// If the tag has another form, or the verification is finished.
    pub fn messages(&self, tag: &str, share: f64) -> Result<String, JsValue> {
        self.0.messages(tag, share).map_err(throw)
    }

    /// Takes a piece of the model's output. Returns the pieces of the answer that it completes, with markers.
    ///
    /// # Errors
    /// If the verification is finished.
    pub fn push(&mut self, output: &str) -> Result<Vec<String>, JsValue> {
        self.0.push(output).map_err(throw)
    }

    /// Whether further output would be ignored.
    #[wasm_bindgen(js_name = isDone)]
    pub fn is_done(&self) -> bool {
        self.0.is_done()
    }

    /// Ends the output; `isWhole` unless it was cut off. Returns the last pieces of the answer.
    ///
    /// # Errors
    /// If the verification is finished.
    pub fn end(&mut self, #[wasm_bindgen(js_name = isWhole)] is_whole: bool) -> Result<Vec<String>, JsValue> {
        self.0.end(is_whole).map_err(throw)
    }

    /// Records what the model counted, where it did.
    #[wasm_bindgen(js_name = setUsage)]
    pub fn set_usage(
        &mut self,
        #[wasm_bindgen(js_name = promptTokens)] prompt_tokens: Option<f64>,
        #[wasm_bindgen(js_name = completionTokens)] completion_tokens: Option<f64>,
    ) {
        // The conversion saturates.
        self.0.set_usage(
            prompt_tokens.map(|tokens| tokens as u64),
            completion_tokens.map(|tokens| tokens as u64),
        );
    }

    /// The written answer and how it was written, as JSON: `{answer?, generation}`. `fault` is `"timeout"` or `"error"` if
    /// something went wrong with the model.
    ///
    /// # Errors
    /// If the verification is finished, or for another fault.
    pub fn finish(&mut self, fault: Option<String>) -> Result<String, JsValue> {
        self.0.finish(fault.as_deref()).map_err(throw)
    }
}

fn throw(error: VerifierError) -> JsValue {
    let thrown = Error::new(&error.to_string());
    // Setting a property of a new ordinary object cannot fail.
    let _ = Reflect::set(&thrown, &"code".into(), &error.code().into());
    thrown.into()
}
