//! npm packages, as listed in package-lock.json.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};
use serde_json::{Map, Value};
use xtask::paths;

use super::licence;

/// Licences that any package may have: all they require is that their text is included.
const ALLOWED: [&str; 9] =
    ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0", "ISC", "MIT", "MIT-0"];

/// An additional licence that one package may have.
struct Exception {
    /// Its name; a final `*` matches any rest.
    package: &'static str,
    licence: &'static str,
}

const EXCEPTIONS: [Exception; 7] = [
    // Images in Miniflare; never shipped.
    Exception { package: "@img/sharp-*", licence: "LGPL-3.0-or-later" },
    // Permissive. In a tool; never shipped.
    Exception { package: "argparse", licence: "Python-2.0" },
    // Only for tests.
    Exception { package: "axe-core", licence: "MPL-2.0" },
    Exception { package: "caniuse-lite", licence: "CC-BY-4.0" },
    // In Vite; never shipped.
    Exception { package: "lightningcss", licence: "MPL-2.0" },
    Exception { package: "lightningcss-*", licence: "MPL-2.0" },
    // Only for tests and measurements.
    Exception { package: "postgres", licence: "Unlicense" },
];

impl Exception {
    fn is_for(&self, name: &str) -> bool {
        self.package.strip_suffix('*').map_or(name == self.package, |start| name.starts_with(start))
    }
}

/// A problem for each exception that no package needs.
pub(super) fn unused_exceptions(locks: &[Lock]) -> Vec<String> {
    let needed: BTreeSet<_> = locks.iter().flat_map(Lock::needed_exceptions).collect();
    let unused = EXCEPTIONS.iter().filter(|exception| !needed.contains(exception.package));
    unused
        .map(|exception| format!("no package needs the exception for {}: remove it", exception.package))
        .collect()
}

/// A package-lock.json.
pub(super) struct Lock {
    /// By path, including the packages of this repository.
    entries: Map<String, Value>,
}

/// An installed package.
#[derive(Clone, Copy)]
pub(super) struct Package<'a> {
    /// Its path: `node_modules/a/node_modules/b`.
    path: &'a str,
    entry: &'a Value,
}

impl Lock {
    pub(super) fn read(path: &str) -> Result<Self> {
        let text = fs::read(paths::repo().join(path)).with_context(|| format!("cannot read {path}"))?;
        let lock: Value = serde_json::from_slice(&text).with_context(|| format!("{path} is not JSON"))?;
        Self::parse(lock).with_context(|| format!("{path} has no packages"))
    }

    fn parse(mut lock: Value) -> Option<Self> {
        match lock["packages"].take() {
            Value::Object(entries) => Some(Self { entries }),
            _ => None,
        }
    }

    /// The third-party packages.
    pub(super) fn packages(&self) -> impl Iterator<Item = Package<'_>> {
        let installed =
            self.entries.iter().filter(|(path, entry)| is_installed(path) && entry["link"] != true);
        installed.map(|(path, entry)| Package { path, entry })
    }

    /// The package in a folder of the repository.
    pub(super) fn package(&self, path: &str) -> Option<Package<'_>> {
        self.packages().find(|package| package.path == path)
    }

    /// Violations of the rules.
    pub(super) fn problems(&self) -> Vec<String> {
        let of_packages = self
            .packages()
            .flat_map(|package| package.problem().map(|problem| format!("{} {problem}", package.path)));
        of_packages.chain(self.registry_problem()).chain(self.inexact_versions()).collect()
    }

    /// Our lock files have no addresses, so that npm takes every package from the registry in its settings. If there are
    /// addresses, they must have one host.
    fn registry_problem(&self) -> Option<String> {
        let hosts: BTreeSet<_> = self.packages().filter_map(|package| package.host()).collect();
        (hosts.len() > 1).then(|| format!("packages come from several registries: {hosts:?}"))
    }

    /// Dependencies of our packages without an exact version.
    fn inexact_versions(&self) -> Vec<String> {
        const KINDS: [&str; 3] = ["dependencies", "devDependencies", "optionalDependencies"];
        let own = self.entries.iter().filter(|(path, _)| !is_installed(path));
        let wanted = own.flat_map(|(path, entry)| {
            let maps = KINDS.into_iter().filter_map(|kind| entry[kind].as_object());
            maps.flatten().map(move |(name, version)| (path, name, version.as_str().unwrap_or_default()))
        });
        let inexact =
            wanted.filter(|(_, _, version)| !version.starts_with(|first: char| first.is_ascii_digit()));
        inexact
            .map(|(path, name, version)| format!("{path:?} requires {name} {version}: name an exact version"))
            .collect()
    }

    fn needed_exceptions(&self) -> Vec<&'static str> {
        let special =
            self.packages().filter(|package| !licence::is_satisfied(package.licence(), &is_allowed));
        let of = |package: Package<'_>| EXCEPTIONS.iter().find(|exception| exception.is_for(package.name()));
        special.filter_map(of).map(|exception| exception.package).collect()
    }
}

fn is_installed(path: &str) -> bool {
    path.split('/').any(|folder| folder == "node_modules")
}

fn is_allowed(licence: &str) -> bool {
    ALLOWED.contains(&licence)
}

