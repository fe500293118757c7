//! The embedder's model file, which the package `quantize` makes from the float32 weights: the same bytes on every machine.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::{TOKENIZER, WEIGHTS, sha256};
use crate::{paths, shell};

/// The file that the `embedder` crate accepts; its `files.rs` has the same name and checksum.
pub const MODEL_FILE: &str = "all-MiniLM-L6-v2-int8.safetensors";
const MODEL_SHA256: &str = "98f504125eda93b9d559bb8d5eae09cd536fb0ebad2ef49eca17abcf6a14fd8d";

/// The program of the package `quantize`.
const PROGRAM: &str = "quantize-model";

/// Whether the folder contains the model file. A file with other contents is reported and left in place.
pub(super) fn is_done(dir: &Path) -> Result<bool> {
    let path = dir.join(MODEL_FILE);
    match sha256(&path) {
        Ok(actual) if actual == MODEL_SHA256 => Ok(true),
        Ok(actual) => {
            say!("  {} is another version (SHA-256 {actual}, expected {MODEL_SHA256})", path.display());
            Ok(false)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Makes the model file from the verified float32 files in the folder, with the program that was built. Moves it into place when it is complete and verified.
pub(super) fn run(dir: &Path) -> Result<()> {
    let staging = dir.join(format!("{MODEL_FILE}.{}", std::process::id()));
    fs::File::create(&staging).with_context(|| {
        format!(
            "{MODEL_FILE} cannot be made in {}: make the folder writable, or copy the file there",
            dir.display()
        )
    })?;
    let result = convert(dir, &staging).and_then(|()| {
        fs::rename(&staging, dir.join(MODEL_FILE)).with_context(|| format!("cannot replace {MODEL_FILE}"))
    });
    if staging.exists() {
        fs::remove_file(&staging)?;
    }
    result
}

fn convert(dir: &Path, staging: &Path) -> Result<()> {
    say!("  making {MODEL_FILE}");
    let started = Instant::now();
    shell::run(
        shell::command(paths::cargo_target().join("debug").join(PROGRAM))
            .arg("embedder")
            .args([dir.join(WEIGHTS.name), dir.join(TOKENIZER.name)])
            .arg(staging),
    )?;
    let (actual, length) = (sha256(staging)?, fs::metadata(staging)?.len());
    if actual != MODEL_SHA256 {
        bail!(
            "the conversion produced SHA-256 {actual} ({length} bytes), expected {MODEL_SHA256}: embedder-wasm/quantize \
             was changed, and the checksums in {} and embedder-wasm/src/files.rs were not",
            file!()
        );
    }
    say!("  {:.1} MB in {:.0} s", length as f64 / 1e6, started.elapsed().as_secs_f64());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::path::PathBuf;

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let dir = env::temp_dir().join(format!("evidence-chat-convert-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    #[test]
    fn the_embedder_accepts_the_file_that_setup_makes() {
        let embedder = fs::read_to_string(paths::repo().join("embedder-wasm/src/files.rs")).unwrap();
        assert!(embedder.contains(MODEL_FILE) && embedder.contains(MODEL_SHA256));
    }

    #[test]
    fn a_missing_model_file_and_another_version_count_as_not_done() {
        let dir = folder("state");
        assert!(!is_done(&dir).unwrap());
        fs::write(dir.join(MODEL_FILE), "an older one").unwrap();
        assert!(!is_done(&dir).unwrap());
        assert_eq!(fs::read(dir.join(MODEL_FILE)).unwrap(), b"an older one");
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn the_error_for_a_read_only_folder_names_it_and_the_remedy() {
        let dir = folder("missing").join("not-there");
        let error = format!("{:#}", run(&dir).unwrap_err());
        assert!(error.contains("make the folder writable") && error.contains("not-there"), "{error}");
        fs::remove_dir_all(folder("missing")).unwrap();
    }
}
