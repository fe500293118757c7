//! The six parts of the build, in the order of their dependencies.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;

use crate::setup::Tools;
use crate::{paths, setup, shell, wasm_names};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// The embedder as WebAssembly and its npm package.
    Embedder,
    /// The verifier of written answers as WebAssembly, and the writer's npm package.
    Writer,
    /// The widget and the demo page (needs the embedder and the writer).
    Web,
    /// The static files that the Worker serves: the widget with its model (needs the widget).
    Assets,
    /// The Cloudflare Worker.
    Worker,
    /// The kb command line.
    Kb,
}

const ORDER: [Part; 6] = [Part::Kb, Part::Embedder, Part::Writer, Part::Web, Part::Assets, Part::Worker];

/// Builds the named parts and what they need, or all of them if none is named.
pub fn run(parts: &[Part], tools: &Tools) -> Result<()> {
    if is_wanted(Part::Assets, parts) {
        // The embedder's package includes the model only if it exists.
        setup::model()?;
    }
    for part in ORDER {
        if is_wanted(part, parts) {
            let started = Instant::now();
            println!("• building {}", part.name());
            part.build(tools).with_context(|| format!("building {} failed", part.name()))?;
            println!("✓ {} ({:.1} s)", part.name(), started.elapsed().as_secs_f32());
        }
    }
    Ok(())
}

/// Whether the part is named, or needed by one that is.
fn is_wanted(part: Part, named: &[Part]) -> bool {
    let needed_by: &[Part] = match part {
        Part::Embedder | Part::Writer => &[Part::Web, Part::Assets],
        Part::Web => &[Part::Assets],
        Part::Assets | Part::Worker | Part::Kb => &[],
    };
    named.is_empty() || named.contains(&part) || needed_by.iter().any(|part| named.contains(part))
}

/// Checks that everything was built, for commands with `--prebuilt`.
pub fn check_outputs() -> Result<()> {
    let repo = paths::repo();
    ensure_built(&[
        paths::kb_binary(),
        repo.join("writer/npm/wasm/verifier_bg.wasm"),
        repo.join("web/dist/evidence-chat.js"),
        repo.join("web/dist/demo/index.html"),
        repo.join("web/dist/insights/index.html"),
        repo.join("edge-chat/assets/evidence-chat.js"),
        repo.join("edge-chat/build/index_bg.wasm"),
    ])?;
    ensure!(
        has_model(&repo.join("web/dist"))?,
        "web/dist lacks the model: run the command without --prebuilt"
    );
    Ok(())
}

/// Whether this folder contains the compressed model. A build without `cargo xtask setup model` leaves it out.
pub fn has_model(folder: &Path) -> Result<bool> {
    let files = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    Ok(files
        .filter_map(Result::ok)
        .any(|file| file.file_name().to_string_lossy().ends_with(".safetensors.gz")))
}

fn ensure_built(outputs: &[PathBuf]) -> Result<()> {
    match outputs.iter().find(|output| !output.is_file()) {
        Some(missing) => bail!("{} is not built: run the command without --prebuilt", missing.display()),
        None => Ok(()),
    }
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Embedder => "the embedder package",
            Self::Writer => "the writer package",
            Self::Web => "the widget and the demo page",
            Self::Assets => "the static files of the Worker",
            Self::Worker => "the Worker",
            Self::Kb => "the kb command line",
        }
    }

    fn build(self, tools: &Tools) -> Result<()> {
        match self {
            Self::Embedder => embedder(tools),
            Self::Writer => writer(tools),
            Self::Web => shell::run(shell::command("node").arg("web/build/package.mjs")),
            Self::Assets => shell::run(shell::command("node").arg("edge-chat/build-assets.mjs")),
            Self::Worker => worker(tools),
            Self::Kb => {
                // With the features of the whole workspace, so that the tests reuse the compiled dependencies.
                shell::run(shell::cargo(&["build"]).args(["--workspace", "--bin", "kb"]))
            }
        }
    }
}

/// Builds the crate for browsers twice, without and with relaxed SIMD: a browser rejects a module with an instruction it does
/// not know. Both have the same JavaScript.
fn embedder(tools: &Tools) -> Result<()> {
    let out_dir = paths::repo().join("embedder-wasm/npm/wasm");
    if out_dir.exists() {
        fs::remove_dir_all(&out_dir)?;
    }
    bind(tools, &wasm(tools, "simd128", SIMD, &[])?, "embedder", &out_dir)?;
    let relaxed_dir = paths::cargo_target().join("wasm-embedder/relaxed-bindings");
    bind(tools, &wasm(tools, "relaxed", RELAXED_SIMD, &[])?, "embedder", &relaxed_dir)?;
    if fs::read(out_dir.join("embedder.js"))? != fs::read(relaxed_dir.join("embedder.js"))? {
        bail!("the two builds of the embedder have different JavaScript");
    }
    fs::copy(relaxed_dir.join("embedder_bg.wasm"), out_dir.join("embedder_relaxed_bg.wasm"))?;
    shell::run(shell::command("node").arg("embedder-wasm/npm/build.mjs"))
}

const SIMD: &str = "+simd128";
const RELAXED_SIMD: &str = "+simd128,+relaxed-simd";

