//! A Chromium for the browser tests.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::apt;
use crate::shell;

const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
/// Also the name of its package on Debian.
const SHELL: &str = "chromium-headless-shell";
const MAC_APP: &str = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

pub(super) fn ensure() -> Result<PathBuf> {
    if let Some(path) = env::var_os("CHROMIUM_PATH").map(PathBuf::from) {
        if path.is_file() {
            return Ok(path);
        }
        bail!("CHROMIUM_PATH is {}, which is not a file", path.display());
    }
    if let Some(path) = find() {
        return Ok(path);
    }
    apt::install(&["chromium"]).context("no Chromium or Chrome found: install one, or set CHROMIUM_PATH")?;
    match find() {
        Some(path) => Ok(path),
        None => bail!("no Chromium or Chrome found: install one, or set CHROMIUM_PATH"),
    }
}

/// A Chromium without windows, in which most browser tests take less processor time; `None` where there is none, or if a browser was
/// chosen.
pub(super) fn ensure_shell() -> Result<Option<PathBuf>> {
    if env::var_os("CHROMIUM_PATH").is_some() {
        return Ok(None);
    }
    if shell::find_program(SHELL).is_none() && apt::can_install() {
        // Ubuntu has no such package.
        apt::install(&[SHELL]).unwrap_or_else(|error| say!("  without it: {error:#}"));
    }
    Ok(shell::find_program(SHELL))
}

fn find() -> Option<PathBuf> {
    let mac_app = Some(PathBuf::from(MAC_APP)).filter(|path| path.is_file());
    PROGRAMS.into_iter().find_map(shell::find_program).or(mac_app)
}
