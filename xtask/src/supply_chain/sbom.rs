//! Software bills of materials: one CycloneDX 1.6 document (ECMA-424) for each product.
//!
//! The usual tools list the dependencies of a folder or a workspace, which includes crates of other targets, tools and tests,
//! and write this machine's paths and a new serial number each time. So the documents are made here: they list what is in a
//! product and nothing else. The lock files have the hashes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use xtask::{paths, setup, shell};

use super::npm;

const WASM: &[&str] = &["wasm32-unknown-unknown"];
/// The targets that the release workflow builds `kb` for.
const NATIVE: &[&str] = &[
    "aarch64-apple-darwin",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "x86_64-unknown-linux-gnu",
];

/// A product that is published or deployed.
struct Product {
    /// Name of its document.
    file: &'static str,
    name: &'static str,
    /// Whether it is a library on npm, or else a program.
    is_on_npm: bool,
    /// The crate that it contains, with its dependencies.
    package: &'static str,
    targets: &'static [&'static str],
    /// Its build output with source maps, if its bundles contain npm packages.
    bundles: Option<&'static str>,
    /// Whether what is published contains the model file. The npm package of the widget depends on that of the embedder instead.
    has_model: bool,
}

/// What most products have.
const COMMON: Product = Product {
    file: "",
    name: "",
    is_on_npm: true,
    package: "embedder",
    targets: WASM,
    bundles: None,
    has_model: false,
};

const PRODUCTS: [Product; 5] = [
    Product { file: "embedder", name: "@evidence-chat/embedder", has_model: true, ..COMMON },
    Product {
        file: "writer",
        name: "@evidence-chat/writer",
        package: "verifier",
        bundles: Some("writer/npm/dist"),
        ..COMMON
    },
    Product { file: "widget", name: "@evidence-chat/widget", bundles: Some("web/dist"), ..COMMON },
    Product { file: "worker", name: "edge-chat", is_on_npm: false, package: "edge-chat", ..COMMON },
    Product {
        file: "kb",
        name: "kb",
        is_on_npm: false,
        package: "kb",
        targets: NATIVE,
        has_model: true,
        ..COMMON
    },
];

/// Writes `<product>.cdx.json` for each product into the folder. Requires the built npm packages.
pub(crate) fn write(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for product in &PRODUCTS {
        let components = product.components()?;
        let document = json!({
            "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": { "component": product.component() },
            "components": components,
        });
        let path = folder.join(format!("{}.cdx.json", product.file));
        fs::write(&path, format!("{document:#}\n"))
            .with_context(|| format!("cannot write {}", path.display()))?;
        println!("✓ {}: {} components", path.display(), components.len());
    }
    Ok(())
}

impl Product {
    fn component(&self) -> Value {
        let (version, licence) = (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_LICENSE"));
        match self.is_on_npm {
            true => component("library", self.name, version, &npm_purl(self.name, version), licence),
            false => component("application", self.name, version, &own_purl(self.name, version), licence),
        }
    }

    fn components(&self) -> Result<Vec<Value>> {
        let mut components = self.crates()?;
        if let Some(dist) = self.bundles {
            components.extend(npm_packages(dist)?);
        }
        if self.has_model {
            components.push(model()?);
        }
        Ok(components)
    }

    /// The crates whose code is in the product. Macros and build scripts are not.
    fn crates(&self) -> Result<Vec<Value>> {
        let mut cargo = shell::cargo(&["tree", "--quiet", "--edges", "normal,no-proc-macro"]);
        cargo.args(["--prefix", "none", "--format", "{p}|{l}", "--package", self.package]);
        cargo.args(self.targets.iter().flat_map(|target| ["--target", target]));
        let tree = shell::output(&mut cargo)
            .with_context(|| format!("`cargo tree --package {}` failed; run it to see why", self.package))?;
        let lines: BTreeSet<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
        let crates = lines.into_iter().filter(|line| !line.is_empty()).map(|line| {
            let (package, licence) = line.split_once('|')?;
            let mut words = package.split(' ');
            let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
            // A crate of this repository has its folder as a third word.
            let purl = match words.next() {
                Some(_) => own_purl(name, version),
                None => format!("pkg:cargo/{name}@{version}"),
            };
            // Older crates write MIT/Apache-2.0.
            let licence = licence.replace(" / ", "/").replace('/', " OR ");
            Some((name, component("library", name, version, &purl, &licence)))
        });
        let crates: Vec<_> = crates.collect::<Option<_>>().context("cargo tree printed something else")?;
        // The root crate is the product, unless the product only contains it.
        Ok(crates.into_iter().filter(|(name, _)| *name != self.name).map(|(_, crate_)| crate_).collect())
    }
}

/// The packages whose code is in the bundles of a folder, found by the source maps next to them.
fn npm_packages(dist: &str) -> Result<Vec<Value>> {
    let entries = fs::read_dir(paths::repo().join(dist))
        .with_context(|| format!("{dist} is missing: run `cargo xtask build web`"))?;
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let maps: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ext| ext == "map")).collect();
    ensure!(!maps.is_empty(), "{dist} has no source maps: run `cargo xtask build web`");
    let mut folders: BTreeSet<String> = BTreeSet::new();
    for path in maps {
        let map: Value = serde_json::from_slice(&fs::read(&path)?)
            .with_context(|| format!("{} is not a source map", path.display()))?;
        let sources =
            map["sources"].as_array().with_context(|| format!("{} has no sources", path.display()))?;
        folders.extend(sources.iter().filter_map(Value::as_str).filter_map(package_folder));
    }
    let packages = npm::packages("package-lock.json")?;
    let of = |folder: &String| {
        let entry = packages.get(folder).with_context(|| format!("{folder} is not in package-lock.json"))?;
        let text = |key: &str| entry[key].as_str().unwrap_or_default();
        let (name, version) = (npm::name(folder), text("version"));
        Ok(component("library", name, version, &npm_purl(name, version), text("license")))
    };
    folders.iter().map(of).collect()
}

