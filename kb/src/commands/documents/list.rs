//! `kb list`.

use std::process::ExitCode;

use super::super::connect;
use crate::cli::ListArgs;
use crate::knowledge_base::{Filter, Overview, Status, Trouble};
use crate::output::{Column, Table, counted, number, print, print_json, printable, text, word};

pub(crate) async fn list(args: ListArgs) -> anyhow::Result<ExitCode> {
    let knowledge_base = connect(&args.common.server)?;
    let filter = Filter { collection: args.collection, status: args.status, stale: args.stale };
    let documents = knowledge_base.overviews(&filter).await?;
    if args.common.json {
        print_json(&documents)?;
    } else if !documents.is_empty() {
        let troubles = knowledge_base.troubles(filter.collection.as_deref()).await?;
        print(&format!("{}\n\n{}", table(&documents).render(), footer(&documents, &troubles)))?;
    } else if filter.collection.is_none() && filter.status.is_none() && !filter.stale {
        print("The knowledge base is empty. `kb sync DIR` fills it with the documents of a folder.")?;
    } else {
        print("No document matches; `kb list` without options shows all.")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn table(documents: &[Overview]) -> Table {
    let has_audiences = documents.iter().any(|document| document.audience.is_some());
    let mut columns: Vec<Column> = vec![word("status"), word("enabled")];
    if has_audiences {
        columns.push(text("audience"));
    }
    columns.extend([number("chunks"), number("stale"), text("source")]);
    let mut table = Table::new(columns);
    for document in documents {
        let mut row = vec![document.status.name().to_owned(), yes_or_no(document.enabled).to_owned()];
        if has_audiences {
            row.push(audience(document));
        }
        row.extend([document.chunks.to_string(), document.stale_chunks.to_string(), document.source.clone()]);
        table.row(row);
    }
    table
}

/// Describes the audience of a document.
pub(super) fn audience(document: &Overview) -> String {
    match document.audience.as_deref() {
        None => "default".to_owned(),
        Some([]) => "nobody".to_owned(),
        Some(entries) => entries.join(", "),
    }
}

pub(super) fn yes_or_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

/// Counts by status, and what is not as new as its source.
fn footer(documents: &[Overview], troubles: &[Trouble]) -> String {
    let with = |status| documents.iter().filter(|document| document.status == status).count();
    let mut parts = Vec::new();
    for status in [Status::Ready, Status::Pending, Status::Failed] {
        if with(status) > 0 {
            parts.push(format!("{} {}", with(status), status.name()));
        }
    }
    let disabled = documents.iter().filter(|document| !document.enabled).count();
    if disabled > 0 {
        parts.push(format!("{disabled} disabled"));
    }
    let stale: u64 = documents.iter().map(|document| document.stale_chunks).sum();
    if stale > 0 {
        parts.push(format!("{} (`kb reembed` fixes them)", counted(stale, "stale chunk")));
    }
    let mut footer = format!("{}: {}", counted(documents.len() as u64, "document"), parts.join(", "));
    for trouble in troubles {
        footer.push_str(&format!("\n  {}", printable(&trouble.to_string())));
    }
    footer
}
