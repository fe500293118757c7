//! The parts of the build, as steps of a plan.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;

use crate::changed::{self, if_changed};
use crate::plan::{Plan, Slot};
use crate::setup::{ModelDir, WasmToolchain};
use crate::{paths, setup, shell};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// The embedder as WebAssembly and its npm package.
    Embedder,
    /// The verifier of written answers as WebAssembly, and the writer's npm package.
    Writer,
    /// The widget and the demo page, with the embedder and the writer.
    Web,
    /// The static files that the Worker serves: the widget with its model.
    Assets,
    /// The Cloudflare Worker.
    Worker,
    /// The kb command line.
    Kb,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 6] =
        [Self::Embedder, Self::Writer, Self::Web, Self::Assets, Self::Worker, Self::Kb];
}

/// Steps that other rooms of xtask refer to.
pub const NPM: &str = "npm packages";
pub const PROGRAMS: &str = "programs that build the rest";
pub const MODEL: &str = "model";
pub const KB: &str = "kb";
pub const WIDGET: &str = "widget";
pub const ASSETS: &str = "files that the Worker serves";
pub const EMBEDDER_PACKAGE: &str = "embedder package";
pub const WRITER_PACKAGE: &str = "writer package";

const NODE: &str = "Node.js";
const WASM: &str = "Rust for WebAssembly";
const DOWNLOAD: &str = "download of the model";
const EMBEDDER: &str = "embedder, compiled";
const EMBEDDER_BINDINGS: &str = "embedder, bindings";
const WORKER_COMPILED: &str = "Worker, compiled";
const WORKER: &str = "Worker";
const VERIFIER: &str = "verifier";

/// Sources of how modules and bindings are made: inputs of all that is made of them.
const BUILD: &str = "xtask/src/build.rs";
const BINDINGS: &str = "xtask/bindings/src/main.rs";

/// The writer in the widget's folder, which the demo leaves out.
const WRITER: &str = "web/dist/writer/index.js";

/// What steps find or make for others.
#[derive(Default)]
pub struct Results {
    pub model: Slot<ModelDir>,
    wasm: Slot<WasmToolchain>,
}

/// Only sets up Node.js, its packages and the model if the parts were built before.
pub fn run_unless(are_built: bool, parts: &[Part]) -> Result<ModelDir> {
    run(if are_built { &[] } else { parts })
}

/// Sets up what the parts need, and builds them. Returns the model; sets up Node.js and its packages in any case.
pub fn run(parts: &[Part]) -> Result<ModelDir> {
    let results = Results::default();
    let mut plan = Plan::default();
    add_steps(&mut plan, &results, parts, Extent::Whole);
    add_npm(&mut plan);
    if parts.is_empty() {
        add_ready_model(&mut plan, &results);
    } else {
        add_model(&mut plan, &results);
    }
    plan.run()?;
    results.model.into_inner().context("the plan made no model")
}

/// How much of the parts is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What is published and tested.
    Whole,
    /// What a page on this computer shows: without the writer, which needs a model of its own, and with one embedder for all browsers.
    Demo,
}

/// Adds the steps of the parts and all that they need. A step that is there stays.
pub fn add_steps<'a>(plan: &mut Plan<'a>, results: &'a Results, parts: &[Part], extent: Extent) {
    let is_wanted = |part: Part| parts.contains(&part);
    let needs_widget = is_wanted(Part::Web) || is_wanted(Part::Assets);
    if needs_widget || is_wanted(Part::Embedder) {
        add_embedder(plan, results, extent);
    }
    if is_wanted(Part::Writer) || (needs_widget && extent == Extent::Whole) {
        add_wasm(plan, results);
        add_programs(plan);
        plan.add(VERIFIER, &[WASM, PROGRAMS, EMBEDDER, WORKER_COMPILED], || verifier(results.wasm.get()?));
    }
    if is_wanted(Part::Embedder) && !needs_widget {
        add_npm(plan);
        add_model(plan, results);
        plan.add(EMBEDDER_PACKAGE, &[NPM, MODEL, EMBEDDER_BINDINGS], || {
            shell::run(shell::command("node").arg("embedder-wasm/npm/build.mjs"))
        });
    }
    if is_wanted(Part::Writer) && !needs_widget {
        add_npm(plan);
        plan.add(WRITER_PACKAGE, &[NPM, VERIFIER], || {
            shell::run(shell::command("node").arg("writer/npm/build.mjs"))
        });
    }
    if needs_widget {
        add_npm(plan);
        add_model(plan, results);
        plan.add(WIDGET, &[NPM, MODEL, EMBEDDER_BINDINGS, VERIFIER], move || widget(results, extent));
    }
    if is_wanted(Part::Assets) {
        plan.add(ASSETS, &[WIDGET], || shell::run(shell::command("node").arg("packages/build/assets.mjs")));
    }
    if is_wanted(Part::Worker) {
        add_wasm(plan, results);
        add_npm(plan);
        add_programs(plan);
        plan.add(WORKER_COMPILED, &[WASM, EMBEDDER], || {
            compile_to_wasm(results.wasm.get()?, "edge-chat", &[]).map(|_| ())
        });
        plan.add(WORKER, &[WORKER_COMPILED, PROGRAMS, NPM], worker);
    }
    if is_wanted(Part::Kb) {
        add_programs(plan);
        plan.add(KB, &[PROGRAMS], move || kb(extent));
    }
}

