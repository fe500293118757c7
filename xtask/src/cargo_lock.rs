//! Reads names, versions and checksums from Cargo.lock.

use std::fs;

use anyhow::{Context, Result};

use crate::paths;

pub struct CargoLock {
    pub packages: Vec<LockedPackage>,
}

pub struct LockedPackage {
    pub name: String,
    pub version: String,
    /// SHA-256 of the registry's archive; `None` for packages of this repository.
    pub checksum: Option<String>,
}

impl CargoLock {
    pub fn read() -> Result<Self> {
        let text = fs::read_to_string(paths::repo().join("Cargo.lock")).context("cannot read Cargo.lock")?;
        Self::parse(&text).context("Cargo.lock does not have the form that cargo writes")
    }

    /// Reads only the form that cargo writes: lines of `key = "value"` below each `[[package]]`.
    fn parse(text: &str) -> Option<Self> {
        let value = |lines: &str, key: &str| {
            let mut values = lines.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
            values.next().map(|value| value.trim_matches('"').to_owned())
        };
        let packages = text.split("[[package]]\n").skip(1).map(|lines| {
            Some(LockedPackage {
                name: value(lines, "name")?,
                version: value(lines, "version")?,
                checksum: value(lines, "checksum"),
            })
        });
        Some(Self { packages: packages.collect::<Option<_>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"worker-macros\"\nversion = \"0.8.6\"\nchecksum = \"ab\"\n\n\
        [[package]]\nname = \"worker\"\nversion = \"0.8.7\"\ndependencies = [\n \"worker-macros\",\n]\n";

    #[test]
    fn each_package_has_its_own_version_and_checksum() {
        let lock = CargoLock::parse(LOCK).unwrap();
        let found: Vec<_> = lock
            .packages
            .iter()
            .map(|package| (package.name.as_str(), package.version.as_str(), package.checksum.as_deref()))
            .collect();
        assert_eq!(found, [("worker-macros", "0.8.6", Some("ab")), ("worker", "0.8.7", None)]);
    }

    #[test]
    fn a_package_without_a_version_is_an_error() {
        assert!(CargoLock::parse("[[package]]\nname = \"worker\"\n").is_none());
    }

    #[test]
    fn the_lock_of_this_repository_can_be_read() {
        let lock = CargoLock::read().unwrap();
        assert!(lock.packages.iter().any(|package| package.name == "xtask" && package.checksum.is_none()));
        assert!(lock.packages.iter().any(|package| package.name == "worker" && package.checksum.is_some()));
    }
}
