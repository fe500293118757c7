//! The plan for `bench/browser/run.mjs`: what to measure, and with which files.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};
use xtask::paths;

use super::{BASELINE, BASELINE_DEFAULT, PACKAGE, TOKENS};
use crate::embedder::{Workbench, texts};

/// The plan as JSON. `baseline` is the prepared folder of Transformers.js.
pub(super) fn plan(bench: &Workbench, baseline: Option<&Path>, result: &Path) -> Result<Value> {
    let package = paths::repo().join("embedder-wasm/npm");
    let mut mounts = Map::new();
    let mut mount = |prefix: &str, folder: &Path| {
        mounts.insert(prefix.to_owned(), json!(folder));
    };
    mount("/package/dist/", &package.join("dist"));
    mount("/package/wasm/", &package.join("wasm"));
    mount("/package/model/", &bench.model.0);
    mount("/package/", &paths::repo().join("bench/browser"));
    let mut embedders = vec![json!({
        "id": PACKAGE, "adapter": "/package/adapter.mjs", "options": {}, "speed": true, "accuracy": true,
    })];
    if let Some(baseline) = baseline {
        mount("/", baseline);
        // The adapter's `wasm` is part of the file's name: the smallest, and the one of a plain installation.
        for (id, wasm, is_main) in [(BASELINE, "", true), (BASELINE_DEFAULT, ".asyncify", false)] {
            embedders.push(json!({
                "id": id,
                "adapter": "/adapters/transformersjs.mjs",
                "options": { "dtype": "q8", "wasm": wasm },
                "speed": is_main,
                "accuracy": is_main,
            }));
        }
    }
    Ok(json!({
        "mounts": mounts,
        "embedders": embedders,
        "tests": tests(baseline)?,
        "reference": bench.reference,
        "result": result,
    }))
}

/// Single texts of each length, and 32 mixed ones both as a batch and one by one.
fn tests(baseline: Option<&Path>) -> Result<Vec<Value>> {
    let corpus = corpus(baseline)?;
    let mut tests: Vec<_> = TOKENS
        .into_iter()
        .map(|tokens| {
            let texts = &corpus["lengths"][tokens.to_string()];
            let calls = if tokens > 64 { 6 } else { 12 };
            json!({ "name": tokens.to_string(), "command": "oneByOne", "texts": texts, "calls": calls, "per": 1 })
        })
        .collect();
    let mixed = &corpus["batch32"];
    let count = mixed.as_array().map_or(0, Vec::len);
    ensure!(count == 32, "the corpus has {count} mixed texts, expected 32");
    tests.push(json!({ "name": "batch", "command": "batch", "texts": mixed, "calls": 1, "per": 1 }));
    tests
        .push(json!({ "name": "one by one", "command": "oneByOne", "texts": mixed, "calls": 32, "per": 32 }));
    Ok(tests)
}

/// `{"lengths": {"8": [text, …], …}, "batch32": [text, …]}`: those of the baseline's folder, or generated.
fn corpus(baseline: Option<&Path>) -> Result<Value> {
    if let Some(baseline) = baseline {
        let file = baseline.join("corpus.json");
        let json = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        return serde_json::from_slice(&json).with_context(|| format!("{} is not JSON", file.display()));
    }
    let lengths: Map<_, _> =
        TOKENS.into_iter().map(|tokens| (tokens.to_string(), json!([texts::with_tokens(tokens)]))).collect();
    let mixed: Vec<_> =
        TOKENS[..4].iter().cycle().take(32).map(|&tokens| texts::with_tokens(tokens)).collect();
    Ok(json!({ "lengths": lengths, "batch32": mixed }))
}
