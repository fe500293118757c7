//! Runs test files in Node.js and reads their results from a reporter.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;
use xtask::{paths, shell};

use super::tally::{Failed, Skipped, Tally};

const REPORTER: &str = "xtask/src/test/node-reporter.mjs";
/// Folders without tests of this repository, in addition to hidden ones.
const FOREIGN_FOLDERS: [&str; 2] = ["node_modules", "target"];

/// A file that takes longer has a test that hangs; without a limit it would hang the whole run. The slowest file takes a fifth of this.
const MAX_FILE_MINUTES: u64 = 15;

/// Test files that run one after the other.
pub(super) struct Lane {
    /// For the name of the file with its results.
    pub(super) name: String,
    pub(super) node: Command,
    pub(super) files: Vec<PathBuf>,
}

/// Runs the lanes side by side. A lane that has run its own files takes the first of the `common` ones that are left, so that all
/// lanes end together. Returns what ran, also if a test failed.
pub(super) fn run(lanes: Vec<Lane>, common: Vec<PathBuf>) -> (Tally, Result<()>) {
    let common = &Mutex::new(VecDeque::from(common));
    thread::scope(|scope| {
        let running: Vec<_> = lanes.into_iter().map(|lane| scope.spawn(move || lane.run(common))).collect();
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
    fn run(mut self, common: &Mutex<VecDeque<PathBuf>>) -> Result<(Tally, Result<()>)> {
        let mut results = File::create(results_of(&self.name)).context("cannot keep test results")?;
        let mut tally = Tally::default();
        let mut seconds = BTreeMap::new();
        let mut result = Ok(());
        let mut files = 0;
        let mut own = VecDeque::from(std::mem::take(&mut self.files));
        while let Some(file) = own.pop_front().or_else(|| first_of(common)) {
            let (lines, ran) = self.run_file(&file)?;
            files += 1;
            results.write_all(lines.as_bytes())?;
            let before = tally.failed.len();
            for line in lines.lines() {
                read_line(line, &mut tally, &mut seconds)
                    .with_context(|| format!("the reporter printed {line:?}"))?;
            }
            let failed = tally.failed.len() - before;
            ensure!(failed == 0 || ran.is_err(), "the runner did not notice {failed} failed tests");
            // A failed test is named in the tally; the command of the runner says less.
            result = result.and(if failed > 0 { Ok(()) } else { ran });
        }
        print_slowest(&self.name, seconds);
        let checked = result.and_then(|()| {
            ensure!(tally.failed.is_empty(), "{} failed in Node.js", tally.failed.len());
            ensure!(files == 0 || !tally.is_empty(), "no test ran");
            Ok(())
        });
        Ok((tally, checked))
    }

    /// Runs a file. Returns the lines of the reporter, also if a test failed.
    fn run_file(&self, file: &Path) -> Result<(String, Result<()>)> {
        let lines = results_of(&self.name).with_extension("jsonl.part");
        let mut destination = OsString::from("--test-reporter-destination=");
        destination.push(&lines);
        let mut node = same_program(&self.node);
        node.args(["--test", "--test-reporter=spec", "--test-reporter-destination=stdout"])
            .arg(format!("--test-reporter=./{REPORTER}"))
            .arg(destination)
            .arg(format!("--test-timeout={}", MAX_FILE_MINUTES * 60 * 1000))
            .arg(file)
            .env("TEST_FILE", file);
        // By line: another lane may print at the same time.
        let ran = shell::run_by_line(&mut node, |line| {
            if !is_count(line) {
                println!("{line}");
            }
        });
        let text = fs::read_to_string(&lines).with_context(|| format!("cannot read {}", lines.display()))?;
        fs::remove_file(&lines)?;
        Ok((text, ran))
    }
}

fn first_of(files: &Mutex<VecDeque<PathBuf>>) -> Option<PathBuf> {
    files.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

/// The same program in the same folder and environment, without arguments.
fn same_program(command: &Command) -> Command {
    let mut same = shell::command(command.get_program());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => same.env(name, value),
            None => same.env_remove(name),
        };
    }
    same
}

/// Whether a line of the reporter `spec` counts the tests of one file, as in `ℹ pass 7`. All are counted at the end.
fn is_count(line: &str) -> bool {
    const COUNTS: [&str; 8] =
        ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo", "duration_ms"];
    let mut words = line.split(' ');
    words.next() == Some("ℹ")
        && words.next().is_some_and(|word| COUNTS.contains(&word))
        && words.next().is_some_and(|count| count.parse::<f64>().is_ok())
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
    fn counts_of_one_file_are_not_printed_but_other_lines_are() {
        for count in ["ℹ tests 12", "ℹ pass 0", "ℹ duration_ms 1234.567"] {
            assert!(is_count(count), "{count}");
        }
        for other in ["", "ℹ tests of the day", "ℹ Error: x", "✔ pass 1 (3ms)", "  ℹ pass"] {
            assert!(!is_count(other), "{other}");
        }
    }

    #[test]
    fn every_file_runs_once_and_a_failure_is_found_in_whichever_lane_it_ran() {
        let folder = std::env::temp_dir().join(format!("xtask-lanes-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let file = |name: &str, body: &str| {
            let path = folder.join(format!("{name}.test.mjs"));
            fs::write(&path, format!("import {{ test }} from 'node:test';\ntest('{name}', () => {body});\n"))
                .unwrap();
            path
        };
        let lane = |name: &str, files| Lane {
            name: format!("unit-{}-{name}", std::process::id()),
            node: shell::command("node"),
            files,
        };
        let lanes = || vec![lane("a", vec![file("own", "{}")]), lane("b", vec![])];
        let (tally, result) = run(lanes(), vec![file("first", "{}"), file("second", "{}")]);
        assert_eq!((tally.passed, tally.failed.len()), (3, 0));
        result.unwrap();
        let (tally, result) =
            run(lanes(), vec![file("first", "{}"), file("bad", "{ throw new Error('is bad\\nand worse') }")]);
        assert_eq!((tally.passed, tally.failed.len()), (2, 1));
        assert_eq!(tally.failed[0].error, "is bad\nand worse");
        assert!(result.is_err());
        for name in ["a", "b"] {
            fs::remove_file(results_of(&lane(name, vec![]).name)).unwrap();
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn test_files_are_found_in_every_folder_but_those_of_others() {
        let files = test_files(paths::repo()).unwrap();
        let has = |end: &str| files.iter().any(|file| file.ends_with(end));
        assert!(has("tests/setup/apt.test.mjs") && has("tests/e2e/demo.test.mjs"), "{files:?}");
        assert!(!files.iter().any(|file| file.to_string_lossy().contains("node_modules")));
    }
}
