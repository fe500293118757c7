//! npm packages, as listed in package-lock.json.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};
use xtask::paths;

/// The lock files of npm packages.
const LOCKS: [&str; 2] = ["package-lock.json", "xtask/node/package-lock.json"];

/// Licences that any package may have: all they require is that their text is included.
const ALLOWED: [&str; 9] =
    ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0", "ISC", "MIT", "MIT-0"];

/// Licences that one package may have in addition, or all packages whose names begin like this (`-`).
const EXCEPTIONS: [(&str, &str); 7] = [
    // Images in Miniflare; never shipped.
    ("@img/sharp-", "LGPL-3.0-or-later"),
    // Permissive. In a tool; never shipped.
    ("argparse", "Python-2.0"),
    // Only for tests.
    ("axe-core", "MPL-2.0"),
    ("caniuse-lite", "CC-BY-4.0"),
    // In Vite; never shipped.
    ("lightningcss", "MPL-2.0"),
    ("lightningcss-", "MPL-2.0"),
    // Only for tests and measurements.
    ("postgres", "Unlicense"),
];

/// Fails if a package violates the rules of this repository.
pub(super) fn check() -> Result<()> {
    let mut unused = EXCEPTIONS.map(|(package, _)| package).into_iter().collect();
    let (mut problems, mut count) = (Vec::new(), 0);
    for path in LOCKS {
        for (folder, entry) in &packages(path)? {
            count += usize::from(is_third_party(folder, entry));
            let found = problems_of(folder, entry, &mut unused);
            problems.extend(found.into_iter().map(|problem| format!("{path}: {folder:?} {problem}")));
        }
    }
    let unused =
        unused.iter().map(|package| format!("no package needs the exception for {package}: remove it"));
    problems.extend(unused);
    ensure!(problems.is_empty(), "npm packages violate the rules:\n  {}", problems.join("\n  "));
    xtask::say!(" npm ok: licences, hashes and sources of {count} packages");
    Ok(())
}

/// The packages in a lock file by folder, including those of this repository.
pub(super) fn packages(path: &str) -> Result<Map<String, Value>> {
    let text = fs::read(paths::repo().join(path)).with_context(|| format!("cannot read {path}"))?;
    let mut lock: Value = serde_json::from_slice(&text).with_context(|| format!("{path} is not JSON"))?;
    match lock["packages"].take() {
        Value::Object(packages) => Some(packages),
        _ => None,
    }
    .with_context(|| format!("{path} has no packages"))
}

/// The name of a package in a folder such as `node_modules/a/node_modules/b`.
pub(super) fn name(folder: &str) -> &str {
    folder.rsplit_once("node_modules/").map_or(folder, |(_, name)| name)
}

fn is_third_party(folder: &str, entry: &Value) -> bool {
    folder.contains("node_modules/") && entry["link"] != true
}

/// The violations of a package. Removes the exceptions that it needs from `unused`.
fn problems_of(folder: &str, entry: &Value, unused: &mut BTreeSet<&str>) -> Vec<String> {
    if !is_third_party(folder, entry) {
        return inexact_versions(entry);
    }
    let (name, text) = (name(folder), |key: &str| entry[key].as_str().unwrap_or_default());
    let is_allowed = |licence: &str| ALLOWED.contains(&licence);
    let exceptions = || EXCEPTIONS.iter().filter(|(package, _)| is_for(package, name));
    let licence = text("license");
    let mut problems = Vec::new();
    if !is_satisfied(licence, &is_allowed) {
        unused.retain(|package| !is_for(package, name));
        let is_excepted = |licence: &str| exceptions().any(|(_, allowed)| *allowed == licence);
        if !is_satisfied(licence, &|licence| is_allowed(licence) || is_excepted(licence)) {
            problems.push(format!("has the licence {licence:?}, which is not allowed"));
        }
    }
    if !text("integrity").starts_with("sha512-") {
        problems.push("has no integrity (sha512)".to_owned());
    }
    // Ours have no addresses, so that npm takes every package from the registry in its settings.
    let address = text("resolved");
    if !address.is_empty() && !is_of_registry(address) {
        problems.push(format!("comes from {address}, which is not a registry"));
    }
    problems
}

/// Whether an address has the form that npm writes for a package of a registry.
fn is_of_registry(address: &str) -> bool {
    address.starts_with("https://") && address.contains("/-/") && address.ends_with(".tgz")
}

fn is_for(package: &str, name: &str) -> bool {
    name == package || (package.ends_with('-') && name.starts_with(package))
}

