//! Node.js and the packages of package-lock.json.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::{paths, shell};

const OLDEST_NODE: (u32, u32) = (20, 19);

pub(super) fn ensure() -> Result<&'static str> {
    check_node()?;
    // `npm ci` starts afresh each time, so remember for which lock file it last succeeded.
    let lock = fs::read(paths::repo().join("package-lock.json")).context("cannot read package-lock.json")?;
    let stamp = paths::repo().join("node_modules/.evidence-chat-installed");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok("installed");
    }
    println!("  running npm ci");
    // No package here needs its install script; some would download what is not used.
    shell::run(shell::command("npm").args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ]))
    .context("check the network and the npm registry setting, then run it again")?;
    fs::write(stamp, lock)?;
    Ok("installed now")
}

fn check_node() -> Result<()> {
    let remedy = format!("install version {}.{} or newer (https://nodejs.org)", OLDEST_NODE.0, OLDEST_NODE.1);
    let version = shell::output(shell::command("node").arg("--version"))
        .with_context(|| format!("Node.js is missing: {remedy}"))?;
    let mut numbers = version.trim_start_matches('v').split('.').map_while(|part| part.parse::<u32>().ok());
    if numbers.next().zip(numbers.next()).is_none_or(|found| found < OLDEST_NODE) {
        bail!("Node.js {version} is too old: {remedy}");
    }
    Ok(())
}
