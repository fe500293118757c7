//! Python packages: virtual environments in the cache folder, and files from wheels.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{paths, shell};

/// What to do when pip cannot install or download something.
const REMEDY: &str = "check the network and the Python package index setting, then run it again";

/// Returns the Python of a virtual environment in the cache folder. Installs the packages of a `requirements.txt` of this
/// repository unless exactly these are installed. pip checks the hashes of a file that has them.
pub fn with_packages(name: &str, requirements: &str) -> Result<PathBuf> {
    let venv = paths::cache()?.join(name);
    let python = venv.join("bin/python");
    let wanted =
        fs::read(paths::repo().join(requirements)).with_context(|| format!("cannot read {requirements}"))?;
    if !is_installed(&venv, &wanted) {
        say!("  installing the Python packages of {requirements}");
        shell::run(shell::command("python3").args(["-m", "venv", "--clear"]).arg(&venv))
            .context("this needs Python 3.10 or newer with its module venv (on Debian: python3-venv)")?;
        shell::run(
            shell::command(&python)
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
                .arg(requirements),
        )
        .context(REMEDY)?;
        fs::write(stamp(&venv), wanted)?;
    }
    Ok(python)
}

/// The Python of that virtual environment, if exactly the packages of this `requirements.txt` are installed in it.
pub fn find_with_packages(name: &str, requirements: &str) -> Result<Option<PathBuf>> {
    let venv = paths::cache()?.join(name);
    let wanted =
        fs::read(paths::repo().join(requirements)).with_context(|| format!("cannot read {requirements}"))?;
    Ok(is_installed(&venv, &wanted).then(|| venv.join("bin/python")))
}

/// The file that is written last, so that an interrupted installation is repeated.
fn stamp(venv: &Path) -> PathBuf {
    venv.join("requirements.txt")
}

fn is_installed(venv: &Path, wanted: &[u8]) -> bool {
    fs::read(stamp(venv)).is_ok_and(|installed| installed == wanted)
}

/// Downloads a wheel, which arguments of `pip download` name, and unpacks it into a new folder.
pub fn unpack_wheel(wheel: &[&str], folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    shell::run(
        shell::command("python3")
            .args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:"])
            .args(["--disable-pip-version-check", "--quiet", "--progress-bar", "on", "--dest"])
            .arg(folder)
            .args(wheel),
    )
    .context(REMEDY)?;
    let wheel = fs::read_dir(folder)?.next().context("pip left no file")??.path();
    shell::run(shell::command("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(folder))?;
    fs::remove_file(wheel)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_counts_as_installed_only_for_the_requirements_it_was_made_from() {
        let venv = std::env::temp_dir().join(format!("evidence-chat-venv-{}", std::process::id()));
        fs::create_dir_all(&venv).unwrap();
        assert!(!is_installed(&venv, b"package==1"), "an interrupted installation");
        fs::write(stamp(&venv), "package==1").unwrap();
        assert!(is_installed(&venv, b"package==1"));
        assert!(!is_installed(&venv, b"package==2"));
        fs::remove_dir_all(venv).unwrap();
    }
}