/// The package folder of a source: `node_modules/@a/b` for `../../node_modules/@a/b/lib/c.js`.
fn package_folder(source: &str) -> Option<String> {
    let start = source.find("node_modules/")?;
    let after = source.rfind("node_modules/")? + "node_modules/".len();
    let parts = if source.get(after..)?.starts_with('@') { 2 } else { 1 };
    let name: usize = source.get(after..)?.split('/').take(parts).map(|part| part.len() + 1).sum();
    source.get(start..after + name - 1).map(str::to_owned)
}

/// The model. The hash is that of the file that is shipped with kb, and compressed in the package of the embedder.
fn model() -> Result<Value> {
    let (name, revision) = (setup::MODEL_NAME, setup::MODEL_REVISION);
    let purl = format!("pkg:huggingface/{name}@{revision}");
    let mut model = component("machine-learning-model", name, revision, &purl, "Apache-2.0");
    let sha256 = setup::sha256(&setup::model()?.0.join(setup::MODEL_FILE))?;
    model["hashes"] = json!([{ "alg": "SHA-256", "content": sha256 }]);
    model["description"] = json!(format!("Quantised to 8 bits; the hash is that of {}.", setup::MODEL_FILE));
    Ok(model)
}

/// A component with its package URL, which is also its id in the document, and an SPDX expression.
fn component(kind: &str, name: &str, version: &str, purl: &str, licence: &str) -> Value {
    json!({
        "type": kind,
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "licenses": [{ "expression": licence }],
    })
}

fn npm_purl(name: &str, version: &str) -> String {
    format!("pkg:npm/{}@{version}", name.replace('@', "%40"))
}

/// The package URL of something that is in no registry.
fn own_purl(name: &str, version: &str) -> String {
    format!("pkg:generic/evidence-chat/{name}@{version}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_belongs_to_its_innermost_package() {
        for (source, folder) in [
            ("../../node_modules/uplot/dist/uPlot.js", "node_modules/uplot"),
            ("../node_modules/@citation-js/core/lib/a.js", "node_modules/@citation-js/core"),
            ("../../node_modules/@a/b/node_modules/c/d.js", "node_modules/@a/b/node_modules/c"),
        ] {
            assert_eq!(package_folder(source).as_deref(), Some(folder));
        }
        assert_eq!(package_folder("../src/panel/index.ts"), None);
    }

    #[test]
    fn the_crates_in_the_worker_are_listed_and_its_tests_and_macros_are_not() {
        let worker = PRODUCTS.iter().find(|product| product.file == "worker").unwrap();
        let crates = worker.crates().unwrap();
        let is_listed = |name: &str| crates.iter().any(|component| component["name"] == name);
        for listed in ["chat-core", "worker", "serde_json", "p256", "sha2"] {
            assert!(is_listed(listed), "{listed}");
        }
        for absent in
            ["worker-macros", "serde_derive", "proptest", "kb", "candle-core", "reqwest", "edge-chat"]
        {
            assert!(!is_listed(absent), "{absent}");
        }
    }
}
