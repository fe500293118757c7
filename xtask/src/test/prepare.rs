//! Everything before the first test runs: setup, builds and lints.
//!
//! Unlike tests, nothing here has a time limit that it could miss while others keep the cores busy.

use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc;

use anyhow::{Context, Result};
use xtask::build::{self, Extent, Part};
use xtask::plan::{Plan, Slot};
use xtask::setup::{self, Generation};
use xtask::{paths, shell};

use super::tally::Tallies;
use super::{Environment, Suite};
use crate::supply_chain;

const FORMAT_OF_RUST: &str = "format of Rust";
const RUST_TESTS: &str = "Rust tests, compiled";
const TEST_PROGRAMS: &str = "programs that tests run";
const CLIPPY: &str = "clippy";
const RUST: &str = "Rust tests";

/// Sets up and builds what the suites need, lints if [`Suite::Lint`] is among them, and runs the Rust tests if [`Suite::Rust`] is: they
/// use the cores that lints leave idle.
pub(super) fn run(suites: &[Suite], tallies: &mut Tallies) -> Result<Environment> {
    let results = build::Results::default();
    let (chromium, shell_of_chromium) = (Slot::default(), Slot::<Option<PathBuf>>::default());
    let (generation, open_webui) = (Slot::<Generation>::default(), Slot::<PathBuf>::default());
    let needs_build = suites.iter().any(|suite| suite.needs_build());
    let mut plan = Plan::default();
    add_native(&mut plan, suites, needs_build, &results, tallies);
    // Tests of Rust compare model and vectors with those of other rooms.
    build::add_model(&mut plan, &results);
    build::add_npm(&mut plan);
    if needs_build {
        build::add_steps(&mut plan, &results, &[Part::Assets, Part::Worker], Extent::Whole);
    }
    if suites.contains(&Suite::Lint) {
        if !needs_build {
            // The types of these packages come with their builds. The widget's build makes them, too.
            build::add_steps(&mut plan, &results, &[Part::Embedder, Part::Writer], Extent::Whole);
        }
        add_lints(&mut plan);
    }
    if suites.contains(&Suite::Node) {
        plan.add("TypeScript documentation", BUILT, || npm("docs"));
        plan.add("Chromium without windows", &["Chromium"], || {
            shell_of_chromium.set(setup::headless_shell()?);
            Ok(())
        });
    }
    plan.add("Chromium", &[], || {
        chromium.set(setup::browser()?);
        Ok(())
    });
    if suites.iter().any(|suite| suite.needs_python()) {
        plan.add("language model and its server", &[], || {
            generation.set(setup::generation()?);
            Ok(())
        });
        plan.add("Python packages of Open WebUI", &["language model and its server"], || {
            open_webui.set(setup::open_webui()?);
            Ok(())
        });
    }
    plan.run()?;
    Ok(Environment {
        model: results.model.into_inner().context("the plan made no model")?,
        chromium: chromium.into_inner().context("the plan found no Chromium")?,
        headless_shell: shell_of_chromium.into_inner().flatten(),
        generation: generation.into_inner(),
        open_webui_python: open_webui.into_inner(),
    })
}

/// What cargo compiles and checks for this machine, one command at a time, because each locks the build folder.
fn add_native<'a>(
    plan: &mut Plan<'a>,
    suites: &[Suite],
    needs_build: bool,
    results: &'a build::Results,
    tallies: &'a mut Tallies,
) {
    // The tests keep no lock while they run, but to begin they need it before clippy has it.
    let (begins, begun) = mpsc::channel();
    let needs_lint = suites.contains(&Suite::Lint);
    if needs_lint {
        plan.add(FORMAT_OF_RUST, &[], || {
            shell::run(shell::unlocked_cargo().args(["fmt", "--all", "--check"]))
                .context("run `cargo fmt --all`")
        });
    }
    // With the features of the whole workspace: a build of one package would compile some dependencies again, with fewer features.
    if suites.contains(&Suite::Rust) {
        plan.add(RUST_TESTS, &[build::PROGRAMS], || {
            shell::run(shell::cargo(&["test"]).args(["--workspace", "--all-targets", "--no-run", "--quiet"]))
        });
    }
    if needs_build {
        plan.add(TEST_PROGRAMS, &[build::PROGRAMS, RUST_TESTS], || {
            let programs = [
                "--workspace",
                "--quiet",
                "--bin",
                "kb",
                "--example",
                "hostile-files",
                "--example",
                "statements",
            ];
            shell::run(shell::cargo(&["build"]).args(programs))
        });
    }
    if suites.contains(&Suite::Rust) {
        plan.add(RUST, &[build::PROGRAMS, RUST_TESTS, TEST_PROGRAMS, build::MODEL, build::NPM], move || {
            super::rust(results.model.get()?, tallies, || begins.send(()).unwrap_or_default())
        });
    }
    if needs_lint {
        plan.add(CLIPPY, &[build::PROGRAMS, RUST_TESTS, TEST_PROGRAMS], move || {
            // An error says that the tests have ended, or are not part of the plan.
            begun.recv().unwrap_or_default();
            shell::run(&mut clippy())?;
            shell::run(&mut clippy_of_fuzz_targets())
        });
        plan.add("rustdoc", &[CLIPPY], || shell::run(&mut rustdoc()));
    }
}

/// The packages whose types others need.
const BUILT: &[&str] =
    &[build::NPM, build::WIDGET, build::EMBEDDER_PACKAGE, build::WRITER_PACKAGE, build::ASSETS];

fn add_lints(plan: &mut Plan<'_>) {
    plan.add("format of the rest", &[build::NPM], || {
        // Files with contents that were checked before are skipped, also in another clone.
        let prettier =
            ["node_modules/prettier/bin/prettier.cjs", "--check", ".", "--cache", "--cache-strategy"];
        let mut check = shell::command("node");
        check
            .args(prettier)
            .args(["content", "--cache-location"])
            .arg(paths::cargo_target().join("prettier"));
        shell::run(&mut check).context("run `npm run format`")
    });
    plan.add("licences and sources of dependencies", &[], || supply_chain::check(&setup::for_linting()?));
    plan.add("types", BUILT, || npm("typecheck"));
    plan.add("ESLint", BUILT, || npm("lint"));
}

fn clippy() -> Command {
    let mut clippy = shell::cargo(&["clippy"]);
    clippy.args(["--workspace", "--all-targets", "--quiet"]);
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
fn npm(script: &str) -> Result<()> {
    shell::run(shell::command("npm").args(["run", "--silent", script]))
}
