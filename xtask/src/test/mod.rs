//! `cargo xtask test`: runs all checks, quick ones first.

mod libtest;
mod node;
mod tally;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use xtask::setup::{Generation, ModelDir, Tools};
use xtask::{build, paths, setup, shell};

use self::node::Lane;
use self::tally::{Skipped, Tallies, Tally};
use crate::supply_chain;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Suite {
    /// Format, clippy, rustdoc; licences and sources of crates and npm packages; advisories for crates, over the network; type
    /// checks and ESLint of TypeScript and JavaScript, for which the embedder and the writer are built.
    Lint,
    /// Tests of the Rust crates, natively.
    Rust,
    /// Unit tests of the embedder as a 64-bit ARM program, in an emulator; skipped without one.
    Arm,
    /// API documentation of TypeScript; tests of the browser packages, the schema and the Worker.
    Node,
    /// The whole product in a real browser.
    E2e,
    /// The tests of the browser packages in Firefox and WebKit, and the embedder in Node.js 20 to 24, Deno and Bun. Only if named.
    Browsers,
}

/// The tests of the suite [`Suite::E2e`].
const END_TO_END: &str = "tests/e2e";

/// The tests that also run in Firefox and WebKit.
const CROSS_BROWSER: [&str; 6] = [
    "tests/embedder/golden.test.mjs",
    "embedder-wasm/npm/tests/browser.test.mjs",
    "web/tests/browser/citations-copy.test.mjs",
    "web/tests/browser/launcher.test.mjs",
    "web/tests/browser/model.test.mjs",
    "web/tests/browser/states.test.mjs",
];

/// Makes tests skip what a browser other than Chromium, or its driver, cannot do.
const BROWSER_HOOKS: &str = "tests/browsers/hooks.mjs";

/// Tests that only [`Suite::Browsers`] runs.
const OTHER_RUNTIMES: &str = "tests/browsers";

/// The tests of servers, which start no browser and mostly wait: they run beside the others.
const SERVER_TESTS: [&str; 5] =
    ["edge-chat/tests", "supabase/tests", "tests/integrations", "tests/setup", "tools/local-service/tests"];

const ALL_BUT_KB: [build::Part; 5] =
    [build::Part::Embedder, build::Part::Writer, build::Part::Web, build::Part::Assets, build::Part::Worker];

/// Programs and files that the suites use.
struct Environment {
    tools: Tools,
    model: ModelDir,
    chromium: PathBuf,
    /// For the suites in Node.js.
    generation: Option<Generation>,
    /// For the suites in Node.js.
    open_webui_python: Option<PathBuf>,
}

/// Runs the named suites, or all of them if none is named.
pub(crate) fn run(suites: &[Suite]) -> Result<()> {
    let (tools, model, chromium) = setup::everything()?;
    let needs_python = suites.is_empty() || suites.iter().any(|suite| suite.needs_python());
    let generation = needs_python.then(setup::generation).transpose()?;
    let open_webui_python = needs_python.then(setup::open_webui).transpose()?;
    let environment = Environment { tools, model, chromium, generation, open_webui_python };
    let started = Instant::now();
    let mut tallies = Tallies::default();
    let result = run_suites(suites, &environment, &mut tallies);
    tallies.print();
    result?;
    let skipped = tallies.without_accepted_reason();
    ensure!(
        skipped.is_empty(),
        "{} tests were skipped, and not because the platform lacks something:\n  {}",
        skipped.len(),
        skipped.join("\n  ")
    );
    println!("\nall checks passed ({:.0} s)", started.elapsed().as_secs_f32());
    Ok(())
}

fn run_suites(suites: &[Suite], environment: &Environment, tallies: &mut Tallies) -> Result<()> {
    let mut is_built = false;
    let mut has_kb = false;
    for suite in [Suite::Lint, Suite::Rust, Suite::Arm, Suite::Node, Suite::E2e, Suite::Browsers] {
        if suites.contains(&suite) || (suites.is_empty() && suite != Suite::Browsers) {
            let started = Instant::now();
            println!("\n• {}", suite.name());
            if suite.needs_build() && !is_built {
                build::run(if has_kb { &ALL_BUT_KB } else { &[] }, &environment.tools)?;
                is_built = true;
            }
            suite.run(environment, tallies).with_context(|| format!("{} failed", suite.name()))?;
            // Its tests need the program. Building it alone would compile some dependencies again, with fewer features.
            has_kb |= suite == Suite::Rust;
            println!("✓ {} ({:.0} s)", suite.name(), started.elapsed().as_secs_f32());
        }
    }
    Ok(())
}

