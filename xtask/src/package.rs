//! `cargo xtask package`: the embedder's npm package, as it would be published.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::{build, paths, setup, shell};

/// Builds the package with its model, packs it into `target/package/` and prints what a page downloads of it.
pub(crate) fn run() -> Result<()> {
    let tools = setup::for_building()?;
    setup::model()?;
    build::run(&[build::Part::Embedder], &tools)?;

    let package = paths::repo().join("embedder-wasm/npm");
    let has_model = fs::read_dir(package.join("dist"))?
        .filter_map(Result::ok)
        .any(|file| file.path().extension().is_some_and(|extension| extension == "safetensors"));
    ensure!(has_model, "the package lacks its model: what the build says above tells why");

    let folder = paths::repo().join("target/package");
    fs::create_dir_all(&folder)?;
    println!("• packing");
    let mut pack = shell::command("npm");
    pack.args(["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination"])
        .arg(&folder)
        .arg(&package);
    let name =
        shell::output(&mut pack).context("`npm pack` failed; run it in embedder-wasm/npm to see why")?;
    println!("✓ {}\n", folder.join(name.lines().last().unwrap_or(&name)).display());
    shell::run(shell::command("node").arg("embedder-wasm/npm/sizes.mjs").arg(folder.join("brotli.json")))
}
