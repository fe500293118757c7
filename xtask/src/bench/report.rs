//! The measured figures: a table for people and a JSON file for programs.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::target::Target;
use crate::shell;

/// All figures of one run.
pub(super) struct Report {
    metrics: Vec<Metric>,
    context: Map<String, Value>,
}

struct Metric {
    name: String,
    value: f64,
    unit: &'static str,
    /// The absolute figures behind a ratio, for the table.
    detail: String,
}

impl Report {
    /// Starts with what is known of the machine.
    pub(super) fn new() -> Result<Self> {
        let mut report = Self { metrics: Vec::new(), context: Map::new() };
        report.context("cpu", cpu_model());
        report.context("node", shell::output(shell::command("node").arg("--version")));
        report.context("commit", shell::output(shell::command("git").args(["rev-parse", "HEAD"])));
        report.context("logical_cpus", std::thread::available_parallelism()?.get());
        Ok(report)
    }

    /// Notes how the figures came about.
    pub(super) fn context(&mut self, name: &str, value: impl Into<Value>) {
        self.context.insert(name.to_owned(), value.into());
    }

    /// Adds a figure.
    pub(super) fn add(&mut self, name: impl Into<String>, value: f64, unit: &'static str) {
        self.metrics.push(Metric { name: name.into(), value, unit, detail: String::new() });
    }

    /// Adds the ratio of two times in milliseconds.
    pub(super) fn add_ratio(&mut self, name: impl Into<String>, ours_ms: f64, theirs_ms: f64) {
        let detail = format!("{} / {} ms", short(ours_ms), short(theirs_ms));
        self.metrics.push(Metric { name: name.into(), value: ours_ms / theirs_ms, unit: "ratio", detail });
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
        let mut rows =
            vec![["metric", "must", "aim", "value", "verdict", "ours / theirs"].map(str::to_owned)];
        let (aimed, others): (Vec<_>, Vec<_>) =
            self.metrics.iter().partition(|metric| Target::of(&metric.name).is_some());
        rows.extend(aimed.into_iter().map(Metric::row));
        println!();
        print_columns(&rows);
        if !others.is_empty() {
            println!("\nbehind them and beside them");
            print_columns(
                &others
                    .iter()
                    .map(|metric| [metric.name.clone(), format!("{} {}", short(metric.value), metric.unit)])
                    .collect::<Vec<_>>(),
            );
        }
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
    fn row(&self) -> [String; 6] {
        let Some(target) = Target::of(&self.name) else { return Default::default() };
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

/// What Linux calls the processor.
fn cpu_model() -> Option<String> {
    let description = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = description.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// As many digits as tell something.
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

pub(super) fn print_columns<const N: usize>(rows: &[[String; N]]) {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    for row in rows {
        let cells: Vec<_> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        println!("  {}", cells.join("  ").trim_end());
    }
}
