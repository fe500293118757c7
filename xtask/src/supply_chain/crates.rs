//! Checks the crates in Cargo.lock with cargo-deny; deny.toml has the rules.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use xtask::shell;

pub(super) fn check(cargo_deny: &Path) -> Result<()> {
    // Duplicate versions are warnings: the summary counts them, `cargo deny check bans` names them.
    let options = ["--locked", "--log-level", "error", "check", "--show-stats"];
    shell::run(shell::command(cargo_deny).args(options).args(["bans", "licenses", "sources"]))
        .context("deny.toml has the rules")?;
    match fetch_advisories(cargo_deny)? {
        None => shell::run(shell::command(cargo_deny).args(options).arg("advisories")).context(
            "update the crate, or add the advisory to deny.toml with the reason why it does not apply",
        ),
        Some(reason) => {
            xtask::say!(
                "! advisories NOT checked: the database of vulnerabilities cannot be fetched ({reason})"
            );
            Ok(())
        }
    }
}

/// Fetches the database of advisories. Returns the reason if that fails.
fn fetch_advisories(cargo_deny: &Path) -> Result<Option<String>> {
    let fetch = shell::command(cargo_deny)
        .args(["--locked", "fetch", "db"])
        .stdout(Stdio::null())
        .output()
        .context("cannot start cargo-deny")?;
    if fetch.status.success() {
        return Ok(None);
    }
    let errors = String::from_utf8_lossy(&fetch.stderr);
    let reason = errors.lines().map(str::trim).rfind(|line| !line.is_empty());
    match reason {
        Some(reason) => Ok(Some(reason.to_owned())),
        None => bail!("cargo-deny could not fetch its database and gave no reason ({})", fetch.status),
    }
}