impl Suite {
    fn name(self) -> &'static str {
        match self {
            Self::Lint => "format, lints and dependencies",
            Self::Rust => "Rust tests",
            Self::Arm => "embedder on 64-bit ARM",
            Self::Node => "TypeScript documentation and Node.js tests",
            Self::E2e => "end-to-end tests",
            Self::Browsers => "Firefox, WebKit and other runtimes",
        }
    }

    fn needs_build(self) -> bool {
        matches!(self, Self::Node | Self::E2e | Self::Browsers)
    }

    fn needs_python(self) -> bool {
        matches!(self, Self::Node | Self::E2e)
    }

    fn run(self, environment: &Environment, tallies: &mut Tallies) -> Result<()> {
        match self {
            Self::Lint => lint(environment),
            Self::Rust => rust(environment, tallies),
            Self::Arm => arm(environment, tallies),
            Self::Node => node(environment, tallies),
            Self::E2e => e2e(environment, tallies),
            Self::Browsers => browsers(environment, tallies),
        }
    }
}

fn lint(environment: &Environment) -> Result<()> {
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
    shell::run(&mut fuzz_targets())?;
    // Broken links and malformed Markdown in the documentation.
    shell::run(
        shell::cargo(&["doc"])
            .args(["--workspace", "--no-deps", "--quiet"])
            .env("RUSTDOCFLAGS", "--deny warnings"),
    )?;
    supply_chain::check(&setup::for_linting()?)?;
    // The types of a package come with its build. Nothing here uses those of the widget's build.
    build::run(&[build::Part::Embedder, build::Part::Writer], &environment.tools)?;
    for script in ["typecheck", "lint"] {
        shell::run(shell::command("npm").args(["run", "--silent", script]))?;
    }
    Ok(())
}

/// Checks the fuzz targets. They are a separate workspace, which no other step compiles.
fn fuzz_targets() -> Command {
    let mut clippy = shell::cargo(&["clippy"]);
    clippy
        .args(["--manifest-path", "embedder-wasm/fuzz/Cargo.toml", "--target-dir"])
        .arg(paths::cargo_target())
        .args(["--quiet", "--", "--deny", "warnings"])
        // Otherwise libFuzzer is compiled, which takes a C++ compiler and a minute. Nothing is linked, so the file may be missing.
        .env("CUSTOM_LIBFUZZER_PATH", "not-linked/libfuzzer.a");
    clippy
}

fn rust(environment: &Environment, tallies: &mut Tallies) -> Result<()> {
    let mut tests = shell::cargo(&["test"]);
    tests.args(["--workspace", "--all-targets", "--no-fail-fast"]);
    let mut doc_tests = shell::cargo(&["test"]);
    doc_tests.args(["--workspace", "--doc", "--no-fail-fast"]);
    for (step, mut command) in [("Rust tests", tests), ("Rust doc tests", doc_tests)] {
        let (tally, result) = libtest::run(command.env("EVIDENCE_MODEL_DIR", &environment.model.0));
        tallies.add(step, tally);
        result?;
    }
    Ok(())
}

/// Tests the kernels against the scalar one and the golden vectors, with instructions that this machine does not have.
fn arm(environment: &Environment, tallies: &mut Tallies) -> Result<()> {
    const STEP: &str = "embedder on 64-bit ARM";
    const TARGET: &str = "aarch64-unknown-linux-gnu";
    const LINKER: &str = "aarch64-linux-gnu-gcc";
    const LIBRARIES: &str = "/usr/aarch64-linux-gnu";

    let has_target =
        shell::output(shell::command("rustc").args(["--print", "target-libdir", "--target", TARGET]))
            .is_some_and(|folder| Path::new(&folder).is_dir());
    let has_linker = shell::find_program(LINKER).is_some() && Path::new(LIBRARIES).is_dir();
    let emulator = ["qemu-aarch64", "qemu-aarch64-static"].into_iter().find_map(shell::find_program);
    let (true, true, Some(emulator)) = (has_target, has_linker, emulator) else {
        let remedy = format!(
            "`rustup target add {TARGET}` and, on Debian, `apt install gcc-aarch64-linux-gnu qemu-user`"
        );
        println!("skipped: needs {remedy}");
        let skipped = Skipped {
            test: "all tests".to_owned(),
            reason: format!("platform: no emulator; needs {remedy}"),
        };
        tallies.add(STEP, Tally { skipped: vec![skipped], ..Tally::default() });
        return Ok(());
    };
    let runner = format!("{} -L {LIBRARIES}", emulator.display());
    let (tally, result) = libtest::run(
        shell::cargo(&["test"])
            .args(["--package", "embedder", "--lib", "--target", TARGET])
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER)
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", runner)
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS", "--cfg without_oracles")
            .env("EVIDENCE_MODEL_DIR", &environment.model.0),
    );
    tallies.add(STEP, tally);
    result
}

