//! `kb doctor`.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use crate::cli::DoctorArgs;
use crate::doctor::{Fixed, Model, Report, examine, examine_failure, fix, gather};
use crate::knowledge_base::KnowledgeBase;
use crate::model_files::load_model;
use crate::output::{counted, print, print_json, printable};
use crate::supabase::{Backoff, Client, SupabaseError};

/// Shorter than the default, to report quickly that a server is down.
const BACKOFF: Backoff = Backoff { retries: 2, first_pause: Duration::from_millis(250) };

pub(super) async fn run(args: DoctorArgs) -> anyhow::Result<ExitCode> {
    let failure = load_model(&args.model.model_dir).err().map(|error| error.to_string());
    let model = Model { fingerprint: embedder::fingerprint().to_owned(), failure };
    let (report, fixed) = match check(&args, &model).await {
        Ok(found) => found,
        Err(error) => (examine_failure(&error, &model), None),
    };
    if args.common.json {
        let mut value = report.json();
        if let Some(fixed) = &fixed {
            value["fixed"] = json!(fixed);
        }
        print_json(&value)?;
    } else {
        let fixed = fixed.iter().flat_map(fixed_lines);
        print(&fixed.chain([report.to_string()]).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(if report.has_problems() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn check(args: &DoctorArgs, model: &Model) -> Result<(Report, Option<Fixed>), SupabaseError> {
    let client = Client::new(args.common.server.url()?, &args.common.server.secret_key()?, BACKOFF)?;
    let knowledge_base = KnowledgeBase::new(client);
    let fixed = if args.fix { Some(fix(&knowledge_base).await?) } else { None };
    let facts = gather(&knowledge_base, model.clone()).await?;
    Ok((examine(&facts), fixed))
}

fn fixed_lines(fixed: &Fixed) -> Vec<String> {
    let mut lines: Vec<_> = fixed
        .left_over
        .iter()
        .map(|source| format!("deleted the incomplete {}", printable(source)))
        .collect();
    if !fixed.orphans.is_empty() {
        let files = counted(fixed.orphans.len() as u64, "original");
        lines.push(format!("deleted {files} that no document referred to"));
    }
    if lines.is_empty() {
        lines.push("nothing to delete".to_owned());
    }
    lines.push(String::new());
    lines
}
