//! Finds or installs everything the build and the tests need.

mod apt;
mod cargo_deny;
mod chromium;
mod generation;
mod model;
mod node;
mod npm;
mod other_browsers;
mod pinned;
mod venv;
mod wasm_toolchain;

use std::fmt::Debug;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::{paths, shell};
pub use apt::{give_consent, has_consent};
pub use generation::{Generation, find as find_generation};
pub use model::{MODEL_FILE, MODEL_NAME, MODEL_REVISION};
pub use wasm_toolchain::WasmToolchain;

/// Folder with the embedder's model file and its sources, all verified.
pub struct ModelDir(pub PathBuf);

/// A part that can be set up by itself.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// The weights, the tokenizer, and the model file made from them.
    Model,
    /// A browser for the tests.
    Chromium,
    /// Firefox and WebKitGTK with its driver, for `cargo xtask test browsers`.
    Browsers,
    /// For written answers: llama.cpp's server and a small language model.
    Generation,
    /// For the tests of the Open WebUI pipe: Python packages.
    OpenWebui,
}

/// Only one part.
pub fn only(part: Part) -> Result<()> {
    match part {
        Part::Model => model().map(|_| ()),
        Part::Chromium => browser().map(|_| ()),
        Part::Browsers => other_browsers().map(|_| ()),
        Part::Generation => generation().map(|_| ()),
        Part::OpenWebui => open_webui().map(|_| ()),
    }
}

/// Makes sure that commands find a Node.js that is new enough.
pub fn node() -> Result<()> {
    step("Node.js", node::ensure).map(|_| ())
}

/// For programs in Node.js.
pub fn node_packages() -> Result<()> {
    node()?;
    step("Node.js packages", npm::ensure).map(|_| ())
}

/// A compiler for browsers and Cloudflare.
pub fn wasm_toolchain() -> Result<WasmToolchain> {
    step("WebAssembly standard library", WasmToolchain::ensure)
}

/// The sources of the model.
pub fn download_model() -> Result<()> {
    step("sources of the model", model::download).map(|_| ())
}

/// Only the model.
pub fn model() -> Result<ModelDir> {
    step("model all-MiniLM-L6-v2", || model::ensure(programs)).map(ModelDir)
}

/// Only the model, after [`programs`]. Does not wait for another build of cargo.
pub fn model_with_built_programs() -> Result<ModelDir> {
    step("model all-MiniLM-L6-v2", || model::ensure(|| Ok(()))).map(ModelDir)
}

/// Builds the programs that make the model and the bindings of WebAssembly.
pub fn programs() -> Result<()> {
    // With the features of the whole workspace, so that other builds have compiled most of it, or need not again.
    let programs = ["--workspace", "--bin", "quantize-model", "--bin", "bindings"];
    shell::run(shell::cargo(&["build"]).args(programs).arg("--target-dir").arg(paths::cargo_target()))
}

/// Only the browser.
pub fn browser() -> Result<PathBuf> {
    step("Chromium", chromium::ensure)
}

/// A Chromium without windows for tests, where there is one.
pub fn headless_shell() -> Result<Option<PathBuf>> {
    step("Chromium without windows", chromium::ensure_shell)
}

/// The paths of Firefox and of WebKitGTK's browser.
pub fn other_browsers() -> Result<(PathBuf, PathBuf)> {
    Ok((step("Firefox", other_browsers::firefox)?, step("WebKitGTK", other_browsers::webkit)?))
}

/// The same, if they are installed or can be installed without a question.
pub fn other_browsers_if_possible() -> Result<Option<(PathBuf, PathBuf)>> {
    (other_browsers::are_installed() || apt::can_install()).then(other_browsers).transpose()
}

/// For written answers: a language model and its server.
pub fn generation() -> Result<Generation> {
    let model = step(&format!("model {}", Generation::MODEL_NAME), generation::ensure_model)?;
    let python = step("llama.cpp's server", generation::ensure_server)?;
    Ok(Generation { python, model })
}

/// For the tests of the Open WebUI pipe: a Python with the packages of Open WebUI that the pipe imports.
pub fn open_webui() -> Result<PathBuf> {
    step("Python packages of Open WebUI", || {
        venv::ensure("tools/open-webui-venv", "integrations/open-webui/requirements.txt")
    })
}

/// For the lints: the path of cargo-deny.
pub fn for_linting() -> Result<PathBuf> {
    step("cargo-deny", cargo_deny::ensure)
}

fn step<T: Debug>(what: &str, ensure: impl FnOnce() -> Result<T>) -> Result<T> {
    let started = Instant::now();
    let found = ensure().with_context(|| format!("setup of {what} failed"))?;
    say!("✓ {what}: {found:?} ({:.1} s)", started.elapsed().as_secs_f32());
    Ok(found)
}

/// Gives `work` a folder next to `destination`, which is deleted unless it was moved.
fn with_staging<T>(destination: &Path, work: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    let staging = destination.with_extension(format!("partial-{}", std::process::id()));
    fs::create_dir_all(&staging).with_context(|| format!("cannot create {}", staging.display()))?;
    let result = work(&staging);
    if staging.exists() {
        fs::remove_dir_all(&staging)?;
    }
    result
}

/// SHA-256 of a file in hex.
pub fn sha256(path: &Path) -> io::Result<String> {
    Ok(Sha256::digest(fs::read(path)?).iter().map(|byte| format!("{byte:02x}")).collect())
}