/// Builds the embedder with relaxed SIMD such that its parts can be timed, for `cargo xtask bench embedder`.
pub fn embedder_stages(tools: &Tools, out_dir: &Path) -> Result<()> {
    bind(tools, &wasm(tools, "stages", RELAXED_SIMD, &["--features", "stages"])?, "embedder", out_dir)
}

/// Builds the checks of a written answer and the package that lets a model write one.
fn writer(tools: &Tools) -> Result<()> {
    let out_dir = paths::repo().join("writer/npm/wasm");
    if out_dir.exists() {
        fs::remove_dir_all(&out_dir)?;
    }
    let target_dir = paths::cargo_target().join("wasm-writer");
    shell::run(wasm_cargo(tools, "build", &target_dir, SIMD)?.args(["--package", "verifier"]))?;
    let module = target_dir.join("wasm32-unknown-unknown/release/verifier.wasm");
    bind(tools, &module, "verifier", &out_dir)?;
    let package = "writer/npm/build.mjs";
    if paths::repo().join(package).is_file() {
        shell::run(shell::command("node").arg(package))?;
    }
    Ok(())
}

/// Compiles the embedder with these target features.
fn wasm(tools: &Tools, name: &str, features: &str, options: &[&str]) -> Result<PathBuf> {
    let target_dir = paths::cargo_target().join("wasm-embedder").join(name);
    let mut cargo = wasm_cargo(tools, "rustc", &target_dir, features)?;
    // Not in the manifest: cargo puts no hash into the file name of a cdylib. Builds with other features, such as those of tests and
    // programs, would overwrite each other's embedder, and everything that depends on it would be compiled again.
    cargo.args(["--package", "embedder", "--crate-type", "cdylib"]);
    // LTO makes the compressed module 2 % larger.
    shell::run(cargo.args(options).env("CARGO_PROFILE_RELEASE_LTO", "false"))?;
    Ok(target_dir.join("wasm32-unknown-unknown/release/embedder.wasm"))
}

/// The command that compiles libraries for browsers.
fn wasm_cargo(tools: &Tools, subcommand: &str, target_dir: &Path, features: &str) -> Result<Command> {
    let mut cargo = shell::cargo(&[subcommand]);
    cargo
        .args(["--release", "--lib", "--target", "wasm32-unknown-unknown"])
        .arg("--target-dir")
        .arg(target_dir)
        .args(tools.wasm.cargo_args())
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
        .env("RUSTFLAGS", format!("-C target-feature={features}"));
    tools.wasm.apply(&mut cargo)?;
    Ok(cargo)
}

/// Writes the JavaScript bindings of a WebAssembly module, and the module.
fn bind(tools: &Tools, wasm: &Path, name: &str, out_dir: &Path) -> Result<()> {
    shell::run(
        shell::command(&tools.wasm_bindgen)
            .args(["--target", "web", "--remove-name-section", "--remove-producers-section"])
            .args(["--out-name", name, "--out-dir"])
            .arg(out_dir)
            .arg(wasm),
    )
}

fn worker(tools: &Tools) -> Result<()> {
    // worker-build runs `cargo metadata` without --locked, which would rewrite a stale Cargo.lock. This fails on one instead.
    shell::run(shell::cargo(&["metadata"]).args(["--quiet", "--format-version", "1"]).stdout(Stdio::null()))?;
    let mut worker_build = shell::command(&tools.worker_build);
    worker_build
        .current_dir(paths::repo().join("edge-chat"))
        // wasm-opt is slow and changes the compressed size by a few percent at most.
        .args(["--release", "--no-opt", ".", "--locked", "--target-dir"])
        .arg(paths::cargo_target().join("wasm-worker"))
        .args(tools.wasm.cargo_args())
        // Every new isolate loads the Worker, so size matters more than speed.
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "z")
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
        .env("CARGO_PROFILE_RELEASE_LTO", "fat")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
        .env("WASM_BINDGEN_BIN", &tools.wasm_bindgen)
        .env("ESBUILD_BIN", paths::repo().join("node_modules/.bin/esbuild"));
    tools.wasm.apply(&mut worker_build)?;
    shell::run(&mut worker_build)?;
    wasm_names::remove(&paths::repo().join("edge-chat/build/index_bg.wasm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_static_files_of_the_worker_are_built_after_all_that_they_contain() {
        let wanted = |named: &[Part]| {
            let parts = ORDER.into_iter().filter(|part| is_wanted(*part, named));
            parts.map(Part::name).collect::<Vec<_>>()
        };
        let (embedder, writer, web) =
            ("the embedder package", "the writer package", "the widget and the demo page");
        assert_eq!(wanted(&[Part::Assets]), [embedder, writer, web, "the static files of the Worker"]);
        assert_eq!(wanted(&[Part::Web]), [embedder, writer, web]);
        assert_eq!(wanted(&[Part::Worker]), ["the Worker"]);
        assert_eq!(wanted(&[]).len(), ORDER.len());
    }

    #[test]
    fn a_missing_output_says_to_run_without_prebuilt() {
        let built = paths::repo().join("Cargo.toml");
        ensure_built(std::slice::from_ref(&built)).unwrap();
        let message = ensure_built(&[built, "missing/kb".into()]).unwrap_err().to_string();
        assert_eq!(message, "missing/kb is not built: run the command without --prebuilt");
    }
}
