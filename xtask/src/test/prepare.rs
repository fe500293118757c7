//! Everything before the first test runs: setup, builds and lints, in two lanes.
//!
//! Each lane has stretches that use one core or none, such as the last crate of a build or a download. Unlike tests, nothing here has a
//! time limit that it could miss while the other lane keeps the cores busy.

use std::path::PathBuf;
use std::process::Command;
use std::thread::{self, ScopedJoinHandle};
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use xtask::setup::{self, Generation, ModelDir, Tools};
use xtask::{build, paths, shell};

use super::{Environment, Suite};
use crate::supply_chain;

/// Sets up and builds what the suites need, and lints if [`Suite::Lint`] is among them. Returns after both lanes, also if one fails.
pub(super) fn run(suites: &[Suite]) -> Result<Environment> {
    // Both lanes find programs of Node.js on the same path, and one that is missing is reported at once.
    setup::node()?;
    thread::scope(|scope| {
        let native = scope.spawn(|| native(suites));
        let web = web(suites);
        let Native { generation, open_webui_python } = joined(native)?;
        let Web { model, chromium, headless_shell } = web?;
        Ok(Environment { model, chromium, headless_shell, generation, open_webui_python })
    })
}

/// What the native lane sets up for the tests.
struct Native {
    generation: Option<Generation>,
    open_webui_python: Option<PathBuf>,
}

/// What the web lane sets up for the tests.
struct Web {
    model: ModelDir,
    chromium: PathBuf,
    headless_shell: Option<PathBuf>,
}

/// What cargo compiles and checks for this machine, one command at a time, because each locks the build folder. Then Python packages and
/// a language model: the web lane takes longer.
fn native(suites: &[Suite]) -> Result<Native> {
    let needs_lint = suites.contains(&Suite::Lint);
    if needs_lint {
        step("format of Rust", || {
            shell::run(shell::unlocked_cargo().args(["fmt", "--all", "--check"]))
                .context("run `cargo fmt --all`")
        })?;
    }
    // Before the lints: the other lane waits for some of it, to make the model.
    // With the features of the whole workspace: a build of one package would compile some dependencies again, with fewer features.
    if suites.contains(&Suite::Rust) {
        step("Rust tests compiled", || {
            shell::run(shell::cargo(&["test"]).args(["--workspace", "--all-targets", "--no-run", "--quiet"]))
        })?;
    }
    if suites.iter().any(|suite| suite.needs_build()) {
        step("programs that tests run", || {
            let programs = ["--workspace", "--quiet", "--bin", "kb", "--example", "hostile-files"];
            shell::run(shell::cargo(&["build"]).args(programs))
        })?;
    }
    if needs_lint {
        step("clippy", || {
            shell::run(&mut clippy())?;
            shell::run(&mut clippy_of_fuzz_targets())
        })?;
        step("rustdoc", || shell::run(&mut rustdoc()))?;
    }
    let needs_python = suites.iter().any(|suite| suite.needs_python());
    Ok(Native {
        generation: needs_python.then(setup::generation).transpose()?,
        open_webui_python: needs_python.then(setup::open_webui).transpose()?,
    })
}

/// Installs npm packages, tools, the model and Chromium. Compiles to WebAssembly, bundles, and checks in Node.js.
fn web(suites: &[Suite]) -> Result<Web> {
    setup::node_packages()?;
    let needs_lint = suites.contains(&Suite::Lint);
    if needs_lint {
        step("format of the rest", || {
            shell::run(shell::command("node").args([
                "node_modules/prettier/bin/prettier.cjs",
                "--check",
                ".",
            ]))
            .context("run `npm run format`")
        })?;
        step("licences and sources of dependencies", || supply_chain::check(&setup::for_linting()?))?;
    }
    let tools = setup::for_building()?;
    let needs_build = suites.iter().any(|suite| suite.needs_build());
    if needs_build {
        // Before the model, for which the other lane compiles first.
        build::run(&[build::Part::Worker], &tools)?;
    }
    let model = setup::model()?;
    let chromium = setup::browser()?;
    if needs_build {
        build::run(&[build::Part::Assets], &tools)?;
    } else if needs_lint {
        build_types(&tools)?;
    }
    // ESLint takes as long as the others together, each uses one core, and the native lane may have ended.
    thread::scope(|scope| {
        let others = scope.spawn(|| {
            if needs_lint {
                npm_step("typecheck", "typecheck")?;
            }
            if suites.contains(&Suite::Node) { npm_step("TypeScript documentation", "docs") } else { Ok(()) }
        });
        let lints = if needs_lint { npm_step("lint", "lint") } else { Ok(()) };
        joined(others).and(lints)
    })?;
    let headless_shell = if suites.contains(&Suite::Node) { setup::headless_shell()? } else { None };
    Ok(Web { model, chromium, headless_shell })
}

fn joined<T>(thread: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread.join().unwrap_or_else(|_| Err(anyhow!("a thread panicked")))
}

/// The types of a package come with its build. Nothing that is linted uses those of the widget's build.
fn build_types(tools: &Tools) -> Result<()> {
    build::run(&[build::Part::Embedder, build::Part::Writer], tools)
}

fn clippy() -> Command {
    let mut clippy = shell::cargo(&["clippy"]);
    // No test uses the feature, only a bench.
    clippy.args(["--workspace", "--all-targets", "--features", "embedder/stages", "--quiet"]);
    clippy.args(["--", "--deny", "warnings"]);
    clippy
}

/// Checks the fuzz targets. They are a separate workspace, which no other step compiles.
fn clippy_of_fuzz_targets() -> Command {
    let mut clippy = shell::cargo(&["clippy"]);
    clippy
        .args(["--manifest-path", "embedder-wasm/fuzz/Cargo.toml", "--target-dir"])
        .arg(paths::cargo_target())
        .args(["--quiet", "--", "--deny", "warnings"])
        // Otherwise libFuzzer is compiled, which takes a C++ compiler and a minute. Nothing is linked, so the file may be missing.
        .env("CUSTOM_LIBFUZZER_PATH", "not-linked/libfuzzer.a");
    clippy
}

/// Finds broken links and malformed Markdown in the documentation.
fn rustdoc() -> Command {
    let mut doc = shell::cargo(&["doc"]);
    doc.args(["--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "--deny warnings");
    doc
}

/// Runs a script of package.json.
fn npm_step(name: &str, script: &str) -> Result<()> {
    step(name, || shell::run(shell::command("npm").args(["run", "--silent", script])))
}

fn step(name: &str, run: impl FnOnce() -> Result<()>) -> Result<()> {
    let started = Instant::now();
    // At once: what also fails, or fails in the other lane, may be all that is known at the end.
    run().with_context(|| format!("{name} failed")).inspect_err(|error| println!("✗ {error:#}"))?;
    println!("✓ {name} ({:.1} s)", started.elapsed().as_secs_f32());
    Ok(())
}
