//! Which files the vectors come from, and the short name that travels with every vector.

use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use crate::EmbedderError;

/// File name of the weights (float32, safetensors).
pub const MODEL_FILE: &str = "model.safetensors";
/// SHA-256 of the weights of sentence-transformers/all-MiniLM-L6-v2, hex.
pub const MODEL_SHA256: &str = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";
/// File name of the tokenizer.
pub const TOKENIZER_FILE: &str = "tokenizer.json";
/// SHA-256 of the tokenizer, hex.
pub const TOKENIZER_SHA256: &str = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037";

/// Raise when a change to this crate changes the vectors it produces.
const ENGINE_VERSION: &str = "candle-f32-1";

/// Short hash of everything that decides a vector's value: weights, tokenizer, pooling, truncation and engine.
/// Vectors with different fingerprints must not be compared. 16 hex digits.
pub fn fingerprint() -> &'static str {
    static FINGERPRINT: OnceLock<String> = OnceLock::new();
    FINGERPRINT.get_or_init(|| {
        let recipe = format!(
            "weights={MODEL_SHA256};tokenizer={TOKENIZER_SHA256};pooling=mean,l2;max_tokens={};engine={ENGINE_VERSION}",
            crate::MAX_TOKENS
        );
        let mut digest = sha256_hex(recipe.as_bytes());
        digest.truncate(16);
        digest
    })
}

pub(crate) fn verify(file: &'static str, bytes: &[u8], expected: &'static str) -> Result<(), EmbedderError> {
    let actual = sha256_hex(bytes);
    if actual == expected { Ok(()) } else { Err(EmbedderError::WrongFile { file, actual, expected }) }
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
    fn the_fingerprint_changes_only_on_purpose() {
        // Every stored vector carries it: a new value means that every knowledge base is embedded again.
        assert_eq!(fingerprint(), "627a6575bbde6ee0");
    }

    #[test]
    fn a_changed_file_is_refused_and_named() {
        let error = verify(TOKENIZER_FILE, b"{}", TOKENIZER_SHA256).unwrap_err();
        assert!(error.to_string().starts_with("tokenizer.json is not the expected file"), "{error}");
    }
}
