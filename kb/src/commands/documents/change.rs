//! `kb enable`, `kb disable` and `kb remove`.

use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::bail;
use serde_json::json;

use super::super::connect;
use super::selected;
use crate::cli::{RemoveArgs, VisibilityArgs};
use crate::knowledge_base::{Precision, StoredDocument};
use crate::output::{counted, print, print_json, printable};

/// Printed once, before or after a removal.
const REMOVAL_NOTICE: &str = "If a document is still in its source, the next `kb sync` adds it again; `kb disable` hides it \
                          permanently.";

pub(crate) async fn set_enabled(args: VisibilityArgs, enabled: bool) -> anyhow::Result<ExitCode> {
    let knowledge_base = connect(&args.common.server)?;
    let documents = knowledge_base.all_documents().await?;
    let chosen = selected(&documents, &args.documents, Precision::PathEnd)?;
    let ids: Vec<_> = chosen.iter().map(|document| document.id).collect();
    let changed = knowledge_base.set_enabled(&ids, enabled).await?;
    let changed: Vec<_> = chosen.into_iter().filter(|document| changed.contains(&document.id)).collect();
    if changed.is_empty() {
        bail!("somebody else removed the documents; `kb list` shows all documents");
    }
    if args.common.json {
        print_json(&json!({ "enabled": enabled, "documents": sources(&changed) }))?;
    } else {
        let done = if enabled { "enabled" } else { "disabled" };
        print(&lines(done, &sources(&changed)))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn remove(args: RemoveArgs) -> anyhow::Result<ExitCode> {
    let knowledge_base = connect(&args.common.server)?;
    let documents = knowledge_base.all_documents().await?;
    let chosen = selected(&documents, &args.documents, Precision::PathEnd)?;
    let sources = sources(&chosen);
    if !args.yes && !is_confirmed(&sources)? {
        print("nothing was removed")?;
        return Ok(ExitCode::FAILURE);
    }
    for document in &chosen {
        knowledge_base.remove(document).await?;
    }
    if args.common.json {
        print_json(&json!({ "removed": sources }))?;
    } else if args.yes {
        print(&format!("{}\n{REMOVAL_NOTICE}", lines("removed", &sources)))?;
    } else {
        print(&lines("removed", &sources))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Without duplicates: a source may have several rows.
fn sources<'a>(documents: &[&'a StoredDocument]) -> Vec<&'a str> {
    let mut sources: Vec<&str> = Vec::new();
    for document in documents {
        if !sources.contains(&document.source.as_str()) {
            sources.push(&document.source);
        }
    }
    sources
}

fn lines(done: &str, sources: &[&str]) -> String {
    sources.iter().map(|source| format!("{done} {}", printable(source))).collect::<Vec<_>>().join("\n")
}

/// Asks for confirmation on the terminal.
fn is_confirmed(sources: &[&str]) -> anyhow::Result<bool> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        bail!("nothing was removed: without a terminal to ask on, pass --yes to confirm");
    }
    let mut stderr = std::io::stderr();
    for source in sources {
        writeln!(stderr, "  {}", printable(source))?;
    }
    let what = counted(sources.len() as u64, "document");
    write!(stderr, "{REMOVAL_NOTICE}\nRemove {what} with passages and uploaded originals? [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