impl<'a> Package<'a> {
    pub(super) fn name(self) -> &'a str {
        self.path.rsplit_once("node_modules/").map_or(self.path, |(_, name)| name)
    }

    pub(super) fn version(self) -> &'a str {
        self.entry["version"].as_str().unwrap_or_default()
    }

    /// An SPDX expression; empty if there is none.
    pub(super) fn licence(self) -> &'a str {
        self.entry["license"].as_str().unwrap_or_default()
    }

    /// The SHA-512 of its archive in Base64.
    pub(super) fn sha512(self) -> Option<&'a str> {
        self.entry["integrity"].as_str()?.strip_prefix("sha512-")
    }

    fn problem(self) -> Option<String> {
        let is_fine = |licence: &str| {
            let is_exception =
                |exception: &Exception| exception.is_for(self.name()) && exception.licence == licence;
            is_allowed(licence) || EXCEPTIONS.iter().any(is_exception)
        };
        if !licence::is_satisfied(self.licence(), &is_fine) {
            return Some(format!("has the licence {:?}, which is not allowed", self.licence()));
        }
        if self.sha512().is_none() {
            return Some("has no integrity (sha512)".to_owned());
        }
        match self.entry["resolved"].as_str() {
            Some(address) if self.host().is_none() => {
                Some(format!("comes from {address}, which is not a registry"))
            }
            _ => None,
        }
    }

    /// The registry's host, if the lock file names one.
    fn host(self) -> Option<&'a str> {
        let (host, path) = self.entry["resolved"].as_str()?.strip_prefix("https://")?.split_once('/')?;
        // As registries name archives: NAME/-/FILE.tgz
        (path.contains("/-/") && path.ends_with(".tgz")).then_some(host)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems(path: &str, entry: Value) -> Vec<String> {
        Lock::parse(json!({ "packages": { path: entry } })).unwrap().problems()
    }

    fn package(licence: &str) -> Value {
        json!({ "version": "1.0.0", "license": licence, "integrity": "sha512-AAAA" })
    }

    #[test]
    fn a_licence_must_be_allowed_for_all_packages_or_for_that_one() {
        for (name, licence) in [
            ("a", "MIT"),
            ("a", "GPL-3.0-only OR MIT"),
            ("axe-core", "MPL-2.0 OR AGPL-1.0"),
            ("@img/sharp-linux-x64", "Apache-2.0 AND LGPL-3.0-or-later"),
        ] {
            assert_eq!(
                problems(&format!("node_modules/{name}"), package(licence)),
                [""; 0],
                "{name} {licence}"
            );
        }
        for (name, licence) in [
            ("a", "GPL-3.0-only"),
            ("a", ""),
            ("a", "MPL-2.0"),
            ("a", "MIT AND MPL-2.0"),
            ("axe-core", "AGPL-1.0"),
            ("a/node_modules/axe-core-x", "MPL-2.0"),
        ] {
            let found = problems(&format!("node_modules/{name}"), package(licence));
            assert_eq!(found.len(), 1, "{name} {licence}");
            assert!(found[0].contains("is not allowed"), "{found:?}");
        }
    }

    #[test]
    fn a_package_must_have_a_hash_and_come_from_a_registry() {
        let mut without = package("MIT");
        without.as_object_mut().unwrap().remove("integrity");
        assert_eq!(problems("node_modules/a", without), ["node_modules/a has no integrity (sha512)"]);
        let mut weak = package("MIT");
        weak["integrity"] = json!("sha1-AAAA");
        assert_eq!(problems("node_modules/a", weak).len(), 1);
        for address in
            ["git+ssh://git@example.com/a.git#1", "http://r.test/a/-/a.tgz", "https://r.test/a.tgz", "file:a"]
        {
            let mut elsewhere = package("MIT");
            elsewhere["resolved"] = json!(address);
            let found = problems("node_modules/a", elsewhere);
            assert!(found.len() == 1 && found[0].contains("is not a registry"), "{address}: {found:?}");
        }
    }

    #[test]
    fn packages_from_two_registries_are_a_problem() {
        let from = |host: &str| {
            let mut entry = package("MIT");
            entry["resolved"] = json!(format!("https://{host}/a/-/a-1.0.0.tgz"));
            entry
        };
        let lock = |b: &str| {
            let packages = json!({ "node_modules/a": from("one.test"), "w/node_modules/b": from(b) });
            Lock::parse(json!({ "packages": packages })).unwrap().problems()
        };
        assert_eq!(lock("one.test"), [""; 0]);
        assert!(lock("two.test")[0].contains("several registries"));
    }

    #[test]
    fn our_packages_must_name_exact_versions_and_need_no_licence_or_hash() {
        assert_eq!(problems("web", json!({ "devDependencies": { "a": "1.2.3" } })), [""; 0]);
        let found = problems("web", json!({ "devDependencies": { "a": "^1.2.3" } }));
        assert_eq!(found, ["\"web\" requires a ^1.2.3: name an exact version"]);
        assert_eq!(problems("node_modules/w", json!({ "link": true, "resolved": "web" })), [""; 0]);
    }

    #[test]
    fn an_exception_that_no_package_needs_is_a_problem() {
        let lock = Lock::parse(json!({ "packages": { "node_modules/axe-core": package("MPL-2.0"),
            "node_modules/argparse": package("MIT") } }));
        let unused = unused_exceptions(&[lock.unwrap()]);
        assert_eq!(unused.len(), EXCEPTIONS.len() - 1);
        assert!(unused.iter().any(|problem| problem.contains("argparse")), "{unused:?}");
    }
}
