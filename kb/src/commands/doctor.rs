//! `kb doctor`.

use std::process::ExitCode;
use std::time::Duration;

use embedder::Embedder;
use serde_json::json;

use crate::cli::DoctorArgs;
use crate::doctor::{Mended, Model, Report, examine, examine_failure, gather, mend};
use crate::knowledge_base::KnowledgeBase;
use crate::output::{counted, print, print_json, printable};
use crate::supabase::{Backoff, Client, SupabaseError};

/// A server that is down should be told soon.
const BACKOFF: Backoff = Backoff { retries: 2, first_pause: Duration::from_millis(250) };

pub(super) async fn run(args: DoctorArgs) -> anyhow::Result<ExitCode> {
    let failure = Embedder::from_dir(&args.model.model_dir).err().map(|error| error.to_string());
    let model = Model { fingerprint: embedder::fingerprint().to_owned(), failure };
    let (report, mended) = match look(&args, &model).await {
        Ok(found) => found,
        Err(error) => (examine_failure(&error, &model), None),
    };
    if args.json {
        let mut value = report.json();
        if let Some(mended) = &mended {
            value["mended"] = json!(mended);
        }
        print_json(&value)?;
    } else {
        let mended = mended.iter().flat_map(mended_lines);
        print(&mended.chain([report.to_string()]).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(if report.has_problems() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn look(args: &DoctorArgs, model: &Model) -> Result<(Report, Option<Mended>), SupabaseError> {
    let client = Client::new(&args.server.supabase_url, &args.server.secret_key()?, BACKOFF)?;
    let knowledge_base = KnowledgeBase::new(client);
    let mended = if args.mend { Some(mend(&knowledge_base).await?) } else { None };
    let facts = gather(&knowledge_base, model.clone()).await?;
    Ok((examine(&facts), mended))
}

fn mended_lines(mended: &Mended) -> Vec<String> {
    let mut lines: Vec<_> = mended
        .left_over
        .iter()
        .map(|source| format!("deleted what was begun of {}", printable(source)))
        .collect();
    if !mended.orphans.is_empty() {
        let files = counted(mended.orphans.len() as u64, "original");
        lines.push(format!("deleted {files} that no document referred to"));
    }
    if lines.is_empty() {
        lines.push("nothing to delete".to_owned());
    }
    lines.push(String::new());
    lines
}
