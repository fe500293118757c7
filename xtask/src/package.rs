//! `cargo xtask package`: packs the npm packages of embedder and writer as for publishing, and writes the bills of materials.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xtask::{build, paths, shell};

use crate::supply_chain;

/// Builds the packages, the embedder's with its model, packs them into `target/package/` and prints the size of each file of the
/// embedder that a page downloads.
pub(crate) fn run() -> Result<()> {
    build::run(&[build::Part::Web, build::Part::Worker])?;

    let package = paths::repo().join("embedder-wasm/npm");
    let has_model = build::has_model(&package.join("dist"))?;
    ensure!(has_model, "the package lacks its model; the build output above says why");

    let folder = folder();
    fs::create_dir_all(&folder)?;
    println!("• packing");
    for package in ["embedder-wasm/npm", "writer/npm"] {
        let mut pack = shell::command("npm");
        pack.args(["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination"])
            .arg(&folder)
            .arg(paths::repo().join(package));
        let name = shell::output(&mut pack)
            .with_context(|| format!("`npm pack` failed; run it in {package} to see why"))?;
        println!("✓ {}", folder.join(name.lines().last().unwrap_or(&name)).display());
    }
    list_contents(Some(&folder))?;
    println!();
    shell::run(shell::command("node").arg("embedder-wasm/npm/sizes.mjs").arg(folder.join("brotli.json")))
}

/// Writes the software bills of materials.
pub(crate) fn list_contents(out: Option<&Path>) -> Result<()> {
    supply_chain::sbom::write(&out.map_or_else(folder, Path::to_path_buf))
}

fn folder() -> PathBuf {
    paths::repo().join("target/package")
}
