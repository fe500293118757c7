//! Paths of the repository, the cache and build outputs.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The root of the repository.
pub fn repo() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// Downloads and tools that outlive the checkout: `$XDG_CACHE_HOME/evidence-chat` or `~/.cache/evidence-chat`.
pub fn cache() -> Result<PathBuf> {
    let base = match env::var_os("XDG_CACHE_HOME") {
        Some(dir) => PathBuf::from(dir),
        None => Path::new(&env::var_os("HOME").context("HOME is not set, so there is no cache folder")?)
            .join(".cache"),
    };
    Ok(base.join("evidence-chat"))
}

/// Cargo's output folder: `CARGO_TARGET_DIR`, or `target`.
pub fn cargo_target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| repo().join("target"), |dir| repo().join(dir))
}

/// The kb command line that `cargo xtask build kb` built.
pub fn kb_binary() -> PathBuf {
    cargo_target().join("debug").join("kb")
}
