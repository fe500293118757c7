//! The identities of the model file and of the reader's file, and the fingerprints of what they compute.

use std::sync::OnceLock;
#[cfg(not(target_arch = "wasm32"))]
use std::{env, path::PathBuf};

use sha2::{Digest, Sha256};

use crate::EmbedderError;

/// Name of the model file: quantised weights and vocabulary, made by `cargo xtask setup model`.
pub const MODEL_FILE: &str = "all-MiniLM-L6-v2-int8.safetensors";
/// SHA-256 of the model file, hex.
pub const MODEL_SHA256: &str = "98f504125eda93b9d559bb8d5eae09cd536fb0ebad2ef49eca17abcf6a14fd8d";
/// Length of the model file in bytes.
pub const MODEL_BYTES: usize = 23_341_453;

/// Name of the reader's file: quantised weights, made by `training/reader/publish.sh`, which also sets the next two lines.
pub const READER_FILE: &str = "reader-int8.safetensors";
/// SHA-256 of the reader's file, hex.
pub const READER_SHA256: &str = "7dcdcdd76971e53f277fed6a9fc6706f41db59931d18f9548420bc1a1b9195c4";
/// Length of the reader's file in bytes.
pub const READER_BYTES: usize = 7_254_936;

/// Change it with every change to this crate that changes the vectors.
const ENGINE_VERSION: &str = "integer-1";
/// Change it with every change to this crate that changes what the reader reads of a passage, or its scores.
const PACKING_VERSION: &str = "marked-1";

/// Short hash of everything that determines a vector: weights, tokenizer, pooling, truncation and engine. 16 hex digits.
/// Vectors with different fingerprints must not be compared.
pub fn fingerprint() -> &'static str {
    static FINGERPRINT: OnceLock<String> = OnceLock::new();
    FINGERPRINT.get_or_init(|| {
        short_hash(&format!(
            "model={MODEL_SHA256};pooling=mean,l2;max_tokens={};engine={ENGINE_VERSION}",
            crate::MAX_TOKENS
        ))
    })
}

/// Short hash of everything that determines a reader's score: its weights, the embedder's and how a passage is packed. 16 hex
/// digits.
pub fn reader_fingerprint() -> &'static str {
    static FINGERPRINT: OnceLock<String> = OnceLock::new();
    FINGERPRINT.get_or_init(|| {
        short_hash(&format!("reader={READER_SHA256};packing={PACKING_VERSION};embedder={}", fingerprint()))
    })
}

fn short_hash(recipe: &str) -> String {
    let mut digest = sha256_hex(recipe.as_bytes());
    digest.truncate(16);
    digest
}

/// The folder where `cargo xtask setup` puts the model: `evidence-chat/models/all-MiniLM-L6-v2` in the user's cache.
#[cfg(not(target_arch = "wasm32"))]
pub fn default_model_dir() -> PathBuf {
    let cache = match env::var_os("XDG_CACHE_HOME") {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(env::var_os("HOME").unwrap_or_default()).join(".cache"),
    };
    cache.join("evidence-chat/models/all-MiniLM-L6-v2")
}

/// The folder that `EVIDENCE_MODEL_DIR` names, or [`default_model_dir`]. Tests of all crates look for the model there.
#[cfg(not(target_arch = "wasm32"))]
pub fn model_dir() -> PathBuf {
    env::var_os("EVIDENCE_MODEL_DIR").map_or_else(default_model_dir, PathBuf::from)
}

/// Rejects anything but the model file.
pub(crate) fn verify(bytes: &[u8]) -> Result<(), EmbedderError> {
    verify_as(MODEL_FILE, MODEL_SHA256, bytes)
}

/// Rejects anything but the reader's file.
pub(crate) fn verify_reader(bytes: &[u8]) -> Result<(), EmbedderError> {
    verify_as(READER_FILE, READER_SHA256, bytes)
}

fn verify_as(file: &'static str, expected: &'static str, bytes: &[u8]) -> Result<(), EmbedderError> {
    let actual = sha256_hex(bytes);
    if actual == expected { Ok(()) } else { Err(EmbedderError::WrongFile { file, expected, actual }) }
}

fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha256_is_written_as_lower_case_hex() {
        // FIPS 180-2, appendix B.1
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn the_fingerprint_does_not_change_by_accident() {
        // Every stored vector carries it: a new value means that every knowledge base is embedded again.
        assert_eq!(fingerprint(), "baf653f71b653e07");
    }

    #[test]
    fn another_file_is_rejected_and_the_error_names_the_right_one() {
        let error = verify(b"{}").unwrap_err();
        assert!(error.to_string().starts_with("this is not all-MiniLM-L6-v2-int8.safetensors"), "{error}");
        let error = verify_reader(b"{}").unwrap_err();
        assert!(error.to_string().starts_with("this is not reader-int8.safetensors"), "{error}");
    }
}
