//! Whether a passage is found more often if its headings are part of the embedded text.

use anyhow::{Context, Result};

use super::Workbench;
use crate::report::Report;

/// Adds the recalls with and without headings.
pub(super) fn measure(bench: &Workbench, report: &mut Report) -> Result<()> {
    let mut program = bench.program();
    program
        .arg("headings")
        .args(["--pages", "supabase/sample-kb"])
        .args(["--questions", "bench/ingest/help-questions.jsonl"]);
    match &bench.evaluation {
        Some(data) => {
            program.arg("--data").arg(data);
            report.context("heading_data", data.file_name().unwrap_or_default().to_string_lossy());
        }
        None => println!("  no --data DIR and no squad in --eval-dir: measuring the sample pages only"),
    }
    let figures: Vec<(String, f64)> =
        serde_json::from_str(&bench.output(&mut program)?).context("its output is not a list of figures")?;
    for (name, value) in figures {
        report.add(name, value, "share");
    }
    Ok(())
}
