//! Runs test files in Node.js and reads their results from a reporter.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;
use xtask::{paths, shell};

use super::tally::{Failed, Skipped, Tally};

const REPORTER: &str = "xtask/src/test/node-reporter.mjs";
/// Folders without tests of this repository, in addition to hidden ones.
const FOREIGN_FOLDERS: [&str; 2] = ["node_modules", "target"];

/// Test files that run one after the other, or a few at a time.
pub(super) struct Lane {
    /// For the name of the file with its results.
    pub(super) name: &'static str,
    pub(super) node: Command,
    pub(super) files: Vec<PathBuf>,
    /// How many files run at a time.
    pub(super) concurrency: usize,
}

/// Runs the lanes side by side. Returns what ran, also if a test failed.
pub(super) fn run(lanes: Vec<Lane>) -> (Tally, Result<()>) {
    thread::scope(|scope| {
        let running: Vec<_> = lanes.into_iter().map(|lane| scope.spawn(|| lane.run())).collect();
        let mut tally = Tally::default();
        let mut result = Ok(());
        for lane in running {
            match lane.join() {
                Ok(Ok((ran, ended))) => {
                    tally.add(ran);
                    result = result.and(ended);
                }
                Ok(Err(error)) => result = result.and(Err(error)),
                Err(_) => result = result.and(Err(anyhow!("a thread that reads test results panicked"))),
            }
        }
        (tally, result)
    })
}

impl Lane {
    fn run(mut self) -> Result<(Tally, Result<()>)> {
        let results = results_of(self.name);
        let mut destination = std::ffi::OsString::from("--test-reporter-destination=");
        destination.push(&results);
        self.node
            .args(["--test", &format!("--test-concurrency={}", self.concurrency)])
            .args(["--test-reporter=spec", "--test-reporter-destination=stdout"])
            .arg(format!("--test-reporter=./{REPORTER}"))
            .arg(destination)
            .args(&self.files);
        // By line: another lane may print at the same time.
        let ran = shell::run_by_line(&mut self.node, |line| println!("{line}"));
        let text =
            fs::read_to_string(&results).with_context(|| format!("cannot read {}", results.display()))?;
        let mut tally = Tally::default();
        let mut seconds = BTreeMap::new();
        for line in text.lines() {
            read_line(line, &mut tally, &mut seconds)
                .with_context(|| format!("the reporter printed {line:?}"))?;
        }
        print_slowest(self.name, seconds);
        let is_empty = tally.is_empty();
        let failed = tally.failed.len();
        // Not the command of the runner, which names some hundred files.
        ensure!(failed == 0 || ran.is_err(), "the runner did not notice {failed} failed tests");
        let checked = match ran {
            Err(_) if failed > 0 => Err(anyhow!("{failed} failed in Node.js")),
            ran => ran.and_then(|()| {
                ensure!(!is_empty, "no test ran");
                Ok(())
            }),
        };
        Ok((tally, checked))
    }
}

/// The file with the results of a lane.
fn results_of(lane: &str) -> PathBuf {
    paths::cargo_target().join(format!("{lane}-tests.jsonl"))
}

/// The results of the last run of a lane, and the seconds it took, by test file.
pub(super) fn results_by_file(lane: &str) -> Result<BTreeMap<String, (Tally, f64)>> {
    let results = results_of(lane);
    let text = fs::read_to_string(&results).with_context(|| format!("cannot read {}", results.display()))?;
    let mut by_file = BTreeMap::<_, (Tally, f64)>::new();
    for line in text.lines() {
        let (tally, all_seconds) = by_file.entry(file_of(&serde_json::from_str(line)?)).or_default();
        let mut seconds = BTreeMap::new();
        read_line(line, tally, &mut seconds)?;
        *all_seconds += seconds.values().sum::<f64>();
    }
    Ok(by_file)
}

/// The test file of a result, in the repository.
fn file_of(result: &Value) -> String {
    let file = Path::new(result["file"].as_str().unwrap_or_default());
    file.strip_prefix(paths::repo()).unwrap_or(file).display().to_string()
}