/// Adds the model and what makes it.
pub fn add_model<'a>(plan: &mut Plan<'a>, results: &'a Results) {
    add_programs(plan);
    plan.add(DOWNLOAD, &[], setup::download_model);
    plan.add(MODEL, &[DOWNLOAD, PROGRAMS], || {
        results.model.set(setup::model_with_built_programs()?);
        Ok(())
    });
}

/// Adds the model where everything was built before: nothing is compiled unless the model is missing.
pub fn add_ready_model<'a>(plan: &mut Plan<'a>, results: &'a Results) {
    plan.add(MODEL, &[], || {
        results.model.set(setup::model()?);
        Ok(())
    });
}

/// Adds the npm packages and Node.js.
pub fn add_npm(plan: &mut Plan<'_>) {
    plan.add(NODE, &[], setup::node);
    plan.add(NPM, &[NODE], setup::node_packages);
}

/// Adds the programs that make the model and the bindings of WebAssembly.
fn add_programs(plan: &mut Plan<'_>) {
    plan.add(PROGRAMS, &[], setup::programs);
}

fn add_wasm<'a>(plan: &mut Plan<'a>, results: &'a Results) {
    plan.add(WASM, &[], || {
        results.wasm.set(setup::wasm_toolchain()?);
        Ok(())
    });
}

fn add_embedder<'a>(plan: &mut Plan<'a>, results: &'a Results, extent: Extent) {
    add_wasm(plan, results);
    add_programs(plan);
    let modules = match extent {
        Extent::Whole => vec![SIMD, RELAXED_SIMD],
        Extent::Demo => vec![SIMD],
    };
    let compiled = modules.clone();
    plan.add(EMBEDDER, &[WASM], move || {
        let wasm = results.wasm.get()?;
        compiled.iter().try_for_each(|module| module.compile(wasm))
    });
    plan.add(EMBEDDER_BINDINGS, &[EMBEDDER, PROGRAMS], move || embedder_bindings(&modules));
}

/// A build of the crate `embedder` for browsers.
#[derive(Clone, Copy)]
struct Module {
    /// The name of its file below `target/wasm/`.
    name: &'static str,
    /// Arguments of `cargo rustc`.
    arguments: &'static [&'static str],
}

const SIMD: Module = Module { name: "embedder", arguments: &[] };
/// A browser rejects a module with an instruction it does not know, so both are published. Both have the same JavaScript.
const RELAXED_SIMD: Module =
    Module { name: "embedder_relaxed", arguments: &["--", "-C", "target-feature=+relaxed-simd"] };

impl Module {
    fn path(self) -> PathBuf {
        wasm_target().join(self.name).with_extension("wasm")
    }

    fn compile(self, wasm: &WasmToolchain) -> Result<()> {
        let inputs = ["embedder-wasm/src", "embedder-wasm/Cargo.toml", "Cargo.lock", "Cargo.toml", BUILD];
        if_changed(self.name, &inputs, &[&self.path()], || {
            // All modules have the same file in cargo's folder.
            let _one_at_a_time = changed::lock("embedder-modules")?;
            let module = compile_to_wasm(wasm, "embedder", self.arguments)?;
            fs::copy(module, self.path()).map(|_| ()).context("cannot copy the embedder")
        })
    }
}

