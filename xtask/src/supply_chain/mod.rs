//! Third-party crates and npm packages: the lints check them, `cargo xtask package` lists them.

mod crates;
mod licence;
mod npm;
pub(crate) mod sbom;

use std::path::Path;

use anyhow::{Result, ensure};

/// The lock files of npm packages.
const NPM_LOCKS: [&str; 2] = ["package-lock.json", "xtask/node/package-lock.json"];

/// Fails if a crate or an npm package violates the rules of this repository.
pub(crate) fn check(cargo_deny: &Path) -> Result<()> {
    crates::check(cargo_deny)?;
    let locks = NPM_LOCKS.into_iter().map(npm::Lock::read).collect::<Result<Vec<_>>>()?;
    let mut problems = npm::unused_exceptions(&locks);
    for (path, lock) in NPM_LOCKS.iter().zip(&locks) {
        problems.extend(lock.problems().into_iter().map(|problem| format!("{path}: {problem}")));
    }
    ensure!(problems.is_empty(), "npm packages violate the rules:\n  {}", problems.join("\n  "));
    let packages: usize = locks.iter().map(|lock| lock.packages().count()).sum();
    xtask::say!(" npm ok: licences, hashes and sources of {packages} packages");
    Ok(())
}
