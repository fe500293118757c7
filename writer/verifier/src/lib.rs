//! The checks of a written answer for JavaScript: a model's text in, supported sentences with citations out.
//!
//! `chat-core` does the work; this crate reads and writes JSON and is compiled to WebAssembly.

#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)
)]

#[cfg(test)]
mod tests;

use chat_core::answer::{Answer, Citation};
use chat_core::generate::{Ending, Fallback, Generation};
use serde_json::json;
use wasm_bindgen::prelude::*;

/// The check of one answer while a model writes it. Errors are sentences.
#[wasm_bindgen]
pub struct Verification(Generation);

#[wasm_bindgen]
impl Verification {
    /// `citations`: those of the extractive answer, as JSON. `model`: its name, for the report.
    ///
    /// # Errors
    /// If the citations have another form.
    #[wasm_bindgen(constructor)]
    pub fn new(question: &str, citations: &str, hedged: bool, model: &str) -> Result<Self, String> {
        let citations: Vec<Citation> =
            serde_json::from_str(citations).map_err(|error| format!("invalid citations: {error}"))?;
        Ok(Self(Generation::from_citations(question, &citations, hedged, model)))
    }

    /// The messages for the model, as JSON: `[{role, content}]`. `tag` is random: 8 letters or digits. `share`, from 0 to 1,
    /// shortens the sources.
    pub fn messages(&self, tag: &str, share: f64) -> String {
        json!(self.0.messages(tag, share)).to_string()
    }

    /// Takes a piece of the model's output. Returns whether further output would be ignored.
    pub fn push(&mut self, output: &str) -> bool {
        self.0.push(output);
        self.0.is_done()
    }

    /// The written answer and how it was written, as JSON: `{answer, generation}`; the answer is `null` if no sentence can be shown. `ending` is `whole`, or `cut` if the output
    /// ended in a sentence, or the fault of the model: `timeout` or `error`. The tokens are those that the model counted.
    ///
    /// # Errors
    /// For another ending.
    pub fn finish(
        mut self,
        ending: &str,
        #[wasm_bindgen(js_name = promptTokens)] prompt_tokens: Option<u32>,
        #[wasm_bindgen(js_name = completionTokens)] completion_tokens: Option<u32>,
    ) -> Result<String, String> {
        let fault = match ending {
            "whole" | "cut" => {
                self.0.end(if ending == "whole" { Ending::Whole } else { Ending::Cut });
                None
            }
            "timeout" => Some(Fallback::Timeout),
            "error" => Some(Fallback::Error),
            _ => return Err(format!("an answer cannot end with {ending}")),
        };
        self.0.set_usage(prompt_tokens.map(u64::from), completion_tokens.map(u64::from));
        let (answer, generation) = self.0.finish(fault);
        let answer = answer.map(|Answer { deltas, hedged, citations, referenced_indices, .. }| {
            json!({ "deltas": deltas, "hedged": hedged, "citations": citations, "referenced_indices": referenced_indices })
        });
        Ok(json!({ "answer": answer, "generation": generation }).to_string())
    }
}
