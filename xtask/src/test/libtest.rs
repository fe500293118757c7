//! Runs tests of crates and parses the output of libtest.

use std::process::Command;

use anyhow::{Result, ensure};
use xtask::{say, shell};

use super::tally::{Failed, Skipped, Tally};

/// Runs `cargo test`. Returns what ran, also if a test failed. `on_line` is called before each line of output is read.
pub(super) fn run(cargo_test: &mut Command, mut on_line: impl FnMut()) -> (Tally, Result<()>) {
    let mut tally = Tally::default();
    let result = shell::run_by_line(cargo_test, |line| {
        on_line();
        say!("{line}");
        read_line(line, &mut tally);
    });
    let result = result.and_then(|()| {
        ensure!(!tally.is_empty(), "no test ran, or the output of libtest has changed");
        Ok(())
    });
    (tally, result)
}

/// Adds a line `test result: ok. 20 passed; …`, `test NAME ... FAILED` or `test NAME ... ignored, REASON`. Ignores other lines.
fn read_line(line: &str, tally: &mut Tally) {
    if let Some(summary) = line.strip_prefix("test result: ") {
        tally.passed += count(summary, " passed");
    } else if let Some(test) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
        tally.failed.push(Failed { test: test.to_owned(), error: String::new() });
    } else if let Some((test, reason)) =
        line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ignored"))
    {
        let reason = reason.strip_prefix(", ").unwrap_or_default();
        tally.skipped.push(Skipped { test: test.to_owned(), reason: reason.to_owned() });
    }
}

/// The number before a word.
fn count(summary: &str, word: &str) -> usize {
    let before = summary.split_once(word).map_or("", |(before, _)| before);
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_failed_and_ignored_tests_of_several_programs_are_added_up() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests",
            "test shell::tests::a ... ok",
            "test child ... ignored, started by parent",
            "test other ... ignored",
            "test failing ... FAILED",
            "test result: FAILED. 1 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: ok. 20 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.01s",
        ] {
            read_line(line, &mut tally);
        }
        let skipped = |test: &str, reason: &str| Skipped { test: test.to_owned(), reason: reason.to_owned() };
        assert_eq!(
            tally,
            Tally {
                passed: 21,
                failed: vec![Failed { test: "failing".to_owned(), error: String::new() }],
                todo: 0,
                skipped: vec![skipped("child", "started by parent"), skipped("other", "")]
            }
        );
    }
}