/// Writes the bindings and the modules. A module that was not compiled is replaced by the one that all browsers run.
fn embedder_bindings(modules: &[Module]) -> Result<()> {
    let out_dir = paths::repo().join("embedder-wasm/npm/wasm");
    let mut inputs: Vec<PathBuf> = modules.iter().map(|module| module.path()).collect();
    inputs.extend([BINDINGS, BUILD].map(PathBuf::from));
    if_changed(EMBEDDER_BINDINGS, &inputs, &[&out_dir.join("embedder_relaxed_bg.wasm")], || {
        if out_dir.exists() {
            fs::remove_dir_all(&out_dir)?;
        }
        bind("web", &SIMD.path(), "embedder", &out_dir)?;
        let relaxed = out_dir.join("embedder_relaxed_bg.wasm");
        if modules.len() == 1 {
            fs::copy(out_dir.join("embedder_bg.wasm"), relaxed)?;
            return Ok(());
        }
        let relaxed_dir = wasm_target().join("relaxed-bindings");
        bind("web", &RELAXED_SIMD.path(), "embedder", &relaxed_dir)?;
        if fs::read(out_dir.join("embedder.js"))? != fs::read(relaxed_dir.join("embedder.js"))? {
            bail!("the two builds of the embedder have different JavaScript");
        }
        fs::copy(relaxed_dir.join("embedder_bg.wasm"), relaxed)?;
        Ok(())
    })
}

/// Builds the checks of a language model's text.
fn verifier(wasm: &WasmToolchain) -> Result<()> {
    let out_dir = paths::repo().join("writer/npm/wasm");
    let module = compile_to_wasm(wasm, "verifier", &[])?;
    if_changed(VERIFIER, &[&module, Path::new(BINDINGS)], &[&out_dir.join("verifier_bg.wasm")], || {
        if out_dir.exists() {
            fs::remove_dir_all(&out_dir)?;
        }
        bind("web", &module, "verifier", &out_dir)
    })
}

/// What the build of the widget reads, besides the model.
const WIDGET_INPUTS: [&str; 14] = [
    "web",
    "embedder-wasm/npm",
    "embedder-wasm/reader",
    "writer/npm",
    "packages/build",
    "tsconfig.base.json",
    "package-lock.json",
    "LICENSE",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    // THIRD-PARTY.md lists their dependencies.
    "Cargo.lock",
    "Cargo.toml",
    "embedder-wasm/Cargo.toml",
    "writer/verifier/Cargo.toml",
];

/// Builds the widget, the demo page and the packages of embedder and writer.
fn widget(results: &Results, extent: Extent) -> Result<()> {
    let repo = paths::repo();
    let model = results.model.get()?.0.join(setup::MODEL_FILE);
    let mut inputs = vec![model.as_path()];
    inputs.extend(WIDGET_INPUTS.map(Path::new));
    let mut outputs = vec![
        repo.join("web/dist/integrity.json"),
        repo.join("web/dist/demo/index.html"),
        repo.join("web/dist/insights/index.html"),
        repo.join("embedder-wasm/npm/dist/index.js"),
    ];
    let mut name = "widget of the demo";
    if extent == Extent::Whole {
        name = WIDGET;
        outputs.push(repo.join(WRITER));
    }
    let outputs: Vec<&Path> = outputs.iter().map(PathBuf::as_path).collect();
    if_changed(name, &inputs, &outputs, || {
        let mut build = shell::command("node");
        if extent == Extent::Demo {
            build.env("WITHOUT_WRITER", "1");
        }
        shell::run(build.arg("web/build/package.mjs"))
    })
}

