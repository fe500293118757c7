//! Virtual environments of Python, for measurements that compare with Python packages.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use xtask::{paths, shell};

/// Returns the Python of a virtual environment in the cache folder. Installs the packages of a `requirements.txt` of this
/// repository unless exactly these versions are installed.
pub(super) fn with_packages(name: &str, requirements: &str) -> Result<PathBuf> {
    let venv = paths::cache()?.join(name);
    let python = venv.join("bin/python");
    let wanted =
        fs::read(paths::repo().join(requirements)).with_context(|| format!("cannot read {requirements}"))?;
    let stamp = venv.join("requirements.txt");
    if !fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        println!("  installing the Python packages of {requirements}");
        shell::run(shell::command("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
        shell::run(
            shell::command(&python)
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
                .arg(requirements),
        )
        .context("check the network and the Python package index setting, then run it again")?;
        fs::write(stamp, wanted)?;
    }
    Ok(python)
}
