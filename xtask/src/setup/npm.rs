//! The npm packages in package-lock.json.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::{paths, shell};

pub(super) fn ensure() -> Result<&'static str> {
    // `npm ci` reinstalls everything each time, so the stamp records the lock file of its last success.
    let lock = fs::read(paths::repo().join("package-lock.json")).context("cannot read package-lock.json")?;
    let stamp = paths::repo().join("node_modules/.evidence-chat-installed");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok("installed");
    }
    say!("  running npm ci");
    clean_install(paths::repo())?;
    fs::write(stamp, lock)?;
    Ok("installed now")
}

/// Installs exactly what the folder's package-lock.json names; npm verifies the hashes.
pub(super) fn clean_install(folder: &Path) -> Result<()> {
    // No package needs its install script; some would download files that are not used.
    let options = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    shell::run(shell::command("npm").args(options).current_dir(folder))
        .context("check the network and the npm registry setting, then run it again")
}
