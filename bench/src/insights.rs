//! The time of the insights functions on native Postgres with a year of generated conversations.

use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;
use xtask::{python, shell};

use crate::folder;
use crate::report::Report;

#[derive(Args)]
pub(crate) struct Options {
    /// Questions and answers of the year.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    messages: u32,
    /// Calls of each function.
    #[arg(long, value_name = "N", default_value_t = 30)]
    runs: u32,
}

/// Prints a table and writes `target/bench/insights.json`.
pub(super) fn measure(options: &Options) -> Result<()> {
    let started = Instant::now();
    let python = python::with_packages("bench-search-venv", "bench/search/requirements.txt")?;
    println!("• {} messages: bench/insights/measure.py", options.messages);
    let output = shell::command(python)
        .arg("bench/insights/measure.py")
        .args(["--messages", &options.messages.to_string(), "--runs", &options.runs.to_string()])
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "the measurement failed ({})", output.status);
    let results: Value = serde_json::from_slice(&output.stdout).context("its output is not JSON")?;
    let report = report(&results)?;
    let file = folder()?.join("insights.json");
    report.write(&file)?;
    report.print();
    println!("\nwritten: {} ({:.0} s)", file.display(), started.elapsed().as_secs_f32());
    Ok(())
}

fn report(results: &Value) -> Result<Report> {
    let mut report = Report::new()?;
    for fact in ["database", "rows", "bytes"] {
        report.context(fact, results[fact].clone());
    }
    let number = |value: &Value, path: &str| {
        value.pointer(path).and_then(Value::as_f64).with_context(|| format!("no {path}"))
    };
    for view in results["views"].as_array().context("no views")? {
        let function = view["function"].as_str().context("no function")?;
        let scope = if view["assistant"].is_null() { "all" } else { "one" };
        for percentile in ["p50", "p95"] {
            let name = format!("{function}_{}_days_{scope}_{percentile}_ms", view["days"]);
            report.add(name, number(view, &format!("/ms/{percentile}"))?, "ms");
        }
    }
    for turn in ["counted_ms", "uncounted_ms"] {
        report.add(format!("record_turn_{turn}_p50"), number(results, &format!("/turns/{turn}/p50"))?, "ms");
    }
    report.add("load_seconds", number(results, "/load_seconds")?, "s");
    Ok(report)
}
