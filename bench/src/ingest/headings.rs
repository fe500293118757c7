//! Whether a passage is found more often if its headings stand before what is embedded.

use anyhow::{Context, Result};

use super::Bed;
use crate::report::Report;

/// Adds recalls with and without.
pub(super) fn measure(bed: &Bed, report: &mut Report) -> Result<()> {
    let mut program = bed.program();
    program
        .arg("headings")
        .args(["--pages", "supabase/sample-kb"])
        .args(["--questions", "bench/ingest/help-questions.jsonl"]);
    match &bed.evaluation {
        Some(data) => {
            program.arg("--data").arg(data);
            report.context("heading_data", data.file_name().unwrap_or_default().to_string_lossy());
        }
        None => println!("  no ../shared/eval/squad: only the sample pages; --data names another folder"),
    }
    let figures: Vec<(String, f64)> =
        serde_json::from_str(&bed.ask(&mut program)?).context("it printed something else than figures")?;
    for (name, value) in figures {
        report.add(name, value, "share");
    }
    Ok(())
}
