//! The time of the insights with a year of generated conversations: the functions on native Postgres, and the page in Chromium in
//! front of it.

use std::time::Instant;

use crate::local::Stop;
use anyhow::{Context, Result};
use clap::Args;
use serde_json::Value;
use xtask::{build, paths, setup, shell};

use crate::report::{Report, print_columns};
use crate::{folder, program};

const NOTES: &str = "\
page_…: from the choice of a period to the frame that shows the section, for a signed-in administrator in Chromium, with the local
  Supabase on native Postgres; page_slowest_p95_ms: the slowest of all sections, periods and assistants
chat_insights…: one call in the database; …_all: all assistants, …_one: one of three";

#[derive(Args)]
pub(crate) struct Options {
    /// Questions and answers of the year.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    messages: u32,
    /// Calls of each function.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// How often the page shows each period.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    views: u32,
    /// Measure the existing build of the page.
    #[arg(long)]
    no_build: bool,
}

/// Prints tables and writes `target/bench/insights.json`.
pub(super) fn measure(options: &Options) -> Result<()> {
    let started = Instant::now();
    let stop = Stop::on_signal()?;
    build::run_unless(options.no_build, &[build::Part::Web])?;
    let chromium = setup::browser()?;
    let mut bench = shell::command("node");
    bench
        .arg(paths::repo().join("bench/insights/run.mjs"))
        .env("MESSAGES", options.messages.to_string())
        .env("RUNS", options.runs.to_string())
        .env("VIEWS", options.views.to_string())
        .env("CHROMIUM_PATH", &chromium);
    let printed = program::run(&mut bench, &stop).context("the bench of the insights failed")?;
    let results: Value = serde_json::from_str(&printed).context("its output is not JSON")?;
    let report = report(&results)?;
    let file = folder()?.join("insights.json");
    report.write(&file)?;
    report.print();
    println!("\nthe page, median and 95th percentile in ms");
    print_columns(&page_table(&results)?);
    println!("\n{NOTES}");
    println!("\nwritten: {} ({:.0} s)", file.display(), started.elapsed().as_secs_f32());
    Ok(())
}

fn report(results: &Value) -> Result<Report> {
    let mut report = Report::new()?;
    for fact in ["database", "rows", "bytes"] {
        report.context(fact, results[fact].clone());
    }
    let mut slowest = 0.0_f64;
    for view in list(results, "page")? {
        let section = text(view, "section")?.to_lowercase().replace(' ', "_");
        for percentile in ["p50", "p95"] {
            let name = format!("page_{section}_{}_days_{}_{percentile}_ms", view["days"], scope(view));
            report.add(name, number(view, &format!("/ms/{percentile}"))?, "ms");
        }
        slowest = slowest.max(number(view, "/ms/p95")?);
    }
    report.add("page_slowest_p95_ms", slowest, "ms");
    for view in list(results, "views")? {
        let function = text(view, "function")?;
        for percentile in ["p50", "p95"] {
            let name = format!("{function}_{}_days_{}_{percentile}_ms", view["days"], scope(view));
            report.add(name, number(view, &format!("/ms/{percentile}"))?, "ms");
        }
    }
    for turn in ["counted_ms", "uncounted_ms"] {
        report.add(format!("record_turn_{turn}_p50"), number(results, &format!("/turns/{turn}/p50"))?, "ms");
    }
    report.add("load_seconds", number(results, "/load_seconds")?, "s");
    Ok(report)
}

/// A row for each section; columns for periods and assistants, in the order of the measurement.
fn page_table(results: &Value) -> Result<Vec<Vec<String>>> {
    let mut rows: Vec<Vec<String>> = vec![vec!["section".to_owned()]];
    for view in list(results, "page")? {
        let column = format!("{} days, {}", view["days"], scope(view));
        if !rows[0].contains(&column) {
            rows[0].push(column);
        }
        let section = text(view, "section")?;
        let cell = format!("{:.0} / {:.0}", number(view, "/ms/p50")?, number(view, "/ms/p95")?);
        match rows.iter_mut().find(|row| row[0] == section) {
            Some(row) => row.push(cell),
            None => rows.push(vec![section.to_owned(), cell]),
        }
    }
    Ok(rows)
}

fn scope(view: &Value) -> &'static str {
    if view["assistant"].is_null() { "all" } else { "one" }
}

fn list<'a>(results: &'a Value, name: &str) -> Result<&'a Vec<Value>> {
    results[name].as_array().with_context(|| format!("no {name}"))
}

fn text<'a>(view: &'a Value, name: &str) -> Result<&'a str> {
    view[name].as_str().with_context(|| format!("no {name}"))
}

fn number(value: &Value, path: &str) -> Result<f64> {
    value.pointer(path).and_then(Value::as_f64).with_context(|| format!("no {path}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::page_table;

    #[test]
    fn the_table_has_a_row_for_each_section_and_a_column_for_each_period() {
        let view = |section: &str, days: u32, p50: f64| json!({ "section": section, "days": days, "assistant": null, "ms": { "p50": p50, "p95": 9.0 } });
        let results =
            json!({ "page": [view("A", 7, 1.0), view("B", 7, 2.0), view("A", 30, 3.0), view("B", 30, 4.0)] });
        let rows = page_table(&results).unwrap();
        assert_eq!(
            rows,
            [["section", "7 days, all", "30 days, all"], ["A", "1 / 9", "3 / 9"], ["B", "2 / 9", "4 / 9"]]
        );
    }
}
