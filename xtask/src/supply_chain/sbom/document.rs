//! CycloneDX 1.6 as JSON (ECMA-424).

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A component of a product, or the product.
pub(super) struct Component {
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) version: String,
    /// Its package URL, which is also its id in the document.
    pub(super) purl: String,
    /// An SPDX expression.
    pub(super) licence: String,
    /// Algorithm and hex value for the archive in the lock file.
    pub(super) hash: Option<(&'static str, String)>,
    /// Otherwise it is only used at build time.
    pub(super) is_shipped: bool,
    pub(super) note: Option<String>,
}

/// A document without a date, whose serial number is derived from the rest: the same input gives the same bytes.
pub(super) fn new(
    root: &Component,
    mut components: Vec<Component>,
    uses: BTreeMap<String, BTreeSet<String>>,
) -> Value {
    components.sort_by(|a, b| a.purl.cmp(&b.purl));
    let mut document = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": root.to_json() },
        "components": components.iter().map(Component::to_json).collect::<Vec<_>>(),
        "dependencies": dependencies(root, &components, uses),
    });
    document["serialNumber"] = json!(serial_number(&document));
    document
}

/// Dependencies of each component. A component that no other depends on is a dependency of the product.
fn dependencies(
    root: &Component,
    components: &[Component],
    mut uses: BTreeMap<String, BTreeSet<String>>,
) -> Vec<Value> {
    let used: BTreeSet<String> = uses.values().flatten().cloned().collect();
    let unused = components.iter().map(|component| &component.purl).filter(|purl| !used.contains(*purl));
    let unused: BTreeSet<String> = unused.cloned().collect();
    uses.entry(root.purl.clone()).or_default().extend(unused);
    uses.into_iter().map(|(reference, uses)| json!({ "ref": reference, "dependsOn": uses })).collect()
}

/// A version 8 UUID made of the hash of the document.
fn serial_number(document: &Value) -> String {
    let mut hex: String = hex(&Sha256::digest(document.to_string()));
    hex.replace_range(12..13, "8");
    hex.replace_range(16..17, "8");
    let part = |range| hex.get(range).unwrap_or_default();
    let parts = [part(0..8), part(8..12), part(12..16), part(16..20), part(20..32)];
    format!("urn:uuid:{}", parts.join("-"))
}

pub(super) fn hex_of_base64(text: &str) -> Result<String> {
    Ok(hex(&BASE64_STANDARD.decode(text).ok().with_context(|| format!("{text} is not Base64"))?))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(name: &str) -> Component {
        Component {
            kind: "library",
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            purl: name.to_owned(),
            licence: "MIT".to_owned(),
            hash: None,
            is_shipped: true,
            note: None,
        }
    }

    #[test]
    fn the_product_depends_on_components_that_no_other_depends_on() {
        let uses = BTreeMap::from([("a".to_owned(), BTreeSet::from(["b".to_owned()]))]);
        let document = new(&component("product"), vec![component("b"), component("a")], uses);
        let names: Vec<_> =
            document["components"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
        assert_eq!(names, ["a", "b"]);
        let expected = json!([{ "ref": "a", "dependsOn": ["b"] }, { "ref": "product", "dependsOn": ["a"] }]);
        assert_eq!(document["dependencies"], expected);
    }

    #[test]
    fn the_serial_number_is_derived_from_the_content() {
        let serial = |names: &[&str]| {
            let components = names.iter().map(|name| component(name)).collect();
            new(&component("product"), components, BTreeMap::new())["serialNumber"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        assert_eq!(serial(&["a", "b"]), serial(&["b", "a"]));
        assert_ne!(serial(&["a", "b"]), serial(&["a"]));
        let parts: Vec<_> =
            serial(&["a"]).strip_prefix("urn:uuid:").unwrap().split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
    }

    #[test]
    fn hashes_are_written_in_hex() {
        assert_eq!(hex_of_base64("AP8Q").unwrap(), "00ff10");
        assert!(hex_of_base64("?").is_err());
    }
}
