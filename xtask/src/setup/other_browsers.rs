//! Firefox and WebKit, for the tests that Chromium also runs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::apt;
use crate::shell;

const FIREFOX_PROGRAMS: [&str; 2] = ["firefox-esr", "firefox"];
/// The oldest major version that the tests pass in. ESR 140 is known to fail.
const FIREFOX_MAJOR: u32 = 153;
const FIREFOX_MAC_APP: &str = "/Applications/Firefox.app/Contents/MacOS/firefox";
/// The programs of WebKitGTK that tests start, besides its small browser.
const WEBKIT_PROGRAMS: [&str; 3] = ["WebKitWebDriver", "Xvfb", "setpriv"];
/// Folders with one folder per architecture, and in it the browser.
const LIBRARY_FOLDERS: [&str; 3] = ["/usr/lib", "/usr/libexec", "/usr/lib64"];
const MINI_BROWSER: &str = "webkit2gtk-4.1/MiniBrowser";

/// The path of a Firefox that is new enough. An older one is upgraded where apt can.
pub(super) fn firefox() -> Result<PathBuf> {
    let name = format!("Firefox {FIREFOX_MAJOR} or newer");
    let path = ensure("FIREFOX_PATH", &name, find_firefox, &["firefox-esr"])?;
    if !is_new_enough(&path) {
        bail!("{} is not {name}, which the tests need", path.display());
    }
    Ok(path)
}

/// The path of WebKitGTK's small browser. Its driver and a virtual display are on PATH.
pub(super) fn webkit() -> Result<PathBuf> {
    ensure("WEBKIT_BROWSER_PATH", "WebKitGTK", find_webkit, &["webkit2gtk-driver", "xvfb", "util-linux"])
}

/// Whether both are there, or are named by variables.
pub(super) fn are_installed() -> bool {
    let is_there =
        |variable, find: fn() -> Option<PathBuf>| env::var_os(variable).is_some() || find().is_some();
    is_there("FIREFOX_PATH", find_firefox) && is_there("WEBKIT_BROWSER_PATH", find_webkit)
}

fn ensure(variable: &str, name: &str, find: fn() -> Option<PathBuf>, packages: &[&str]) -> Result<PathBuf> {
    if let Some(path) = env::var_os(variable).map(PathBuf::from) {
        if path.is_file() {
            return Ok(path);
        }
        bail!("{variable} is {}, which is not a file", path.display());
    }
    if let Some(path) = find() {
        return Ok(path);
    }
    let missing = || format!("no {name} found: install it, or set {variable}");
    apt::install(packages).with_context(missing)?;
    find().with_context(missing)
}

fn find_firefox() -> Option<PathBuf> {
    let mac_app = Some(PathBuf::from(FIREFOX_MAC_APP)).filter(|path| path.is_file());
    let installed = FIREFOX_PROGRAMS.into_iter().filter_map(shell::find_program);
    installed.chain(mac_app).find(|program| is_new_enough(program))
}

/// Whether the program says that it is a Firefox of at least [`FIREFOX_MAJOR`].
fn is_new_enough(firefox: &Path) -> bool {
    shell::output(shell::command(firefox).arg("--version")).is_some_and(|printed| is_new(&printed))
}

/// Reads what `firefox --version` prints, for instance `Mozilla Firefox 153.7.0esr`.
fn is_new(printed: &str) -> bool {
    let version = printed.split_whitespace().last().unwrap_or_default();
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    major.is_some_and(|major| major >= FIREFOX_MAJOR)
}

fn find_webkit() -> Option<PathBuf> {
    if WEBKIT_PROGRAMS.into_iter().any(|program| shell::find_program(program).is_none()) {
        return None;
    }
    LIBRARY_FOLDERS.into_iter().find_map(|folder| mini_browser(Path::new(folder)))
}

fn mini_browser(folder: &Path) -> Option<PathBuf> {
    let per_architecture = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    std::iter::once(folder.to_owned())
        .chain(per_architecture)
        .map(|folder| folder.join(MINI_BROWSER))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_firefox_of_the_oldest_version_or_a_newer_one_is_new_enough() {
        for new in ["Mozilla Firefox 153.7.0esr\n", "Mozilla Firefox 153.0", "Mozilla Firefox 201.0a1"] {
            assert!(is_new(new), "{new}");
        }
        for other in ["Mozilla Firefox 152.9.1esr", "Mozilla Firefox 99.0", "Mozilla Firefox", ""] {
            assert!(!is_new(other), "{other}");
        }
    }

    #[test]
    fn the_small_browser_is_found_in_the_folder_of_any_architecture() -> Result<()> {
        let folder = env::temp_dir().join(format!("mini-browser-{}", std::process::id()));
        let browser = folder.join("some-arch").join(MINI_BROWSER);
        fs::create_dir_all(browser.parent().context("no parent")?)?;
        assert_eq!(mini_browser(&folder), None);
        fs::write(&browser, "")?;
        assert_eq!(mini_browser(&folder), Some(browser));
        Ok(fs::remove_dir_all(folder)?)
    }
}