/// Adds the result of a test to the tally, and its time to that of its file.
fn read_line(line: &str, tally: &mut Tally, seconds: &mut BTreeMap<PathBuf, f64>) -> Result<()> {
    let result: Value = serde_json::from_str(line)?;
    if let (Some(file), Some(time)) = (result["file"].as_str(), result["seconds"].as_f64()) {
        *seconds.entry(PathBuf::from(file)).or_default() += time;
    }
    if result["isSuite"] == true {
        return Ok(());
    }
    let is = |name: &str| result[name].as_bool().with_context(|| format!("no {name}"));
    let text = |name: &str| result[name].as_str().unwrap_or_default();
    let test = || format!("{}: {}", file_of(&result), text("name"));
    if is("isSkipped")? {
        tally.skipped.push(Skipped { test: test(), reason: text("reason").to_owned() });
    } else if is("isTodo")? {
        tally.todo += 1;
    } else if is("isPassed")? {
        tally.passed += 1;
    } else {
        tally.failed.push(Failed { test: test(), error: text("error").to_owned() });
    }
    Ok(())
}

/// The files to look at first when the tests take too long.
fn print_slowest(lane: &str, seconds: BTreeMap<PathBuf, f64>) {
    const FILES: usize = 10;
    let all: f64 = seconds.values().sum();
    let mut files: Vec<_> = seconds.into_iter().collect();
    files.sort_by(|(_, left), (_, right)| right.total_cmp(left));
    println!("slowest of the lane {lane} ({all:.0} s of tests):");
    for (file, seconds) in files.iter().take(FILES) {
        println!("{seconds:>7.1} s  {}", file.strip_prefix(paths::repo()).unwrap_or(file).display());
    }
}

/// Every `*.test.mjs` below a folder, sorted: a test file anywhere in the repository runs.
pub(super) fn test_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            if !name.starts_with('.') && !FOREIGN_FOLDERS.contains(&&*name) {
                files.extend(test_files(&entry.path())?);
            }
        } else if name.ends_with(".test.mjs") {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_and_failed_tests_are_named_with_their_file_and_reason() {
        let (mut tally, mut seconds) = (Tally::default(), BTreeMap::new());
        let file = paths::repo().join("web/tests/a.test.mjs");
        let line =
            |end: &str| format!(r#"{{"name":"opens","file":"{}",{end},"seconds":1.5}}"#, file.display());
        for end in [
            r#""isPassed":true,"isSkipped":true,"reason":"platform: x","isTodo":false"#,
            r#""isPassed":true,"isSkipped":false,"reason":"","isTodo":false"#,
            r#""isPassed":false,"isSkipped":false,"reason":"","isTodo":false,"error":"is shut""#,
            r#""isPassed":false,"isSkipped":false,"reason":"","isTodo":true"#,
        ] {
            read_line(&line(end), &mut tally, &mut seconds).unwrap();
        }
        read_line(&line(r#""isSuite":true"#), &mut tally, &mut seconds).unwrap();
        let test = || "web/tests/a.test.mjs: opens".to_owned();
        let skipped = vec![Skipped { test: test(), reason: "platform: x".to_owned() }];
        let failed = vec![Failed { test: test(), error: "is shut".to_owned() }];
        assert_eq!(tally, Tally { passed: 1, failed, todo: 1, skipped });
        assert!(read_line("{}", &mut tally, &mut seconds).is_err());
        assert_eq!(seconds, BTreeMap::from([(file, 5.0 * 1.5)]));
    }

    #[test]
    fn test_files_are_found_in_every_folder_but_those_of_others() {
        let files = test_files(paths::repo()).unwrap();
        let has = |end: &str| files.iter().any(|file| file.ends_with(end));
        assert!(has("tests/setup/apt.test.mjs") && has("tests/e2e/demo.test.mjs"), "{files:?}");
        assert!(!files.iter().any(|file| file.to_string_lossy().contains("node_modules")));
    }
}
