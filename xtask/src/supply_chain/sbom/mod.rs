//! Software bills of materials: one CycloneDX document for each product.
//!
//! The usual tools list the dependencies of a folder or a workspace, which includes crates of other targets, tools and tests,
//! and write this machine's paths and a new serial number each time. So the documents are made here.

mod crate_tree;
mod document;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use xtask::{paths, setup};

use self::crate_tree::{CrateId, CrateTree, Facts};
use self::document::Component;
use super::npm::Lock;

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
    /// The crates that it contains, with their dependencies.
    packages: &'static [&'static str],
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
    packages: &["embedder"],
    targets: WASM,
    bundles: None,
    has_model: false,
};

const PRODUCTS: [Product; 5] = [
    Product { file: "embedder", name: "@evidence-chat/embedder", has_model: true, ..COMMON },
    Product {
        file: "writer",
        name: "@evidence-chat/writer",
        packages: &["verifier"],
        bundles: Some("writer/npm/dist"),
        ..COMMON
    },
    Product { file: "widget", name: "@evidence-chat/widget", bundles: Some("web/dist"), ..COMMON },
    Product { file: "worker", name: "edge-chat", is_on_npm: false, packages: &["edge-chat"], ..COMMON },
    Product {
        file: "kb",
        name: "kb",
        is_on_npm: false,
        packages: &["kb"],
        targets: NATIVE,
        has_model: true,
        ..COMMON
    },
];

/// Writes `<product>.cdx.json` for each product into the folder. Requires the built npm packages.
pub(crate) fn write(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let facts = Facts::read()?;
    for product in &PRODUCTS {
        let document = product.document(&facts)?;
        let path = folder.join(format!("{}.cdx.json", product.file));
        fs::write(&path, format!("{document:#}\n"))
            .with_context(|| format!("cannot write {}", path.display()))?;
        let count = document["components"].as_array().map_or(0, Vec::len);
        println!("✓ {}: {count} components", path.display());
    }
    Ok(())
}

impl Product {
    fn document(&self, facts: &Facts) -> Result<Value> {
        let tree = CrateTree::read(self.packages, self.targets)?;
        let mut components: Vec<Component> = tree
            .nodes
            .keys()
            // The root crate is the product, unless the product only contains it.
            .filter(|id| id.name != self.name)
            .map(|id| crate_component(id, &tree, facts))
            .collect::<Result<_>>()?;
        if let Some(dist) = self.bundles {
            components.extend(npm_components(dist)?);
        }
        if self.has_model {
            components.push(model_component()?);
        }
        let version = env!("CARGO_PKG_VERSION");
        let (kind, purl) = match self.is_on_npm {
            true => ("library", npm_purl(self.name, version)),
            false => ("application", own_purl(self.name, version)),
        };
        let root = Component {
            kind,
            name: self.name.to_owned(),
            version: version.to_owned(),
            purl,
            licence: env!("CARGO_PKG_LICENSE").to_owned(),
            hash: None,
            is_shipped: true,
            note: None,
        };
        Ok(document::new(&root, components, self.dependencies(&root, &tree, facts)))
    }

    /// The dependencies between crates, by reference.
    fn dependencies(
        &self,
        root: &Component,
        tree: &CrateTree,
        facts: &Facts,
    ) -> BTreeMap<String, BTreeSet<String>> {
        let reference = |id: &CrateId| if id.name == self.name { root.purl.clone() } else { facts.purl(id) };
        tree.nodes.iter().map(|(id, uses)| (reference(id), uses.iter().map(reference).collect())).collect()
    }
}

fn crate_component(id: &CrateId, tree: &CrateTree, facts: &Facts) -> Result<Component> {
    Ok(Component {
        kind: "library",
        name: id.name.clone(),
        version: id.version.clone(),
        purl: facts.purl(id),
        licence: facts.licence(id)?.to_owned(),
        hash: facts.checksum(id).map(|checksum| ("SHA-256", checksum.to_owned())),
        is_shipped: tree.shipped.contains(id),
        note: None,
    })
}

