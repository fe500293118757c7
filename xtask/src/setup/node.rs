//! Node.js: the installed one, or one from the npm registry if that is too old.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{npm, sha256, with_staging};
use crate::{paths, shell};

/// The minimum of wrangler, miniflare and Vite.
const MIN_VERSION: (u32, u32) = (22, 12);

/// Pins the npm packages that contain Node.js, one for each platform, by version and hash.
const LOCKED: &str = "xtask/node";

/// Makes sure that commands find a Node.js that is new enough, and returns its version.
pub(super) fn ensure() -> Result<String> {
    let remedy = format!("install Node.js {}.{} or newer (https://nodejs.org)", MIN_VERSION.0, MIN_VERSION.1);
    let version = version(&mut shell::command("node")).with_context(|| format!("it is missing: {remedy}"))?;
    if is_new_enough(&version) {
        return Ok(version);
    }
    let folder =
        fetched().with_context(|| format!("{version} is too old, and none could be fetched: {remedy}"))?;
    shell::search_first(folder);
    // Commands find the fetched one from now on.
    match self::version(&mut shell::command("node")) {
        Some(version) if is_new_enough(&version) => Ok(version),
        found => bail!("the fetched one is {found:?}: {remedy}"),
    }
}

/// The folder of the program `node` in the cache. Its name contains the hash of the lock file, so that another version gets
/// another folder and running processes keep theirs.
fn fetched() -> Result<PathBuf> {
    let source = paths::repo().join(LOCKED);
    let lock = sha256(&source.join("package-lock.json"))?;
    let folder = paths::cache()?.join("tools").join(format!("node-{}", lock.get(..12).unwrap_or(&lock)));
    if !folder.exists() {
        say!("  fetching Node.js with npm");
        let result = with_staging(&folder, |staging| {
            install(&source, staging)?;
            fs::rename(staging, &folder).with_context(|| format!("cannot write {}", folder.display()))
        });
        // Another process may have installed it meanwhile.
        if !folder.exists() {
            result?;
        }
    }
    program_folder(&folder)
}

fn install(source: &Path, folder: &Path) -> Result<()> {
    for name in ["package.json", "package-lock.json"] {
        fs::copy(source.join(name), folder.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    npm::clean_install(folder)?;
    program_folder(folder).map(|_| ())
}

/// npm installs only the package of this platform.
fn program_folder(folder: &Path) -> Result<PathBuf> {
    let packages = folder.join("node_modules");
    let entries = fs::read_dir(&packages).with_context(|| format!("cannot read {}", packages.display()))?;
    let mut programs = entries.filter_map(Result::ok).map(|entry| entry.path().join("bin"));
    let found = programs.find(|folder| folder.join("node").is_file());
    found.context("no package of Node.js for this platform")
}

fn version(node: &mut Command) -> Option<String> {
    shell::output(node.arg("--version"))
}

fn is_new_enough(version: &str) -> bool {
    let mut numbers = version.trim_start_matches('v').split('.').map_while(|part| part.parse::<u32>().ok());
    numbers.next().zip(numbers.next()).is_some_and(|found| found >= MIN_VERSION)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn read(path: &str) -> Value {
        serde_json::from_slice(&fs::read(paths::repo().join(path)).unwrap()).unwrap()
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        for new in ["v22.12.0", "v22.23.3", "v24.0.0", "v100.1.0"] {
            assert!(is_new_enough(new), "{new}");
        }
        for old in ["v22.9.0", "v20.20.2", "v9.99.0", "", "v", "22"] {
            assert!(!is_new_enough(old), "{old}");
        }
    }

    #[test]
    fn the_fetched_versions_are_new_enough_and_exact() {
        let packages = read("xtask/node/package.json")["optionalDependencies"].clone();
        let packages = packages.as_object().unwrap();
        assert_eq!(packages.len(), 4);
        for (name, version) in packages {
            assert!(is_new_enough(version.as_str().unwrap()), "{name} {version}");
        }
    }

    #[test]
    fn the_development_packages_require_the_version_that_setup_requires() {
        let wanted = format!(">={}.{}", MIN_VERSION.0, MIN_VERSION.1);
        for package in ["package.json", "local/package.json"] {
            assert_eq!(read(package)["engines"]["node"], wanted, "{package}");
        }
    }

    #[test]
    fn a_package_without_a_program_is_an_error() {
        let folder = std::env::temp_dir().join(format!("evidence-chat-node-{}", std::process::id()));
        fs::create_dir_all(folder.join("node_modules/other/bin")).unwrap();
        let error = program_folder(&folder).unwrap_err().to_string();
        assert!(error.contains("no package of Node.js for this platform"), "{error}");
        fs::write(folder.join("node_modules/other/bin/node"), "").unwrap();
        assert_eq!(program_folder(&folder).unwrap(), folder.join("node_modules/other/bin"));
        fs::remove_dir_all(folder).unwrap();
    }
}
