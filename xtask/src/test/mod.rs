//! `cargo xtask test`: lints and builds, then runs the tests.

mod browser_report;
mod browsers;
mod libtest;
mod node;
mod prepare;
mod tally;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use xtask::setup::{Generation, ModelDir};
use xtask::{paths, shell};

use self::browsers::Browsers;
use self::node::Lane;
use self::tally::{Skipped, Tallies, Tally};

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
    /// The whole product in a real browser. Beside the tests of the suite before, if both run.
    E2e,
    /// If named: the tests of the browser packages in Firefox and WebKit, and the embedder in Node.js 20 to 24, Deno and Bun. Without
    /// a name: the golden vectors and a first answer in both browsers.
    Browsers,
}

/// The tests of the suite [`Suite::E2e`].
const END_TO_END: &str = "tests/e2e";

/// The tests of which one runs at a time. Most start a demo, which has several servers and a browser; others build the documentation or
/// run package managers.
const DEMO_LANE: [&str; 6] =
    [END_TO_END, "docs-site/tests", "packages", "tests/deployment", "tests/integrations", "tests/setup"];

/// The longest of the other tests. They start first, so that none is left when all others have ended.
const LONG: [&str; 7] = [
    "web/tests/browser/axe.test.mjs",
    "supabase/tests/supabase.test.mjs",
    "web/tests/browser/security.test.mjs",
    "web/tests/browser/on-device.test.mjs",
    "edge-chat/tests/faults.test.mjs",
    "web/tests/browser/instant-results.test.mjs",
    "supabase/tests/native.test.mjs",
];

/// Programs and files that the suites use.
struct Environment {
    model: ModelDir,
    chromium: PathBuf,
    /// For tests of the widget alone.
    headless_shell: Option<PathBuf>,
    /// For the suites in Node.js.
    generation: Option<Generation>,
    /// For the suites in Node.js.
    open_webui_python: Option<PathBuf>,
}

/// Runs the named suites, or all of them if none is named.
pub(crate) fn run(named: &[Suite]) -> Result<()> {
    let suites: Vec<_> =
        Suite::ALL.into_iter().filter(|suite| named.contains(suite) || named.is_empty()).collect();
    let started = Instant::now();
    let browsers = Browsers::find(named)?;
    let mut tallies = Tallies::default();
    let prepared = prepare::run(&suites, &mut tallies);
    let environment = prepared.inspect_err(|_| tallies.print())?;
    // The documents, migrations or programs may have changed since. The first test that needs the data makes it again.
    if sample_demo_data().exists() {
        fs::remove_dir_all(sample_demo_data())?;
    }
    let result = run_suites(&suites, &environment, &browsers, &mut tallies);
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

fn run_suites(
    suites: &[Suite],
    environment: &Environment,
    browsers: &Browsers,
    tallies: &mut Tallies,
) -> Result<()> {
    let has = |suite| suites.contains(&suite);
    for &suite in suites {
        // Lints and Rust tests have run before: no other test runs if they found something. End-to-end tests run beside others.
        if matches!(suite, Suite::Lint | Suite::Rust) || (suite == Suite::E2e && has(Suite::Node)) {
            continue;
        }
        let started = Instant::now();
        println!("\n• {}", suite.name());
        let result = match suite {
            Suite::Lint | Suite::Rust => Ok(()),
            Suite::Arm => arm(environment, tallies),
            Suite::Node => node(environment, tallies, has(Suite::E2e)),
            Suite::E2e => e2e(environment, tallies),
            Suite::Browsers => browsers.run(environment, tallies),
        };
        result.with_context(|| format!("{} failed", suite.name()))?;
        println!("✓ {} ({:.0} s)", suite.name(), started.elapsed().as_secs_f32());
    }
    Ok(())
}

impl Suite {
    /// In the order in which they run.
    const ALL: [Self; 6] = [Self::Lint, Self::Rust, Self::Arm, Self::Node, Self::E2e, Self::Browsers];

    fn name(self) -> &'static str {
        match self {
            Self::Lint => "format, lints and dependencies",
            Self::Rust => "Rust tests",
            Self::Arm => "embedder on 64-bit ARM",
            Self::Node => "Node.js tests",
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
}

/// Runs the Rust tests. `on_line` is called for each line of output.
fn rust(model: &ModelDir, tallies: &mut Tallies, mut on_line: impl FnMut()) -> Result<()> {
    let mut tests = shell::cargo(&["test"]);
    tests.args(["--workspace", "--all-targets", "--no-fail-fast"]);
    let mut doc_tests = shell::cargo(&["test"]);
    doc_tests.args(["--workspace", "--doc", "--no-fail-fast"]);
    for (step, mut command) in [("Rust tests", tests), ("Rust doc tests", doc_tests)] {
        let (tally, result) = libtest::run(command.env("EVIDENCE_MODEL_DIR", &model.0), &mut on_line);
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
            // Off in Cargo.toml, for the speed of kb.
            .args(["--config", "profile.dev.package.embedder.debug-assertions=true"])
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER)
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", runner)
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS", "--cfg without_oracles")
            .env("EVIDENCE_MODEL_DIR", &environment.model.0),
        || (),
    );
    tallies.add(STEP, tally);
    result
}

/// The tests in Node.js, in two lanes: two cores wait less than one, and more than two browsers miss their time limits.
fn node(environment: &Environment, tallies: &mut Tallies, with_end_to_end: bool) -> Result<()> {
    let mut files = node::test_files(paths::repo())?;
    files
        .retain(|file| !is_in(file, &[browsers::FOLDER]) && (with_end_to_end || !is_in(file, &[END_TO_END])));
    let (demos, mut common): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| is_in(file, &DEMO_LANE));
    common.sort_by_key(|file| LONG.iter().position(|long| is_in(file, &[long])).unwrap_or(LONG.len()));
    let mut lanes = vec![lane("demo", environment, demos)?];
    for number in 1..=browsers_at_once() {
        lanes.push(lane(&format!("common-{number}"), environment, Vec::new())?);
    }
    let (tally, result) = node::run(lanes, common);
    tallies.add("Node.js tests", tally);
    result
}

