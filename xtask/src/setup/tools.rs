//! Build tools that come from the Rust registry, kept in the cache folder by version.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::{paths, shell};

/// worker-build of the `worker` crate in Cargo.lock.
pub(super) fn worker_build() -> Result<PathBuf> {
    ensure("worker-build", "worker-build", &locked_version("worker")?)
}

/// wasm-bindgen writes JavaScript only for the very version of the crate in Cargo.lock.
pub(super) fn wasm_bindgen() -> Result<PathBuf> {
    ensure("wasm-bindgen-cli", "wasm-bindgen", &locked_version("wasm-bindgen")?)
}

fn ensure(package: &str, program: &str, version: &str) -> Result<PathBuf> {
    let cached = paths::cache()?.join("tools").join(format!("{package}-{version}"));
    let binary = cached.join("bin").join(program);
    for candidate in shell::find_program(program).into_iter().chain([binary.clone()]) {
        if reports_version(&candidate, version) {
            return Ok(candidate);
        }
    }
    println!("  compiling {package} {version} (a few minutes, once)");
    shell::run(
        shell::cargo()
            .args([
                "install",
                package,
                "--version",
                &format!("={version}"),
                "--bin",
                program,
                "--quiet",
                "--root",
            ])
            .arg(&cached)
            .env("CARGO_TARGET_DIR", paths::cargo_target().join("tools")),
    )
    .with_context(|| format!("install it by hand: cargo install {package} --version ={version}"))?;
    Ok(binary)
}

fn reports_version(program: &PathBuf, version: &str) -> bool {
    shell::output(shell::command(program).arg("--version"))
        .is_some_and(|output| output.split_whitespace().any(|word| word == version))
}

/// The version of a package in Cargo.lock.
fn locked_version(package: &str) -> Result<String> {
    let lock = std::fs::read_to_string(paths::repo().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    version_in_lock(&lock, package).with_context(|| format!("{package} is not in Cargo.lock"))
}

fn version_in_lock(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    Some(lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "[[package]]\nname = \"worker-macros\"\nversion = \"0.8.6\"\n\n[[package]]\nname = \"worker\"\nversion = \"0.8.7\"\n";

    #[test]
    fn the_locked_version_is_that_of_the_very_package() {
        assert_eq!(version_in_lock(LOCK, "worker").as_deref(), Some("0.8.7"));
        assert_eq!(version_in_lock(LOCK, "work"), None);
    }
}
