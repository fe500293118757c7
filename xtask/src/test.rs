//! `cargo xtask test`: every check there is, quick ones first.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::ValueEnum;
use xtask::setup::{ModelDir, Tools};
use xtask::{build, paths, setup, shell};

use crate::supply_chain;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Suite {
    /// Format, clippy, and what crates and npm packages are.
    Lint,
    /// Tests of the Rust crates, natively.
    Rust,
    /// Unit tests of the embedder as a 64-bit ARM program, in an emulator; skipped where there is none.
    Arm,
    /// Type checks and tests of the browser packages, the schema and the Worker, in Node.js.
    Node,
    /// The whole product in a real browser.
    E2e,
}

/// What the suites run with.
struct Environment {
    tools: Tools,
    model: ModelDir,
    chromium: PathBuf,
}

/// Runs the named suites, or all of them if none is named.
pub(crate) fn run(suites: &[Suite]) -> Result<()> {
    let (tools, model, chromium) = setup::everything()?;
    let environment = Environment { tools, model, chromium };
    let started = Instant::now();
    let mut is_built = false;
    for suite in [Suite::Lint, Suite::Rust, Suite::Arm, Suite::Node, Suite::E2e] {
        if suites.is_empty() || suites.contains(&suite) {
            let suite_started = Instant::now();
            println!("\n• {}", suite.name());
            if suite.needs_build() && !is_built {
                build::run(&[], &environment.tools)?;
                is_built = true;
            }
            suite.run(&environment).with_context(|| format!("{} failed", suite.name()))?;
            println!("✓ {} ({:.0} s)", suite.name(), suite_started.elapsed().as_secs_f32());
        }
    }
    println!("\nall checks passed ({:.0} s)", started.elapsed().as_secs_f32());
    Ok(())
}

impl Suite {
    fn name(self) -> &'static str {
        match self {
            Self::Lint => "format and lints",
            Self::Rust => "Rust tests",
            Self::Arm => "embedder on 64-bit ARM",
            Self::Node => "Node.js tests",
            Self::E2e => "end-to-end tests",
        }
    }

    fn needs_build(self) -> bool {
        matches!(self, Self::Node | Self::E2e)
    }

    fn run(self, environment: &Environment) -> Result<()> {
        match self {
            Self::Lint => lint(),
            Self::Rust => rust(environment),
            Self::Arm => arm(environment),
            Self::Node => node(environment),
            Self::E2e => e2e(environment),
        }
    }
}

fn lint() -> Result<()> {
    shell::run(shell::command("node").args(["node_modules/prettier/bin/prettier.cjs", "--check", "."]))
        .context("run `npm run format`")?;
    shell::run(shell::unlocked_cargo().args(["fmt", "--all", "--check"])).context("run `cargo fmt --all`")?;
    shell::run(shell::cargo(&["clippy"]).args([
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "--deny",
        "warnings",
    ]))?;
    supply_chain::check(&setup::for_linting()?)
}

fn rust(environment: &Environment) -> Result<()> {
    let has_nextest = shell::find_program("cargo-nextest").is_some();
    let mut tests = if has_nextest {
        shell::cargo(&["nextest", "run"])
    } else {
        let mut tests = shell::cargo(&["test"]);
        tests.arg("--all-targets");
        tests
    };
    tests.args(["--workspace", "--no-fail-fast"]);
    let mut doc_tests = shell::cargo(&["test"]);
    doc_tests.args(["--workspace", "--doc", "--quiet"]);
    for mut command in [tests, doc_tests] {
        shell::run(command.env("EVIDENCE_MODEL_DIR", &environment.model.0))?;
    }
    Ok(())
}

/// The kernels against the scalar one and the golden vectors, with the instructions of a machine that this one is not.
fn arm(environment: &Environment) -> Result<()> {
    const TARGET: &str = "aarch64-unknown-linux-gnu";
    const LINKER: &str = "aarch64-linux-gnu-gcc";
    const LIBRARIES: &str = "/usr/aarch64-linux-gnu";

    let has_target =
        shell::output(shell::command("rustc").args(["--print", "target-libdir", "--target", TARGET]))
            .is_some_and(|folder| Path::new(&folder).is_dir());
    let has_linker = shell::find_program(LINKER).is_some() && Path::new(LIBRARIES).is_dir();
    let emulator = ["qemu-aarch64", "qemu-aarch64-static"].into_iter().find_map(shell::find_program);
    let (true, true, Some(emulator)) = (has_target, has_linker, emulator) else {
        println!(
            "skipped: needs `rustup target add {TARGET}` and, on Debian, `apt install gcc-aarch64-linux-gnu qemu-user`"
        );
        return Ok(());
    };
    let runner = format!("{} -L {LIBRARIES}", emulator.display());
    shell::run(
        shell::cargo(&["test"])
            .args(["--package", "embedder", "--lib", "--quiet", "--target", TARGET])
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER)
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", runner)
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS", "--cfg without_oracles")
            .env("EVIDENCE_MODEL_DIR", &environment.model.0),
    )
}

fn node(environment: &Environment) -> Result<()> {
    for project in ["embedder-wasm/npm", "web"] {
        shell::run(
            shell::command("node").arg("node_modules/typescript/bin/tsc").args(["--noEmit", "-p", project]),
        )?;
    }
    let folders = [
        "embedder-wasm/npm/tests",
        "web/tests",
        "web/tests/browser",
        "supabase/tests",
        "edge-chat/tests",
        "tools/local-service/tests",
        "tests/setup",
        "tests/embedder",
        "tests/package",
    ];
    node_tests(&folders, environment)
}

fn e2e(environment: &Environment) -> Result<()> {
    shell::run(shell::cargo(&["build"]).args([
        "--quiet",
        "--package",
        "extract",
        "--example",
        "hostile-files",
    ]))?;
    node_tests(&["tests/e2e"], environment)
}

/// Runs every `*.test.mjs` of the folders, one file after the other: two cores hold no two browsers.
fn node_tests(folders: &[&str], environment: &Environment) -> Result<()> {
    let mut files = Vec::new();
    for folder in folders {
        files.extend(
            test_files(&paths::repo().join(folder)).with_context(|| format!("cannot list {folder}"))?,
        );
    }
    shell::run(
        shell::command("node")
            .args(["--test", "--test-concurrency=1", "--test-reporter=spec"])
            .args(files)
            .env("EVIDENCE_MODEL_DIR", &environment.model.0)
            .env("CHROMIUM_PATH", &environment.chromium)
            .env("KB_BINARY", paths::kb_binary())
            .env("HOSTILE_FILES_BINARY", paths::cargo_target().join("debug/examples/hostile-files"))
            .env("XTASK_BINARY", std::env::current_exe()?),
    )
}

fn test_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".test.mjs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
