//! Virtual environments of Python.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::apt;
use crate::{python, shell};

/// The Python of a virtual environment with the packages of a `requirements.txt`. Installs what is missing.
pub(super) fn ensure(name: &str, requirements: &str) -> Result<PathBuf> {
    let can_make_venv =
        shell::output(shell::command("python3").args(["-c", "import ensurepip, venv"])).is_some();
    if !can_make_venv {
        apt::install(&["python3-venv"]).context("Python 3.10 or newer with its module venv is missing")?;
    }
    python::with_packages(name, requirements)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::paths;

    #[test]
    fn the_packages_of_open_webui_are_pinned_by_hash_and_never_compiled() {
        let text =
            fs::read_to_string(paths::repo().join("integrations/open-webui/requirements.txt")).unwrap();
        assert!(text.contains("--only-binary :all:"));
        let packages: Vec<_> = text.split("\n").filter(|line| line.contains("==")).collect();
        assert!(packages.len() > 10 && packages.iter().all(|line| line.ends_with('\\')), "{packages:?}");
    }
}
