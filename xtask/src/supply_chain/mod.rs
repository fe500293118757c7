//! Third-party crates and npm packages: the lints check them, `cargo xtask sbom` lists them.

mod crates;
mod npm;
pub(crate) mod sbom;

use std::path::Path;

use anyhow::Result;

/// Fails if a crate or an npm package violates the rules of this repository.
pub(crate) fn check(cargo_deny: &Path) -> Result<()> {
    crates::check(cargo_deny)?;
    npm::check()
}