/// Whether licences that `is_fine` satisfy an SPDX expression. An expression with inner parentheses is not
/// satisfied.
fn is_satisfied(expression: &str, is_fine: &impl Fn(&str) -> bool) -> bool {
    let inner = expression.trim_matches(['(', ')']);
    !inner.contains(['(', ')']) && inner.split(" OR ").any(|choice| choice.split(" AND ").all(is_fine))
}

/// Dependencies of a package of this repository without an exact version.
fn inexact_versions(entry: &Value) -> Vec<String> {
    let kinds = ["dependencies", "devDependencies", "optionalDependencies"];
    let wanted = kinds.into_iter().filter_map(|kind| entry[kind].as_object()).flatten();
    let wanted = wanted.map(|(name, version)| (name, version.as_str().unwrap_or_default()));
    wanted
        .filter(|(_, version)| !version.starts_with(|first: char| first.is_ascii_digit()))
        .map(|(name, version)| format!("requires {name} {version}: name an exact version"))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems(folder: &str, entry: &Value) -> Vec<String> {
        problems_of(folder, entry, &mut BTreeSet::new())
    }

    fn package(licence: &str) -> Value {
        json!({ "version": "1.0.0", "license": licence, "integrity": "sha512-AAAA" })
    }

    #[test]
    fn a_licence_must_be_allowed_for_all_packages_or_for_that_one() {
        for (name, licence) in [
            ("a", "MIT"),
            ("a", "(MIT)"),
            ("a", "GPL-3.0-only OR MIT"),
            ("a", "MIT AND ISC"),
            ("axe-core", "MPL-2.0 OR AGPL-1.0"),
            ("@img/sharp-linux-x64", "Apache-2.0 AND LGPL-3.0-or-later"),
        ] {
            assert_eq!(
                problems(&format!("node_modules/{name}"), &package(licence)),
                [""; 0],
                "{name} {licence}"
            );
        }
        for (name, licence) in [
            ("a", "GPL-3.0-only"),
            ("a", ""),
            ("a", "MIT ISC"),
            ("a", "MPL-2.0"),
            ("a", "MIT AND MPL-2.0"),
            ("a", "(MIT OR ISC) AND MPL-2.0"),
            ("axe-core", "AGPL-1.0"),
            ("a/node_modules/axe-core-x", "MPL-2.0"),
        ] {
            let found = problems(&format!("node_modules/{name}"), &package(licence));
            assert!(found.len() == 1 && found[0].contains("is not allowed"), "{name} {licence}: {found:?}");
        }
    }

    #[test]
    fn a_package_must_have_a_hash_and_come_from_a_registry() {
        for (key, value, expected) in [
            ("integrity", None, "no integrity"),
            ("integrity", Some("sha1-AAAA"), "no integrity"),
            ("resolved", Some("git+ssh://git@example.com/a.git#1"), "not a registry"),
            ("resolved", Some("http://r.test/a/-/a.tgz"), "not a registry"),
            ("resolved", Some("https://r.test/a.tgz"), "not a registry"),
            ("resolved", Some("file:a"), "not a registry"),
        ] {
            let mut entry = package("MIT");
            entry[key] = json!(value);
            let found = problems("node_modules/a", &entry);
            assert!(found.len() == 1 && found[0].contains(expected), "{key} {value:?}: {found:?}");
        }
        let mut entry = package("MIT");
        entry["resolved"] = json!("https://r.test/a/-/a-1.0.0.tgz");
        assert_eq!(problems("web/node_modules/a", &entry), [""; 0]);
    }

    #[test]
    fn our_packages_must_name_exact_versions_and_need_no_licence_or_hash() {
        assert_eq!(problems("web", &json!({ "devDependencies": { "a": "1.2.3" } })), [""; 0]);
        let found = problems("web", &json!({ "devDependencies": { "a": "^1.2.3" } }));
        assert_eq!(found, ["requires a ^1.2.3: name an exact version"]);
        assert_eq!(problems("node_modules/w", &json!({ "link": true, "resolved": "web" })), [""; 0]);
    }

    #[test]
    fn an_exception_is_used_only_by_a_package_that_needs_it() {
        let mut unused = BTreeSet::from(["argparse", "axe-core"]);
        problems_of("node_modules/axe-core", &package("MPL-2.0"), &mut unused);
        problems_of("node_modules/argparse", &package("MIT"), &mut unused);
        assert_eq!(unused, BTreeSet::from(["argparse"]));
    }
}
