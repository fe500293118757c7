//! `cargo xtask test`: every check there is, quick ones first.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::setup::{ModelDir, Tools};
use crate::{build, paths, setup, shell};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Suite {
    /// Format and clippy.
    Lint,
    /// Tests of the Rust crates, natively.
    Rust,
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
    for suite in [Suite::Lint, Suite::Rust, Suite::Node, Suite::E2e] {
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
            Self::Node => node(environment),
            Self::E2e => e2e(environment),
        }
    }
}

fn lint() -> Result<()> {
    shell::run(shell::command("node").args(["node_modules/prettier/bin/prettier.cjs", "--check", "."]))
        .context("run `npm run format`")?;
    shell::run(shell::cargo().args(["fmt", "--all", "--check"])).context("run `cargo fmt --all`")?;
    shell::run(shell::cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "--deny",
        "warnings",
    ]))
}

fn rust(environment: &Environment) -> Result<()> {
    let has_nextest = shell::find_program("cargo-nextest").is_some();
    let tests: &[&str] = if has_nextest { &["nextest", "run"] } else { &["test", "--all-targets"] };
    for args in [
        [tests, &["--workspace", "--no-fail-fast"]].concat(),
        vec!["test", "--workspace", "--doc", "--quiet"],
    ] {
        shell::run(shell::cargo().args(args).env("EVIDENCE_MODEL_DIR", &environment.model.0))?;
    }
    Ok(())
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
        "supabase/tests",
        "edge-chat/local/tests",
        "local-service/tests",
        "tests/setup",
        "tests/embedder",
    ];
    node_tests(&folders, environment)
}

fn e2e(environment: &Environment) -> Result<()> {
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
