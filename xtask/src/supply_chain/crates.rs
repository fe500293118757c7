//! The crates of Cargo.lock, checked by cargo-deny as deny.toml says.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use xtask::shell;

pub(super) fn check(cargo_deny: &Path) -> Result<()> {
    // Duplicate versions are warnings: the summary counts them, `cargo deny check bans` names them.
    let options = ["--locked", "--log-level", "error", "check", "--show-stats"];
    shell::run(shell::command(cargo_deny).args(options).args(["bans", "licenses", "sources"]))
        .context("deny.toml says what is allowed")?;
    match fetch_advisories(cargo_deny)? {
        None => shell::run(shell::command(cargo_deny).args(options).arg("advisories"))
            .context("update the crate, or say in deny.toml why the advisory does not matter here"),
        Some(reason) => {
            println!(
                "! advisories NOT checked: the database of vulnerabilities cannot be fetched ({reason})"
            );
            Ok(())
        }
    }
}

/// Says why the database cannot be fetched, if that is so.
fn fetch_advisories(cargo_deny: &Path) -> Result<Option<String>> {
    let fetch = shell::command(cargo_deny)
        .args(["--locked", "fetch", "db"])
        .stdout(Stdio::null())
        .output()
        .context("cannot start cargo-deny")?;
    if fetch.status.success() {
        return Ok(None);
    }
    let said = String::from_utf8_lossy(&fetch.stderr);
    let reason = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    match reason {
        Some(reason) => Ok(Some(reason.to_owned())),
        None => bail!("cargo-deny could not fetch its database and did not say why ({})", fetch.status),
    }
}
