//! The model: fetches and verifies the float32 weights and the tokenizer, and makes the embedder's model file from them.
//!
//! All files are in one folder: the cache, or `EVIDENCE_MODEL_DIR`. That folder needs only the model file, except for the
//! tests that compare the embedder with the float32 model.

mod convert;
mod fetch;

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::sha256;
use crate::paths;
pub use convert::MODEL_FILE;
pub use fetch::{MODEL_NAME, MODEL_REVISION};

/// Fetches the sources of the model file, unless `EVIDENCE_MODEL_DIR` names a folder. Returns the folder.
pub(super) fn download() -> Result<PathBuf> {
    if let Some(dir) = env::var_os("EVIDENCE_MODEL_DIR") {
        // Absolute, because the programs that use it run in the root of the repository.
        return Ok(std::path::absolute(dir)?);
    }
    let dir = paths::cache()?.join("models/all-MiniLM-L6-v2");
    fetch::ensure(&dir)?;
    Ok(dir)
}

/// Returns the folder with the verified files. `build` builds the program that makes the model file, if it has to be made.
pub(super) fn ensure(build: impl FnOnce() -> Result<()>) -> Result<PathBuf> {
    if env::var_os("EVIDENCE_MODEL_DIR").is_some() {
        let dir = download()?;
        if !convert::is_done(&dir)? {
            fetch::verify_all(&dir).with_context(|| {
                format!(
                    "EVIDENCE_MODEL_DIR must contain {} or the files of sentence-transformers/all-MiniLM-L6-v2",
                    convert::MODEL_FILE
                )
            })?;
            build()?;
            convert::run(&dir).context("EVIDENCE_MODEL_DIR contains only the float32 model")?;
        }
        return Ok(dir);
    }
    let dir = download()?;
    if !convert::is_done(&dir)? {
        build()?;
        convert::run(&dir)?;
    }
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_embedder_looks_for_the_model_where_setup_puts_it() {
        let files = fs::read_to_string(paths::repo().join("embedder-wasm/src/files.rs")).unwrap();
        assert!(files.contains("cache.join(\"evidence-chat/models/all-MiniLM-L6-v2\")"));
    }
}