fn node(environment: &Environment, tallies: &mut Tallies) -> Result<()> {
    shell::run(shell::command("npm").args(["run", "--silent", "docs"]))?;
    let mut files = node::test_files(paths::repo())?;
    files.retain(|file| !is_in(file, &[END_TO_END, OTHER_RUNTIMES]));
    let (servers, browsers): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| is_in(file, &SERVER_TESTS));
    let lane = |name, files| -> Result<Lane> {
        Ok(Lane { name, node: node_command(environment)?, files, concurrency: browsers_at_once() })
    };
    let (tally, result) = node::run(vec![lane("server", servers)?, lane("browser", browsers)?]);
    tallies.add("Node.js tests", tally);
    result
}

fn is_in(file: &Path, folders: &[&str]) -> bool {
    folders.iter().any(|folder| file.starts_with(paths::repo().join(folder)))
}

fn e2e(environment: &Environment, tallies: &mut Tallies) -> Result<()> {
    // With the features of the whole workspace, as the Rust tests have compiled it.
    shell::run(shell::cargo(&["build"]).args(["--quiet", "--workspace", "--example", "hostile-files"]))?;
    let files = node::test_files(&paths::repo().join(END_TO_END))?;
    // One at a time: each starts a demo on the first free ports it finds, and two could find the same ones.
    let lane = Lane { name: "e2e", node: node_command(environment)?, files, concurrency: 1 };
    let (tally, result) = node::run(vec![lane]);
    tallies.add("end-to-end tests", tally);
    result
}

/// One browser after the other, so that each keeps its time limits; all of them, also if tests fail in one.
fn browsers(environment: &Environment, tallies: &mut Tallies) -> Result<()> {
    let (firefox, webkit) = setup::other_browsers()?;
    let hooks = paths::repo().join(BROWSER_HOOKS);
    let files: Vec<_> = CROSS_BROWSER.iter().map(|file| paths::repo().join(file)).collect();
    let mut result = Ok(());
    for (name, variable, program) in
        [("firefox", "FIREFOX_PATH", firefox), ("webkit", "WEBKIT_BROWSER_PATH", webkit)]
    {
        let mut node = node_command(environment)?;
        node.env("TEST_BROWSER", name)
            .env(variable, program)
            .env("NODE_OPTIONS", format!("--import={}", hooks.display()));
        let (tally, ran) = node::run(vec![Lane { name, node, files: files.clone(), concurrency: 1 }]);
        tallies.add(name, tally);
        result = result.and(ran.with_context(|| format!("in {name}")));
    }
    let files = node::test_files(&paths::repo().join(OTHER_RUNTIMES))?;
    let lane = Lane { name: "runtimes", node: node_command(environment)?, files, concurrency: 1 };
    let (tally, ran) = node::run(vec![lane]);
    tallies.add("Node.js 20 to 24, Deno and Bun", tally);
    result.and(ran)
}

/// How many test files of a lane run at a time. Most start a browser of several processes: one needs four cores to keep its time
/// limits.
fn browsers_at_once() -> usize {
    const CORES_OF_ONE: usize = 4;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (cores / CORES_OF_ONE).max(1)
}

/// Node.js with what the tests read from the environment.
fn node_command(environment: &Environment) -> Result<Command> {
    let mut node = shell::command("node");
    node.env("EVIDENCE_MODEL_DIR", &environment.model.0)
        .env("CHROMIUM_PATH", &environment.chromium)
        .env("KB_BINARY", paths::kb_binary())
        .env("HOSTILE_FILES_BINARY", paths::cargo_target().join("debug/examples/hostile-files"))
        .env("XTASK_BINARY", std::env::current_exe()?);
    if let Some(generation) = &environment.generation {
        node.env("MODEL_SERVER_PYTHON", &generation.python).env("MODEL_SERVER_MODEL", &generation.model);
    }
    if let Some(python) = &environment.open_webui_python {
        node.env("OPEN_WEBUI_PYTHON", python);
    }
    Ok(node)
}
