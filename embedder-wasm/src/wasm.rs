//! The entire JavaScript boundary.

#![allow(unreachable_pub, reason = "wasm-bindgen exports pub items, reachable from Rust or not")]

use js_sys::{Error, Float32Array, RangeError, Reflect, Uint8Array, Uint32Array};
use wasm_bindgen::prelude::*;

use crate::gunzip::{Gunzip, GunzipError};
use crate::{Embedder, Embedding, Passage, Reader};

/// Short hash that identifies the model and everything else that determines a vector.
#[wasm_bindgen]
pub fn fingerprint() -> String {
    crate::fingerprint().to_owned()
}

/// The files that this build requires, as JSON:
/// `{ "model": { "source", "sha256", "byteLength", "fingerprint" }, "reader": { … } }`.
#[wasm_bindgen(js_name = requiredFiles)]
pub fn required_files() -> String {
    let file = |source: &str, sha256: &str, bytes: usize, fingerprint: &str| {
        format!(
            r#"{{"source":"{source}","sha256":"{sha256}","byteLength":{bytes},"fingerprint":"{fingerprint}"}}"#
        )
    };
    let model = file(crate::MODEL_FILE, crate::MODEL_SHA256, crate::MODEL_BYTES, crate::fingerprint());
    let reader =
        file(crate::READER_FILE, crate::READER_SHA256, crate::READER_BYTES, crate::reader_fingerprint());
    format!(r#"{{"model":{model},"reader":{reader}}}"#)
}

/// Collects a model file in WebAssembly memory as it arrives, so that JavaScript needs no second
/// copy.
#[wasm_bindgen]
pub struct ModelLoader {
    bytes: Vec<u8>,
    /// Bytes of the whole file.
    length: usize,
    /// The gzip file that the bytes arrive in, if they do.
    gunzip: Option<Gunzip>,
    /// The last chunk of that file. Kept, because each chunk would allocate otherwise.
    compressed: Vec<u8>,
}

#[wasm_bindgen]
impl ModelLoader {
    /// For the model file. Allocates memory for the whole file.
    #[wasm_bindgen(constructor)]
    #[allow(clippy::new_without_default, reason = "JavaScript has no Default")]
    pub fn new() -> Self {
        Self::with_length(crate::MODEL_BYTES)
    }

    /// For the reader's file. Allocates memory for the whole file.
    #[wasm_bindgen(js_name = forReader)]
    pub fn for_reader() -> Self {
        Self::with_length(crate::READER_BYTES)
    }

    fn with_length(length: usize) -> Self {
        Self { bytes: Vec::with_capacity(length), length, gunzip: None, compressed: Vec::new() }
    }

    /// Bytes so far.
    #[wasm_bindgen(getter)]
    pub fn received(&self) -> usize {
        self.bytes.len()
    }

    /// Adds the next bytes.
    ///
    /// # Errors
    /// Throws an `Error` with code `integrity` if the bytes exceed the length of the file.
    pub fn append(&mut self, chunk: &Uint8Array) -> Result<(), JsValue> {
        let (start, length) = (self.bytes.len(), chunk.length() as usize);
        if length > self.length - start {
            return Err(integrity(&format!("the model file is longer than {} bytes", self.length)));
        }
        self.bytes.resize(start + length, 0);
        chunk.copy_to(&mut self.bytes[start..]);
        Ok(())
    }

    /// Adds what the next bytes of a gzip file contain.
    ///
    /// # Errors
    /// Throws an `Error` with code `integrity` if they are damaged, or what they contain exceeds the length of the file.
    #[wasm_bindgen(js_name = appendGzip)]
    pub fn append_gzip(&mut self, chunk: &Uint8Array) -> Result<(), JsValue> {
        let Self { bytes, length, gunzip, compressed } = self;
        compressed.resize(chunk.length() as usize, 0);
        chunk.copy_to(compressed);
        let gunzip = gunzip.get_or_insert_with(Gunzip::new);
        gunzip.append(compressed, bytes, *length).map_err(not_gzip)
    }

    /// The gzip file has ended.
    ///
    /// # Errors
    /// Throws an `Error` with code `integrity` if it is not complete.
    #[wasm_bindgen(js_name = finishGzip)]
    pub fn finish_gzip(&mut self) -> Result<(), JsValue> {
        self.compressed = Vec::new();
        let gunzip = self.gunzip.as_ref().ok_or(GunzipError::Incomplete);
        gunzip.and_then(|gunzip| gunzip.finish(&self.bytes)).map_err(not_gzip)
    }

    /// Discards the bytes so far.
    pub fn reset(&mut self) {
        self.bytes.clear();
        self.gunzip = None;
        self.compressed = Vec::new();
    }

    /// The bytes so far, in WebAssembly memory: valid until the next call into this module.
    #[allow(unsafe_code, reason = "a view of memory that JavaScript must not keep, as documented")]
    pub fn view(&self) -> Uint8Array {
        // SAFETY: the memory is not touched before JavaScript gets the view, and the documentation says when it becomes
        // invalid.
        unsafe { Uint8Array::view(&self.bytes) }
    }

    /// Creates the embedder. `verified`: the caller has compared the SHA-256 of `view()` with that
    /// of `requiredFiles()`. Otherwise it is compared here, which takes longer than
    /// `crypto.subtle`.
    ///
    /// # Errors
    /// Throws an `Error` with code `integrity` if the bytes are not the model file.
    pub fn finish(self, verified: bool) -> Result<WasmEmbedder, JsValue> {
        let bytes = self.into_bytes();
        let embedder = if verified { Embedder::from_trusted(bytes) } else { Embedder::new(bytes) };
        embedder.map(WasmEmbedder).map_err(|error| integrity(&error.to_string()))
    }

    /// Creates the reader, which shares weights with the embedder and may outlive it. `verified`:
    /// as in `finish`.
    ///
    /// # Errors
    /// Throws an `Error` with code `integrity` if the bytes are not the reader's file.
    #[wasm_bindgen(js_name = finishReader)]
    pub fn finish_reader(self, embedder: &WasmEmbedder, verified: bool) -> Result<WasmReader, JsValue> {
        let (embedder, bytes) = (&embedder.0, self.into_bytes());
        let reader =
            if verified { Reader::from_trusted(embedder, bytes) } else { Reader::new(embedder, bytes) };
        reader.map(WasmReader).map_err(|error| integrity(&error.to_string()))
    }

    /// Frees the rest, whose memory the model needs.
    fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// The loaded model, owned by JavaScript; call `free()` when done.
#[wasm_bindgen]
pub struct WasmEmbedder(Embedder);

#[wasm_bindgen]
impl WasmEmbedder {
    /// Embeds texts, in their order.
    #[wasm_bindgen(js_name = embedBatch)]
    pub fn embed_batch(&mut self, texts: Vec<String>) -> WasmEmbeddings {
        WasmEmbeddings(self.0.embed_batch(&texts))
    }

    /// Tokens of the whole text before truncation, including the two that mark its ends. Much
    /// faster than `embed`.
    #[wasm_bindgen(js_name = countTokens)]
    pub fn count_tokens(&self, text: &str) -> usize {
        self.0.count_tokens(text)
    }

    /// Token ids that the model reads for this text.
    #[wasm_bindgen(js_name = tokenIds)]
    pub fn token_ids(&self, text: &str) -> Vec<u32> {
        self.0.token_ids(text)
    }
}

/// The embeddings of several texts.
#[wasm_bindgen]
pub struct WasmEmbeddings(Vec<Embedding>);

#[wasm_bindgen]
impl WasmEmbeddings {
    /// 384 floats of unit length per text, concatenated.
    #[wasm_bindgen(getter)]
    pub fn vectors(&self) -> Float32Array {
        let vectors: Vec<f32> = self.0.iter().flat_map(|embedding| &embedding.vector).copied().collect();
        Float32Array::from(vectors.as_slice())
    }

    /// Tokens of each text before truncation.
    #[wasm_bindgen(getter)]
    pub fn tokens(&self) -> Uint32Array {
        let tokens: Vec<u32> = self.0.iter().map(|embedding| embedding.tokens as u32).collect();
        Uint32Array::from(tokens.as_slice())
    }

    /// For each text 1 if its end was not read, else 0.
    #[wasm_bindgen(getter)]
    pub fn truncated(&self) -> Uint8Array {
        let truncated: Vec<u8> = self.0.iter().map(|embedding| embedding.truncated.into()).collect();
        Uint8Array::from(truncated.as_slice())
    }
}

/// The loaded reader, owned by JavaScript; call `free()` when done.
#[wasm_bindgen]
pub struct WasmReader(Reader);

#[wasm_bindgen]
impl WasmReader {
    /// Reads passages together. `statements`: those of all passages, concatenated; `counts`: how
    /// many each passage has. Returns the z of each statement, in their order; NaN for a statement
    /// that did not fit into its input.
    ///
    /// # Errors
    /// Throws a `RangeError` unless there is a count for each heading and their sum is the number of statements.
    #[wasm_bindgen(js_name = readPassages)]
    pub fn read_passages(
        &mut self,
        question: &str,
        headings: Vec<String>,
        statements: Vec<String>,
        counts: &[u32],
    ) -> Result<Float32Array, JsValue> {
        let mut rest = statements.as_slice();
        let mut passages = Vec::with_capacity(headings.len());
        for (heading, count) in headings.iter().zip(counts) {
            let (statements, later) =
                rest.split_at_checked(*count as usize).ok_or_else(|| wrong_counts(&statements))?;
            passages.push(Passage { heading, statements });
            rest = later;
        }
        if headings.len() != counts.len() || !rest.is_empty() {
            return Err(wrong_counts(&statements));
        }
        let z: Vec<f32> = self
            .0
            .read_batch(question, &passages)
            .into_iter()
            .flatten()
            .map(|z| z.unwrap_or(f32::NAN))
            .collect();
        Ok(Float32Array::from(z.as_slice()))
    }
}

fn wrong_counts(statements: &[String]) -> JsValue {
    let message = format!("the counts of the passages do not add up to {} statements", statements.len());
    RangeError::new(&message).into()
}

fn not_gzip(error: GunzipError) -> JsValue {
    integrity(&error.to_string())
}

fn integrity(message: &str) -> JsValue {
    let error = Error::new(message);
    // Setting a property of a new ordinary object cannot fail.
    let _ = Reflect::set(&error, &"code".into(), &"integrity".into());
    error.into()
}
