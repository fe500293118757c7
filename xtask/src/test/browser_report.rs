//! Which tests ran in which engine, as JSON and as Markdown.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use xtask::paths;

use super::node;
use super::tally::Tally;

/// What ran in one engine.
pub(super) struct Engine {
    name: &'static str,
    version: String,
    /// What ran and its seconds, by test file.
    suites: BTreeMap<String, (Tally, f64)>,
}

/// All engines.
#[derive(Default)]
pub(super) struct Report(Vec<Engine>);

impl Engine {
    /// Reads the results of a lane of tests.
    pub(super) fn read(name: &'static str, version: String, lane: &str) -> Result<Self> {
        Ok(Self { name, version, suites: node::results_by_file(lane)? })
    }

    fn title(&self) -> String {
        format!("{} {}", self.name, self.version).trim_end().to_owned()
    }

    fn to_json(&self) -> Value {
        let suites: Vec<_> = self
            .suites
            .iter()
            .map(|(file, (tally, seconds))| {
                let skipped: Vec<_> = tally
                    .skipped
                    .iter()
                    .map(|skipped| json!({ "test": skipped.test, "reason": skipped.reason }))
                    .collect();
                let failed: Vec<_> = tally.failed.iter().map(|failed| &failed.test).collect();
                json!({ "file": file, "passed": tally.passed, "failed": failed, "skipped": skipped, "seconds": seconds })
            })
            .collect();
        json!({ "name": self.name, "version": self.version, "suites": suites })
    }

    /// `96`, or `96, 3 skipped`, or an empty text if the suite did not run.
    fn cell(&self, file: &str) -> String {
        let Some((tally, _)) = self.suites.get(file) else { return String::new() };
        let mut cell = tally.passed.to_string();
        for (count, what) in [(tally.failed.len(), "failed"), (tally.skipped.len(), "skipped")] {
            if count > 0 {
                let _ = write!(cell, ", {count} {what}");
            }
        }
        cell
    }
}

impl Report {
    pub(super) fn add(&mut self, engine: Engine) {
        self.0.push(engine);
    }

    /// Prints the tables, and writes them to `target/browsers.md` and `target/browsers.json`.
    pub(super) fn write(&self) -> Result<()> {
        let markdown = self.to_markdown();
        println!("\n{markdown}");
        let json = json!({ "engines": self.0.iter().map(Engine::to_json).collect::<Vec<_>>() });
        for (name, content) in [("browsers.md", markdown), ("browsers.json", format!("{json:#}\n"))] {
            let path = paths::cargo_target().join(name);
            fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    /// Two tables: how many tests of each file passed, and why others were skipped.
    fn to_markdown(&self) -> String {
        let files: BTreeSet<_> = self.0.iter().flat_map(|engine| engine.suites.keys()).collect();
        let titles: Vec<_> = self.0.iter().map(Engine::title).collect();
        let mut rows: Vec<Vec<String>> = files
            .into_iter()
            .map(|file| {
                let cells = self.0.iter().map(|engine| engine.cell(file));
                std::iter::once(format!("`{file}`")).chain(cells).collect()
            })
            .collect();
        let totals = self
            .0
            .iter()
            .map(|engine| engine.suites.values().map(|(tally, _)| tally.passed).sum::<usize>().to_string());
        rows.push(std::iter::once("all".to_owned()).chain(totals).collect());
        let passed = table(&[vec!["tests passed".to_owned()], titles.clone()].concat(), &rows);
        let mut skipped = BTreeMap::<(&str, &str), Vec<&str>>::new();
        for (engine, title) in self.0.iter().zip(&titles) {
            for each in engine.suites.values().flat_map(|(tally, _)| &tally.skipped) {
                let reason = each.reason.strip_prefix("platform: ").unwrap_or(&each.reason);
                skipped.entry((title, reason)).or_default().push(&each.test);
            }
        }
        if skipped.is_empty() {
            return passed;
        }
        let rows: Vec<_> = skipped
            .into_iter()
            .map(|((title, reason), tests)| {
                vec![title.to_owned(), reason.to_owned(), tests.len().to_string(), names(&tests)]
            })
            .collect();
        let head = ["engine", "not tested there, because", "tests", "which"].map(str::to_owned);
        format!("{passed}\n{}", table(&head, &rows))
    }
}

/// `citations.test.mjs: a; b; launcher.test.mjs: c`.
fn names(tests: &[&str]) -> String {
    let mut by_file = BTreeMap::<&str, Vec<&str>>::new();
    for test in tests {
        let (file, name) = test.split_once(": ").unwrap_or(("", test));
        by_file.entry(file.rsplit('/').next().unwrap_or_default()).or_default().push(name);
    }
    let named: Vec<_> = by_file.iter().map(|(file, names)| format!("{file}: {}", names.join("; "))).collect();
    named.join("; ")
}

/// A table of Markdown.
fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let row = |cells: &[String]| {
        let escaped: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", escaped.join(" | "))
    };
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    [row(head), rule].into_iter().chain(rows.iter().map(|cells| row(cells))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::tally::{Failed, Skipped};

    fn tally(passed: usize, failed: usize, reasons: &[&str]) -> Tally {
        let test = |name: &str| format!("web/a.test.mjs: {name}");
        let failed = (0..failed).map(|_| Failed { test: test("fails"), error: String::new() }).collect();
        let skipped = reasons.iter().map(|&reason| Skipped { test: test("b"), reason: reason.to_owned() });
        Tally { passed, failed, skipped: skipped.collect(), ..Tally::default() }
    }

    #[test]
    fn the_tables_count_the_tests_of_each_engine_and_give_the_reasons_of_skipped_ones() {
        let engine = |name, version: &str, suites: Vec<(&str, Tally)>| Engine {
            name,
            version: version.to_owned(),
            suites: suites.into_iter().map(|(file, tally)| (file.to_owned(), (tally, 1.5))).collect(),
        };
        let report = Report(vec![
            engine(
                "Firefox",
                "1.0",
                vec![("web/a.test.mjs", tally(3, 1, &["platform: no x", "platform: no x"]))],
            ),
            engine("Deno", "", vec![("b.test.mjs", tally(2, 0, &[]))]),
        ]);
        assert_eq!(
            report.to_markdown(),
            "| tests passed | Firefox 1.0 | Deno |\n\
             |---|---|---|\n\
             | `b.test.mjs` |  | 2 |\n\
             | `web/a.test.mjs` | 3, 1 failed, 2 skipped |  |\n\
             | all | 3 | 2 |\n\
             \n\
             | engine | not tested there, because | tests | which |\n\
             |---|---|---|---|\n\
             | Firefox 1.0 | no x | 2 | a.test.mjs: b; b |\n"
        );
        assert_eq!(
            report.0[0].to_json()["suites"][0]["skipped"][1],
            json!({ "test": "web/a.test.mjs: b", "reason": "platform: no x" })
        );
    }
}
