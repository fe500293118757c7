//! Runs test files in Node.js and reads their results from a reporter.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask::{paths, shell};

use super::tally::{Skipped, Tally};

const REPORTER: &str = "xtask/src/test/node-reporter.mjs";
/// Folders without tests of this repository, in addition to hidden ones.
const FOREIGN_FOLDERS: [&str; 2] = ["node_modules", "target"];

/// Runs these files, `concurrency` at a time. Returns what ran, also if a test failed.
pub(super) fn run(node: &mut Command, files: &[PathBuf], concurrency: usize) -> (Tally, Result<()>) {
    match run_and_read(node, files, concurrency) {
        Ok(results) => results,
        Err(error) => (Tally::default(), Err(error)),
    }
}

fn run_and_read(node: &mut Command, files: &[PathBuf], concurrency: usize) -> Result<(Tally, Result<()>)> {
    let results = paths::cargo_target().join("node-tests.jsonl");
    let mut destination = std::ffi::OsString::from("--test-reporter-destination=");
    destination.push(&results);
    node.args(["--test", &format!("--test-concurrency={concurrency}")])
        .args(["--test-reporter=spec", "--test-reporter-destination=stdout"])
        .arg(format!("--test-reporter=./{REPORTER}"))
        .arg(destination)
        .args(files);
    let ran = shell::run(node);
    let text = fs::read_to_string(&results).with_context(|| format!("cannot read {}", results.display()))?;
    let mut tally = Tally::default();
    for line in text.lines() {
        read_line(line, &mut tally).with_context(|| format!("the reporter printed {line:?}"))?;
    }
    let is_empty = tally.is_empty();
    let checked = ran.and_then(|()| {
        ensure!(!is_empty, "no test ran");
        Ok(())
    });
    Ok((tally, checked))
}

fn read_line(line: &str, tally: &mut Tally) -> Result<()> {
    let result: Value = serde_json::from_str(line)?;
    let is = |name: &str| result[name].as_bool().with_context(|| format!("no {name}"));
    if is("isSkipped")? {
        let text = |name: &str| result[name].as_str().unwrap_or_default();
        let file = Path::new(text("file"));
        let file = file.strip_prefix(paths::repo()).unwrap_or(file).display();
        let skipped =
            Skipped { test: format!("{file}: {}", text("name")), reason: text("reason").to_owned() };
        tally.skipped.push(skipped);
    } else if is("isTodo")? {
        tally.todo += 1;
    } else if is("isPassed")? {
        tally.passed += 1;
    } else {
        tally.failed += 1;
    }
    Ok(())
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
    fn a_skipped_test_is_named_with_its_file_and_reason() {
        let mut tally = Tally::default();
        let file = paths::repo().join("web/tests/a.test.mjs");
        let line = |end: &str| format!(r#"{{"name":"opens","file":"{}",{end}}}"#, file.display());
        for end in [
            r#""isPassed":true,"isSkipped":true,"reason":"platform: x","isTodo":false"#,
            r#""isPassed":true,"isSkipped":false,"reason":"","isTodo":false"#,
            r#""isPassed":false,"isSkipped":false,"reason":"","isTodo":false"#,
            r#""isPassed":false,"isSkipped":false,"reason":"","isTodo":true"#,
        ] {
            read_line(&line(end), &mut tally).unwrap();
        }
        let skipped =
            Skipped { test: "web/tests/a.test.mjs: opens".to_owned(), reason: "platform: x".to_owned() };
        assert_eq!(tally, Tally { passed: 1, failed: 1, todo: 1, skipped: vec![skipped] });
        assert!(read_line("{}", &mut tally).is_err());
    }

    #[test]
    fn test_files_are_found_in_every_folder_but_those_of_others() {
        let files = test_files(paths::repo()).unwrap();
        let has = |end: &str| files.iter().any(|file| file.ends_with(end));
        assert!(has("tests/setup/apt.test.mjs") && has("tests/e2e/demo.test.mjs"), "{files:?}");
        assert!(!files.iter().any(|file| file.to_string_lossy().contains("node_modules")));
    }
}