fn lane(name: &str, environment: &Environment, files: Vec<PathBuf>) -> Result<Lane> {
    Ok(Lane { name: name.to_owned(), node: node_command(environment)?, files })
}

fn is_in(file: &Path, folders: &[&str]) -> bool {
    folders.iter().any(|folder| file.starts_with(paths::repo().join(folder)))
}

fn e2e(environment: &Environment, tallies: &mut Tallies) -> Result<()> {
    let files = node::test_files(&paths::repo().join(END_TO_END))?;
    let (tally, result) = node::run(vec![lane("e2e", environment, files)?], Vec::new());
    tallies.add("end-to-end tests", tally);
    result
}

/// How many test files run beside the demo lane. Most start a browser of several processes: one needs four cores to keep its time
/// limits.
fn browsers_at_once() -> usize {
    const CORES_OF_ONE: usize = 4;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (cores / CORES_OF_ONE).max(1)
}

/// The data folder of a demo with the sample documents, which end-to-end tests copy.
fn sample_demo_data() -> PathBuf {
    paths::cargo_target().join("sample-demo")
}

/// Node.js with what the tests read from the environment.
fn node_command(environment: &Environment) -> Result<Command> {
    let mut node = shell::command("node");
    node.env("EVIDENCE_MODEL_DIR", &environment.model.0)
        .env("CHROMIUM_PATH", &environment.chromium)
        .env("KB_BINARY", paths::kb_binary())
        .env("HOSTILE_FILES_BINARY", paths::cargo_target().join("debug/examples/hostile-files"))
        .env("STATEMENTS_BINARY", paths::cargo_target().join("debug/examples/statements"))
        .env("XTASK_BINARY", std::env::current_exe()?)
        .env("SAMPLE_DEMO_DATA", sample_demo_data());
    if let Some(program) = &environment.headless_shell {
        node.env("CHROMIUM_SHELL_PATH", program);
    }
    if let Some(generation) = &environment.generation {
        node.env("MODEL_SERVER_PYTHON", &generation.python).env("MODEL_SERVER_MODEL", &generation.model);
    }
    if let Some(python) = &environment.open_webui_python {
        node.env("OPEN_WEBUI_PYTHON", python);
    }
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_that_are_named_here_exist() {
        for named in DEMO_LANE.iter().chain(&LONG).chain([&browsers::FOLDER]) {
            assert!(paths::repo().join(named).exists(), "{named}");
        }
    }
}
