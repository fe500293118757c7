//! The tests of the browser packages in Firefox and WebKit, and the embedder in other runtimes of JavaScript.

use std::path::PathBuf;
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, anyhow};
use xtask::{paths, setup, shell};

use super::browser_report::{Engine, Report};
use super::node::{self, Lane};
use super::tally::{Skipped, Tallies, Tally};
use super::{Environment, Suite, node_command};

/// The embedder's vectors, bit for bit.
const GOLDEN: &str = "tests/embedder/golden.test.mjs";
/// A visitor's first answer from the real demo; in Firefox and WebKit, or in the one that `TEST_BROWSER` names.
const FIRST_ANSWER: &str = "tests/browsers/first-answer.test.mjs";
/// The driver of WebKit.
const DRIVER: &str = "tests/browsers/webkit.test.mjs";
/// The embedder in Node.js, Deno and Bun.
const RUNTIMES: &str = "tests/browsers/runtimes.test.mjs";
const EMBEDDER: &str = "embedder-wasm/npm/tests/browser.test.mjs";
/// Downloads that go on after a cut.
const RESUME: &str = "embedder-wasm/npm/tests/resume.test.mjs";
const WIDGET: &str = "web/tests/browser";

/// Tests of the widget's folder that test no browser.
const NOT_OF_BROWSERS: [&str; 1] = ["insights-bench.test.mjs"];

/// Makes tests skip what a browser other than Chromium, or its driver, cannot do.
const HOOKS: &str = "tests/browsers/hooks.mjs";

/// The tests that only this suite runs.
pub(super) const FOLDER: &str = "tests/browsers";

/// A browser other than Chromium.
struct Browser {
    /// For `TEST_BROWSER`.
    id: &'static str,
    name: &'static str,
    /// The environment variable with the path of its program.
    variable: &'static str,
    program: PathBuf,
}

/// The browsers of this run.
pub(super) struct Browsers {
    /// Only what protects most for its time.
    is_core: bool,
    /// Empty if they can be neither found nor installed.
    found: Vec<Browser>,
}

impl Browsers {
    /// Finds or installs them, before anything that takes long: all tests run in them if the suite is named, and a core without names.
    pub(super) fn find(named: &[Suite]) -> Result<Self> {
        let found = match named {
            [] => setup::other_browsers_if_possible()?,
            named => named.contains(&Suite::Browsers).then(setup::other_browsers).transpose()?,
        };
        let found = found.map_or_else(Vec::new, |(firefox, webkit)| {
            vec![
                Browser { id: "firefox", name: "Firefox", variable: "FIREFOX_PATH", program: firefox },
                Browser { id: "webkit", name: "WebKitGTK", variable: "WEBKIT_BROWSER_PATH", program: webkit },
            ]
        });
        Ok(Self { is_core: named.is_empty(), found })
    }

    pub(super) fn run(&self, environment: &Environment, tallies: &mut Tallies) -> Result<()> {
        if self.is_core { self.core(environment, tallies) } else { self.all(environment, tallies) }
    }

    /// The golden vectors and a visitor's first answer, in both.
    fn core(&self, environment: &Environment, tallies: &mut Tallies) -> Result<()> {
        const STEP: &str = "Firefox and WebKit";
        if self.found.is_empty() {
            let reason =
                "platform: no Firefox or no WebKitGTK; `cargo xtask setup browsers` installs them on Debian";
            println!("skipped: {reason}");
            let skipped = Skipped { test: "all tests".to_owned(), reason: reason.to_owned() };
            tallies.add(STEP, Tally { skipped: vec![skipped], ..Tally::default() });
            return Ok(());
        }
        let lanes = self.found.iter().map(|browser| {
            Ok(lane(browser.id, browser.command(environment)?, vec![paths::repo().join(GOLDEN)]))
        });
        let (mut tally, compared) = node::run(lanes.collect::<Result<_>>()?, Vec::new());
        // One demo for both, which takes seconds to start.
        let mut node = node_command(environment)?;
        node.envs(self.found.iter().map(|browser| (browser.variable, &browser.program)));
        let (answers, answered) =
            node::run(vec![lane("first-answer", node, vec![paths::repo().join(FIRST_ANSWER)])], Vec::new());
        tally.add(answers);
        tallies.add(STEP, tally);
        compared.and(answered)
    }

    /// Everything, also if tests fail in one browser. Both at the same time, which takes two cores 50 minutes and breaks no time limit.
    fn all(&self, environment: &Environment, tallies: &mut Tallies) -> Result<()> {
        let mut result = Ok(());
        let mut report = Report::default();
        let ran: Vec<_> = thread::scope(|scope| {
            let running: Vec<_> =
                self.found.iter().map(|browser| scope.spawn(|| browser.run(environment))).collect();
            running.into_iter().map(thread::ScopedJoinHandle::join).collect()
        });
        for (browser, ran) in self.found.iter().zip(ran) {
            let (tally, ran) = ran.map_err(|_| anyhow!("the thread of {} panicked", browser.name))??;
            tallies.add(browser.name, tally);
            result = result.and(ran.with_context(|| format!("in {}", browser.name)));
            report.add(Engine::read(browser.name, browser.version(), browser.id)?);
        }
        let runtimes = "Node.js 20 to 24, Deno and Bun";
        let files = vec![paths::repo().join(RUNTIMES)];
        let (tally, ran) = node::run(vec![lane("runtimes", node_command(environment)?, files)], Vec::new());
        tallies.add(runtimes, tally);
        report.add(Engine::read(runtimes, String::new(), "runtimes")?);
        report.write()?;
        result.and(ran)
    }
}

fn lane(name: &str, node: Command, files: Vec<PathBuf>) -> Lane {
    Lane { name: name.to_owned(), node, files }
}

impl Browser {
    /// Runs all its tests. Returns what ran, also if a test failed.
    fn run(&self, environment: &Environment) -> Result<(Tally, Result<()>)> {
        Ok(node::run(vec![lane(self.id, self.command(environment)?, self.tests()?)], Vec::new()))
    }

    /// All test files that it runs.
    fn tests(&self) -> Result<Vec<PathBuf>> {
        let mut files =
            [GOLDEN, EMBEDDER, RESUME, FIRST_ANSWER].map(|file| paths::repo().join(file)).to_vec();
        files.extend(node::test_files(&paths::repo().join(WIDGET))?);
        files.retain(|file| !NOT_OF_BROWSERS.iter().any(|name| file.ends_with(name)));
        if self.id == "webkit" {
            files.push(paths::repo().join(DRIVER));
        }
        Ok(files)
    }

    /// Node.js for tests in this browser.
    fn command(&self, environment: &Environment) -> Result<Command> {
        let mut node = node_command(environment)?;
        node.env("TEST_BROWSER", self.id)
            .env(self.variable, &self.program)
            .env("NODE_OPTIONS", format!("--import={}", paths::repo().join(HOOKS).display()));
        Ok(node)
    }

    /// Its version, for instance `153.0esr`; empty if it does not say.
    fn version(&self) -> String {
        let printed = shell::output(shell::command(&self.program).arg("--version")).unwrap_or_default();
        printed.split_whitespace().last().unwrap_or_default().to_owned()
    }
}
