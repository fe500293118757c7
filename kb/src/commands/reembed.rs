//! `kb reembed`.

use std::process::ExitCode;

use serde_json::json;

use super::connect;
use crate::calibration::recalibrate;
use crate::cli::ReembedArgs;
use crate::knowledge_base::Reason;
use crate::model_files::load_model;
use crate::output::{Table, counted, number, print, print_json, printable, text};
use crate::progress::Progress;
use crate::reembed::{Reembedded, Refused, Survey, reembed, survey};

/// The reasons in the order of the columns, with what the total says of them.
const REASONS: [(Reason, &str); 3] =
    [(Reason::Stale, "edited"), (Reason::Missing, "without a vector"), (Reason::Model, "from another model")];

pub(super) async fn run(args: ReembedArgs) -> anyhow::Result<ExitCode> {
    let knowledge_base = connect(&args.common.server)?;
    let model = embedder::fingerprint();
    let found = survey(&knowledge_base, model).await?;
    let mut done = Reembedded::default();
    let mut calibration = Ok(None);
    if !args.dry_run {
        let progress = Progress::on_stderr();
        let load = || load_model(&args.model.model_dir);
        let mut embedder = None;
        if found.chunks > 0 {
            let embedder = embedder.insert(load()?);
            progress.line(&format!("{} to embed", counted(found.chunks as u64, "passage")));
            done = reembed(&knowledge_base, embedder, model, None, Some(found.chunks), &progress).await?;
        }
        let load = || embedder.map_or_else(load, Ok);
        calibration = recalibrate(&knowledge_base, model, done.written > 0, load, &progress).await;
        match &calibration {
            Ok(Some(calibration)) => progress.line(&calibration.to_string()),
            Ok(None) => {}
            Err(error) => progress.line(&format!("warning: not calibrated: {error}")),
        }
    }
    if args.common.json {
        print_json(&json!({
            "dry_run": args.dry_run,
            "found": found.chunks,
            "reasons": found.reasons,
            "documents": found.documents,
            "written": done.written,
            "changed_meanwhile": done.changed_meanwhile,
            "too_long": done.too_long,
            "refused": done.refused,
            "calibration": calibration.as_ref().ok(),
            "calibration_failure": calibration.as_ref().err().map(ToString::to_string),
        }))?;
    } else if found.chunks == 0 {
        print("Every passage has a vector of this model and of its current text.")?;
    } else if args.dry_run {
        print(&format!("{}\n\n{}; nothing was changed", table(&found).render(), total(&found)))?;
    } else {
        print(&result(&done))?;
    }
    Ok(if done.refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds a table with a row per document.
fn table(survey: &Survey) -> Table {
    let mut table = Table::new([number("edited"), number("missing"), number("model"), text("source")]);
    for (source, reasons) in &survey.documents {
        let counts = REASONS.iter().map(|(reason, _)| reasons.get(reason).copied().unwrap_or(0).to_string());
        table.row(counts.chain([source.clone()]));
    }
    table
}

fn total(survey: &Survey) -> String {
    let part = |(reason, text): &(Reason, &str)| Some(format!("{} {text}", survey.reasons.get(reason)?));
    let parts = REASONS.iter().filter_map(part);
    let parts: Vec<_> = parts.collect();
    format!("{} to embed: {}", counted(survey.chunks as u64, "passage"), parts.join(", "))
}

fn result(done: &Reembedded) -> String {
    let mut lines = vec![format!("embedded {}", counted(done.written as u64, "passage"))];
    if done.changed_meanwhile > 0 {
        let changed = counted(done.changed_meanwhile as u64, "passage");
        lines.push(format!("{changed} changed meanwhile; run this again"));
    }
    if done.too_long > 0 {
        let long = counted(done.too_long as u64, "passage");
        lines.push(format!("{long} longer than the limit of the model, whose ends are found by words only"));
    }
    for Refused { source, chunk_id, reason } in &done.refused {
        lines.push(format!("failed   {}: passage {chunk_id}: {}", printable(source), printable(reason)));
    }
    lines.join("\n")
}