/// The packages whose code is in the bundles of a folder, found by the source maps next to them.
fn npm_components(dist: &str) -> Result<Vec<Component>> {
    let lock = Lock::read("package-lock.json")?;
    let mut folders: BTreeSet<String> = BTreeSet::new();
    for path in source_maps(dist)? {
        let map: Value = serde_json::from_slice(&fs::read(&path)?)
            .with_context(|| format!("{} is not a source map", path.display()))?;
        let sources =
            map["sources"].as_array().with_context(|| format!("{} has no sources", path.display()))?;
        folders.extend(sources.iter().filter_map(Value::as_str).filter_map(package_folder));
    }
    let component = |folder: &String| {
        let package =
            lock.package(folder).with_context(|| format!("{folder} is not in package-lock.json"))?;
        let (name, version) = (package.name(), package.version());
        let purl = npm_purl(name, version);
        Ok(Component {
            kind: "library",
            name: name.to_owned(),
            version: version.to_owned(),
            purl,
            licence: package.licence().to_owned(),
            hash: package.sha512().map(document::hex_of_base64).transpose()?.map(|hash| ("SHA-512", hash)),
            is_shipped: true,
            note: None,
        })
    };
    folders.iter().map(component).collect()
}

fn source_maps(dist: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(paths::repo().join(dist))
        .with_context(|| format!("{dist} is missing: run `cargo xtask build web`"))?;
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let maps: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "map")).collect();
    ensure!(!maps.is_empty(), "{dist} has no source maps: run `cargo xtask build web`");
    Ok(maps)
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
fn model_component() -> Result<Component> {
    let sha256 = setup::sha256(&setup::model()?.0.join(setup::MODEL_FILE))?;
    let revision = setup::MODEL_REVISION;
    Ok(Component {
        kind: "machine-learning-model",
        name: setup::MODEL_NAME.to_owned(),
        version: revision.to_owned(),
        purl: format!("pkg:huggingface/{}@{revision}", setup::MODEL_NAME),
        licence: "Apache-2.0".to_owned(),
        hash: Some(("SHA-256", sha256)),
        is_shipped: true,
        note: Some(format!("Quantised to 8 bits; the hash is that of {}.", setup::MODEL_FILE)),
    })
}

fn npm_purl(name: &str, version: &str) -> String {
    format!("pkg:npm/{}@{version}", name.replace('@', "%40"))
}

/// The package URL of something that is in no registry.
fn own_purl(name: &str, version: &str) -> String {
    format!("pkg:generic/evidence-chat/{name}@{version}")
}

impl Component {
    fn to_json(&self) -> Value {
        let mut json = json!({
            "type": self.kind,
            "bom-ref": self.purl,
            "name": self.name,
            "version": self.version,
            "purl": self.purl,
            "licenses": [{ "expression": self.licence }],
        });
        if let Some((algorithm, content)) = &self.hash {
            json["hashes"] = json!([{ "alg": algorithm, "content": content }]);
        }
        if !self.is_shipped {
            json["scope"] = json!("excluded");
        }
        if let Some(note) = &self.note {
            json["description"] = json!(note);
        }
        json
    }
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
    fn the_crates_of_the_worker_are_shipped_and_its_tests_and_macros_are_not() {
        let worker = PRODUCTS.iter().find(|product| product.file == "worker").unwrap();
        let document = worker.document(&Facts::read().unwrap()).unwrap();
        let scope = |name: &str| {
            let components = document["components"].as_array().unwrap();
            let found = components.iter().find(|component| component["name"] == name)?;
            Some(found["scope"].as_str().unwrap_or("shipped").to_owned())
        };
        for shipped in ["chat-core", "worker", "serde_json", "p256", "sha2"] {
            assert_eq!(scope(shipped).as_deref(), Some("shipped"), "{shipped}");
        }
        for excluded in ["worker-macros", "serde_derive"] {
            assert_eq!(scope(excluded).as_deref(), Some("excluded"), "{excluded}");
        }
        for absent in ["proptest", "kb", "candle-core", "reqwest", "edge-chat"] {
            assert_eq!(scope(absent), None, "{absent}");
        }
    }

    #[test]
    fn a_document_names_no_folder_of_this_machine_and_is_the_same_each_time() {
        let facts = Facts::read().unwrap();
        for product in &PRODUCTS {
            // Without the components that are read from build output.
            let product = Product { has_model: false, bundles: None, ..*product };
            let document = product.document(&facts).unwrap().to_string();
            assert_eq!(document, product.document(&Facts::read().unwrap()).unwrap().to_string());
            for folder in [paths::repo().to_str().unwrap(), "file:", "/home/", "/root/"] {
                assert!(!document.contains(folder), "{} names {folder}", product.file);
            }
        }
    }
}