/// Bundles the Worker: its bindings, and the module that Cloudflare runs.
fn worker() -> Result<()> {
    let out_dir = paths::repo().join("edge-chat/build");
    let (module, shim) = (wasm_output("edge-chat"), paths::repo().join("edge-chat/shim.mjs"));
    let tools = [BINDINGS, BUILD, "package-lock.json"].map(Path::new);
    if_changed(
        WORKER,
        &[&[module.as_path(), &shim], &tools[..]].concat(),
        &[&out_dir.join("index.js")],
        || {
            let staging = wasm_target().join("worker-bindings");
            if staging.exists() {
                fs::remove_dir_all(&staging)?;
            }
            bind("worker", &module, "index", &staging)?;
            fs::copy(&shim, staging.join("shim.mjs"))?;
            if out_dir.exists() {
                fs::remove_dir_all(&out_dir)?;
            }
            fs::create_dir_all(&out_dir)?;
            let mut esbuild = shell::command(paths::repo().join("node_modules/.bin/esbuild"));
            esbuild
                .current_dir(&staging)
                .args(["shim.mjs", "--bundle", "--minify", "--format=esm", "--external:cloudflare:*"])
                .args(["--external:./index_bg.wasm", "--log-level=warning"])
                .arg(format!("--outfile={}", staging.join("bundle.js").display()));
            shell::run(&mut esbuild)?;
            // Cloudflare compiles an imported module itself; it does not know the proposed syntax for that.
            let bundle = fs::read_to_string(staging.join("bundle.js"))?;
            ensure!(bundle.contains("import source "), "the bindings import their module in another way");
            fs::write(out_dir.join("index.js"), bundle.replace("import source ", "import "))?;
            fs::copy(staging.join("index_bg.wasm"), out_dir.join("index_bg.wasm"))?;
            Ok(())
        },
    )
}

fn kb(extent: Extent) -> Result<()> {
    let mut cargo = shell::cargo(&["build"]);
    // With the features of the whole workspace, so that the tests reuse the compiled dependencies.
    cargo.args(["--workspace", "--bin", "kb", "--target-dir"]).arg(paths::cargo_target());
    if extent == Extent::Demo {
        cargo.arg("--no-default-features");
    }
    shell::run(&mut cargo)
}

/// Cargo's output folder for WebAssembly.
fn wasm_target() -> PathBuf {
    paths::cargo_target().join("wasm")
}

/// The module of a package that cargo compiled last.
fn wasm_output(package: &str) -> PathBuf {
    let file = format!("{}.wasm", package.replace('-', "_"));
    wasm_target().join("wasm32-unknown-unknown/wasm").join(file)
}

/// Compiles a package for browsers or Cloudflare, with further arguments of `cargo rustc`. Returns the module. The packages share the
/// standard library and what they depend on.
fn compile_to_wasm(wasm: &WasmToolchain, package: &str, arguments: &[&str]) -> Result<PathBuf> {
    let mut cargo = shell::cargo(&["rustc"]);
    cargo
        .args(["--profile", "wasm", "--lib", "--target", "wasm32-unknown-unknown", "--target-dir"])
        .arg(wasm_target())
        .args(wasm.cargo_args())
        // Not in the manifest: cargo puts no hash into the file name of a cdylib. Builds with other features, such as those of tests and
        // programs, would overwrite each other's, and everything that depends on it would be compiled again.
        .args(["--package", package, "--crate-type", "cdylib"])
        .args(arguments)
        .env("RUSTFLAGS", "-C target-feature=+simd128");
    wasm.apply(&mut cargo)?;
    shell::run(&mut cargo)?;
    Ok(wasm_output(package))
}

/// Writes the JavaScript bindings of a WebAssembly module, and the module.
fn bind(target: &str, module: &Path, name: &str, out_dir: &Path) -> Result<()> {
    let bindings = paths::cargo_target().join("debug/bindings");
    shell::run(shell::command(bindings).arg(target).arg(module).arg(name).arg(out_dir))
}

/// Checks that everything was built, for commands with `--prebuilt`.
pub fn check_outputs(extent: Extent) -> Result<()> {
    let repo = paths::repo();
    if extent == Extent::Whole {
        ensure_built(&[repo.join(WRITER)])?;
    }
    ensure_built(&[
        paths::kb_binary(),
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
    Ok(files.filter_map(Result::ok).any(|file| is_model(&file.file_name().to_string_lossy())))
}

/// Whether this is the model of the vectors. The other such file is the reader's.
fn is_model(name: &str) -> bool {
    name.starts_with(setup::MODEL_FILE.trim_end_matches(".safetensors")) && name.ends_with(".safetensors.gz")
}

fn ensure_built(outputs: &[PathBuf]) -> Result<()> {
    match outputs.iter().find(|output| !output.is_file()) {
        Some(missing) => bail!("{} is not built: run the command without --prebuilt", missing.display()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_output_says_to_run_without_prebuilt() {
        let built = paths::repo().join("Cargo.toml");
        ensure_built(std::slice::from_ref(&built)).unwrap();
        let message = ensure_built(&[built, "missing/kb".into()]).unwrap_err().to_string();
        assert_eq!(message, "missing/kb is not built: run the command without --prebuilt");
    }
}
