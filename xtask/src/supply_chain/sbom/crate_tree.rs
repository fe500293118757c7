//! The crates of one program, as cargo resolves them for that program only.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask::cargo_lock::CargoLock;
use xtask::shell;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CrateId {
    pub(super) name: String,
    pub(super) version: String,
}

pub(super) struct CrateTree {
    /// All crates, each with its dependencies.
    pub(super) nodes: BTreeMap<CrateId, BTreeSet<CrateId>>,
    /// Crates whose code is in the program. The others are macros, build scripts and their dependencies.
    pub(super) shipped: BTreeSet<CrateId>,
}

impl CrateTree {
    /// Crates of any of the packages, for any of the targets.
    pub(super) fn read(packages: &[&str], targets: &[&str]) -> Result<Self> {
        Ok(Self {
            nodes: parse(&tree(packages, targets, "normal,build")?)?,
            shipped: parse(&tree(packages, targets, "normal,no-proc-macro")?)?.into_keys().collect(),
        })
    }
}

fn tree(packages: &[&str], targets: &[&str], edges: &str) -> Result<String> {
    let mut cargo = shell::cargo(&["tree"]);
    cargo.args(["--quiet", "--edges", edges, "--prefix", "depth", "--format", " {p}"]);
    for package in packages {
        cargo.args(["--package", package]);
    }
    for target in targets {
        cargo.args(["--target", target]);
    }
    stdout(&mut cargo)
}

/// Parses lines such as `2 serde v1.0.0 (proc-macro) (*)`, whose parent is the last line with depth 1.
fn parse(tree: &str) -> Result<BTreeMap<CrateId, BTreeSet<CrateId>>> {
    let mut nodes = BTreeMap::<CrateId, BTreeSet<CrateId>>::new();
    let mut ancestors = Vec::<CrateId>::new();
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let mut words = line.split_whitespace();
        let mut word = || words.next().with_context(|| format!("cargo tree printed {line:?}"));
        let depth: usize = word()?.parse().with_context(|| format!("no depth in {line:?}"))?;
        let name = word()?.to_owned();
        let version =
            word()?.strip_prefix('v').with_context(|| format!("no version in {line:?}"))?.to_owned();
        let id = CrateId { name, version };
        ensure!(depth <= ancestors.len(), "{line:?} has no parent");
        ancestors.truncate(depth);
        if let Some(parent) = ancestors.last() {
            nodes.entry(parent.clone()).or_default().insert(id.clone());
        }
        nodes.entry(id.clone()).or_default();
        ancestors.push(id);
    }
    ensure!(!nodes.is_empty(), "cargo tree printed nothing");
    Ok(nodes)
}

/// Licence and checksum of each crate, from the registry and the lock file.
pub(super) struct Facts {
    licences: BTreeMap<CrateId, String>,
    checksums: BTreeMap<CrateId, String>,
}

impl Facts {
    pub(super) fn read() -> Result<Self> {
        let metadata = stdout(shell::cargo(&["metadata"]).args(["--quiet", "--format-version", "1"]))?;
        let metadata: Value =
            serde_json::from_str(&metadata).context("the output of cargo metadata is not JSON")?;
        let packages = metadata["packages"].as_array().context("cargo metadata printed no packages")?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let licences = packages.iter().filter_map(|package| {
            let id = CrateId { name: text(&package["name"])?, version: text(&package["version"])? };
            // Older crates write MIT/Apache-2.0.
            let licence = text(&package["license"])?.replace(" / ", "/").replace('/', " OR ");
            Some((id, licence))
        });
        let checksums = CargoLock::read()?.packages.into_iter().filter_map(|package| {
            Some((CrateId { name: package.name, version: package.version }, package.checksum?))
        });
        Ok(Self { licences: licences.collect(), checksums: checksums.collect() })
    }

    pub(super) fn licence(&self, id: &CrateId) -> Result<&str> {
        let licence = self.licences.get(id).with_context(|| format!("{} names no licence", id.name))?;
        Ok(licence)
    }

    /// SHA-256 of the archive; `None` for crates of this repository.
    pub(super) fn checksum(&self, id: &CrateId) -> Option<&str> {
        self.checksums.get(id).map(String::as_str)
    }

    pub(super) fn purl(&self, id: &CrateId) -> String {
        if self.checksums.contains_key(id) {
            format!("pkg:cargo/{}@{}", id.name, id.version)
        } else {
            super::own_purl(&id.name, &id.version)
        }
    }
}

fn stdout(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    ensure!(output.status.success(), "cargo failed ({})", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_a_line_is_the_last_line_with_a_lower_depth() {
        let tree = "0 kb v0.1.0 (/somewhere/kb)\n1 a v1.0.0\n2 b v2.0.0 (proc-macro)\n1 c v3.0.0\n2 b v2.0.0 (proc-macro) (*)\n";
        let nodes = parse(tree).unwrap();
        let uses = |name: &str| {
            let (_, uses) = nodes.iter().find(|(id, _)| id.name == name).unwrap();
            uses.iter().map(|id| format!("{} {}", id.name, id.version)).collect::<Vec<_>>()
        };
        assert_eq!(nodes.len(), 4);
        assert_eq!(uses("kb"), ["a 1.0.0", "c 3.0.0"]);
        assert_eq!(uses("a"), ["b 2.0.0"]);
        assert_eq!(uses("c"), ["b 2.0.0"]);
        assert_eq!(uses("b"), [""; 0]);
    }

    #[test]
    fn output_that_is_not_a_tree_is_an_error() {
        for text in ["", "kb v0.1.0", "0 kb", "0 kb 0.1.0", "1 a v1.0.0"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
