//! Transformers.js, the alternative a user would pick, prepared to be served.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;
use xtask::shell;

/// Copies the folder of the page to a work folder, and installs and bundles the library there once.
pub(super) fn prepare(source: &Path, work: &Path) -> Result<PathBuf> {
    let dir = work.join("baseline");
    copy_folder(source, &dir)?;
    let lock = fs::read(dir.join("package-lock.json"))
        .context("the folder of Transformers.js has no package-lock.json")?;
    let stamp = dir.join("installed-package-lock.json");
    if !fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        println!("  installing Transformers.js");
        // One package's install script would download a native runtime, which is not used here.
        let install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        shell::run(shell::command("npm").args(install).current_dir(&dir))
            .context("check the network and the npm registry setting, then run it again")?;
        shell::run(shell::command("node").arg("build.mjs").current_dir(&dir))?;
        fs::write(stamp, lock)?;
    }
    Ok(dir)
}

/// Version of the library.
pub(super) fn version(prepared: &Path) -> Option<String> {
    let lock: Value = serde_json::from_slice(&fs::read(prepared.join("package-lock.json")).ok()?).ok()?;
    let version = &lock["packages"]["node_modules/@huggingface/transformers"]["version"];
    Some(version.as_str()?.to_owned())
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let entry = entry?;
        let (source, copy) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_folder(&source, &copy)?;
        } else {
            // Only the bytes, not the permissions: the original may be read-only, and the next run replaces the copy.
            let bytes = fs::read(&source).with_context(|| format!("cannot read {}", source.display()))?;
            fs::write(&copy, bytes).with_context(|| format!("cannot write {}", copy.display()))?;
        }
    }
    Ok(())
}
