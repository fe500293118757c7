//! The measured figures: a table for people and a JSON file for programs.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};
use xtask::shell;

use crate::target::Target;

/// All figures of one run.
pub(super) struct Report {
    metrics: Vec<Metric>,
    context: Map<String, Value>,
}

struct Metric {
    name: String,
    value: f64,
    unit: &'static str,
    /// The absolute figures that a ratio is made of, for the table.
    detail: String,
}

impl Report {
    /// Starts with a description of the machine.
    pub(super) fn new() -> Result<Self> {
        let mut report = Self { metrics: Vec::new(), context: Map::new() };
        report.context("cpu", cpu_model());
        report.context("node", shell::output(shell::command("node").arg("--version")));
        report.context("commit", shell::output(shell::command("git").args(["rev-parse", "HEAD"])));
        report.context("logical_cpus", std::thread::available_parallelism()?.get());
        Ok(report)
    }

    /// Adds a fact about how the figures were measured.
    pub(super) fn context(&mut self, name: &str, value: impl Into<Value>) {
        self.context.insert(name.to_owned(), value.into());
    }

    /// Adds a figure.
    pub(super) fn add(&mut self, name: impl Into<String>, value: f64, unit: &'static str) {
        self.metrics.push(Metric { name: name.into(), value, unit, detail: String::new() });
    }

    /// Adds the ratio of two times in milliseconds.
    pub(super) fn add_ratio(&mut self, name: impl Into<String>, ours_ms: f64, baseline_ms: f64) {
        let detail = format!("{} / {} ms", short(ours_ms), short(baseline_ms));
        self.metrics.push(Metric { name: name.into(), value: ours_ms / baseline_ms, unit: "ratio", detail });
    }

    /// Writes `{"metrics": [{"name", "value", "unit"}], "context": {…}}`.
    pub(super) fn write(&self, file: &Path) -> Result<()> {
        let metrics: Vec<_> = self
            .metrics
            .iter()
            .map(|metric| json!({ "name": metric.name, "value": metric.value, "unit": metric.unit }))
            .collect();
        let report = json!({ "metrics": metrics, "context": self.context });
        fs::write(file, serde_json::to_string_pretty(&report)? + "\n")
            .with_context(|| format!("cannot write {}", file.display()))
    }

    /// Prints the figures that have a target, then the others, then what they were measured with.
    pub(super) fn print(&self) {
        self.print_targets(std::iter::empty());
        let others: Vec<_> =
            self.metrics.iter().filter(|metric| Target::find(&metric.name).is_none()).collect();
        if !others.is_empty() {
            println!("\nother figures");
            print_columns(
                &others
                    .iter()
                    .map(|metric| [metric.name.clone(), format!("{} {}", short(metric.value), metric.unit)])
                    .collect::<Vec<_>>(),
            );
        }
        self.print_context();
    }

    /// Prints the figures that have a target, then what they were measured with. Also prints each target whose name begins
    /// with one of `prefixes` and that has no figure, so that a target that was not measured does not pass for one reached.
    pub(super) fn print_verdicts(&self, prefixes: &[String]) {
        let measured = |target: &Target| self.metrics.iter().any(|metric| target.matches(&metric.name));
        let missing: Vec<_> = prefixes.iter().flat_map(|prefix| Target::starting_with(prefix)).collect();
        self.print_targets(missing.into_iter().filter(|target| !measured(target)));
        self.print_context();
    }

    fn print_targets(&self, missing: impl Iterator<Item = &'static Target>) {
        let mut rows =
            vec![["metric", "must", "aim", "value", "verdict", "ours / baseline"].map(str::to_owned)];
        let with_target = self.metrics.iter().filter(|metric| Target::find(&metric.name).is_some());
        rows.extend(with_target.map(Metric::row));
        if self.metrics.iter().all(|metric| metric.detail.is_empty()) {
            rows[0][5].clear();
        }
        rows.extend(missing.map(Metric::missing_row));
        println!();
        print_columns(&rows);
    }

    fn print_context(&self) {
        let context: Vec<_> = self
            .context
            .iter()
            .filter(|(_, value)| value.is_string() || value.is_number())
            .map(|(name, value)| [name.clone(), value.to_string()])
            .collect();
        println!("\nmeasured with");
        print_columns(&context);
    }
}

impl Metric {
    /// The row of a target without a figure.
    fn missing_row(target: &Target) -> [String; 6] {
        let cells = [target.name(), &target.must(), &target.aim(), "–", "not measured", ""];
        cells.map(str::to_owned)
    }

    fn row(&self) -> [String; 6] {
        let Some(target) = Target::find(&self.name) else { return Default::default() };
        let unit = match self.unit {
            "ratio" | "cosine" | "correlation" => String::new(),
            unit => format!(" {unit}"),
        };
        [
            self.name.clone(),
            target.must(),
            target.aim(),
            format!("{}{unit}", short(self.value)),
            target.verdict(self.value).to_owned(),
            self.detail.clone(),
        ]
    }
}

/// The processor's name in Linux.
fn cpu_model() -> Option<String> {
    let description = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = description.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Rounds to the digits that are significant.
fn short(value: f64) -> String {
    let decimals = match value.abs() {
        0.9..1.0 => 5,
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// Prints rows of any number of cells in columns.
pub(super) fn print_columns(rows: &[impl AsRef<[String]>]) {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        let row = row.as_ref();
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for row in rows {
        let cells = row.as_ref().iter().zip(&widths);
        let cells: Vec<_> = cells.map(|(cell, width)| format!("{cell:<width$}")).collect();
        println!("  {}", cells.join("  ").trim_end());
    }
}
