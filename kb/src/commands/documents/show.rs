//! `kb show`.

use std::process::ExitCode;

use anyhow::Context;
use serde_json::{Value, json};

use super::super::connect;
use super::list::{audience, yes_or_no};
use super::selected;
use crate::cli::ShowArgs;
use crate::knowledge_base::{Overview, Precision, Status, StoredPassage};
use crate::output::{counted, excerpt, moment, print, print_json, printable};

/// Maximum length of an excerpt.
const EXCERPT_CHARS: usize = 240;

pub(crate) async fn show(args: ShowArgs) -> anyhow::Result<ExitCode> {
    let knowledge_base = connect(&args.common.server)?;
    let documents = knowledge_base.all_documents().await?;
    let rows = selected(&documents, std::slice::from_ref(&args.document), Precision::Part)?;
    // Prefer the version that people see.
    let row = rows.iter().find(|row| row.status == Status::Ready).or(rows.first());
    let id = row.context("there is no such document")?.id;
    let document = knowledge_base.overview(id).await?;
    let document = document.context("somebody else just removed the document; run this again")?;
    let passages = knowledge_base.passages(id).await?;
    if args.common.json {
        print_json(&with_passages(&document, &passages)?)?;
    } else {
        let passages: Vec<_> = passages.iter().map(|passage| describe(passage, args.full)).collect();
        let sections: Vec<_> = [properties(&document)].into_iter().chain(passages).collect();
        print(&sections.join("\n\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn with_passages(document: &Overview, passages: &[StoredPassage]) -> anyhow::Result<Value> {
    let mut value = serde_json::to_value(document)?;
    value["passages"] = json!(passages);
    Ok(value)
}

fn properties(document: &Overview) -> String {
    let stale = match document.stale_chunks {
        0 => String::new(),
        count => format!(", {count} stale"),
    };
    let optional = |value: &Option<String>| value.clone().unwrap_or_default();
    let lines = [
        ("source", document.source.clone()),
        ("id", document.id.to_string()),
        ("title", optional(&document.title)),
        ("status", document.status.name().to_owned()),
        ("failure", optional(&document.failure)),
        ("enabled", yes_or_no(document.enabled).to_owned()),
        ("audience", audience(document)),
        ("language", document.language.clone()),
        ("type", optional(&document.content_type)),
        ("url", optional(&document.url)),
        ("original", if document.has_original { "in the bucket" } else { "not kept" }.to_owned()),
        ("chunks", format!("{}{stale}", document.chunks)),
        ("model", document.models.join(", ")),
        ("cited", counted(document.times_cited, "time")),
        ("added", format!("{} UTC", moment(&document.created_at))),
        ("changed", format!("{} UTC", moment(&document.updated_at))),
    ];
    let lines = lines.iter().filter(|(_, value)| !value.is_empty());
    lines.map(|(name, value)| format!("{name:<10}{}", printable(value))).collect::<Vec<_>>().join("\n")
}

fn describe(passage: &StoredPassage, full: bool) -> String {
    let mut place = vec![format!("[{}]", passage.ordinal + 1)];
    if passage.stale {
        place.push("STALE".to_owned());
    }
    match &passage.meta.page {
        Some(Value::String(page)) => place.push(format!("page {page}")),
        Some(page) => place.push(format!("page {page}")),
        None => {}
    }
    place.extend(passage.meta.section.clone());
    place.extend(passage.meta.url.clone());
    let text: Vec<String> = match full {
        true => passage.content.lines().map(printable).collect(),
        false => vec![excerpt(&passage.content, EXCERPT_CHARS)],
    };
    let text = text.iter().map(|line| format!("    {line}").trim_end().to_owned());
    [printable(&place.join("  "))].into_iter().chain(text).collect::<Vec<_>>().join("\n")
}
