//! `kb stats`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;

use super::{connect, missing_secret_hint};
use crate::cli::StatsArgs;
use crate::knowledge_base::{Day, Filter, LastSync, Overview, Status};
use crate::output::{Table, moment, number, print, print_json, text, word};

/// Length of the longest bar; a row then fits into 80 characters.
const MAX_BAR_CHARS: usize = 10;

/// Explains the columns of a day.
const LEGEND: &str = "Days are in UTC. p50, p95: milliseconds within which 50 % and 95 % of the answers were given. cited: \
                      different documents. liked: of the answers that users rated.";

/// Totals of a collection.
#[derive(Debug, Default, Serialize)]
struct Collection {
    documents: u64,
    ready: u64,
    pending: u64,
    failed: u64,
    disabled: u64,
    chunks: u64,
    stale_chunks: u64,
    last_sync: Option<LastSync>,
}

pub(super) async fn run(args: StatsArgs) -> anyhow::Result<ExitCode> {
    let knowledge_base = connect(&args.common.server)?;
    let documents = knowledge_base.overviews(&Filter::default()).await?;
    let syncs = knowledge_base.last_syncs().await?;
    let days = knowledge_base.days(args.days as usize).await?;
    let collections = collections(&documents, syncs);
    if args.common.json {
        let total = total(&collections);
        print_json(&json!({ "total": total, "collections": collections, "days": days }))?;
    } else {
        let mut text = format!("{}\n\n{}", knowledge_base_text(&collections), chat_text(&days));
        if days.is_empty()
            && let Some(hint) = missing_secret_hint(&knowledge_base).await?
        {
            text = format!("{text}\n{hint}");
        }
        print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn collections(documents: &[Overview], syncs: Vec<LastSync>) -> BTreeMap<String, Collection> {
    let mut collections: BTreeMap<String, Collection> = BTreeMap::new();
    for document in documents {
        let collection = collections.entry(document.collection.clone()).or_default();
        collection.documents += 1;
        match document.status {
            Status::Ready => collection.ready += 1,
            Status::Pending => collection.pending += 1,
            Status::Failed => collection.failed += 1,
        }
        collection.disabled += u64::from(!document.enabled);
        collection.chunks += document.chunks;
        collection.stale_chunks += document.stale_chunks;
    }
    for sync in syncs {
        let collection = collections.entry(sync.collection.clone()).or_default();
        collection.last_sync = Some(sync);
    }
    collections
}

fn total(collections: &BTreeMap<String, Collection>) -> Collection {
    collections.values().fold(Collection::default(), |sum, one| Collection {
        documents: sum.documents + one.documents,
        ready: sum.ready + one.ready,
        pending: sum.pending + one.pending,
        failed: sum.failed + one.failed,
        disabled: sum.disabled + one.disabled,
        chunks: sum.chunks + one.chunks,
        stale_chunks: sum.stale_chunks + one.stale_chunks,
        last_sync: None,
    })
}

fn knowledge_base_text(collections: &BTreeMap<String, Collection>) -> String {
    if collections.is_empty() {
        return "The knowledge base is empty. `kb sync DIR` fills it with the documents of a folder."
            .to_owned();
    }
    let mut table = Table::new([
        text("collection"),
        number("ready"),
        number("pending"),
        number("failed"),
        number("disabled"),
        number("chunks"),
        number("stale"),
        word("last sync (UTC)"),
    ]);
    let mut row = |name: &str, collection: &Collection, last_sync: String| {
        let Collection { ready, pending, failed, disabled, chunks, stale_chunks, .. } = collection;
        let numbers = [ready, pending, failed, disabled, chunks, stale_chunks].map(u64::to_string);
        table.row([name.to_owned()].into_iter().chain(numbers).chain([last_sync]));
    };
    for (name, collection) in collections {
        row(name, collection, last_sync(collection.last_sync.as_ref()));
    }
    if collections.len() > 1 {
        row("total", &total(collections), String::new());
    }
    table.render()
}

fn last_sync(sync: Option<&LastSync>) -> String {
    match sync {
        None => "never".to_owned(),
        Some(LastSync { finished_at: Some(finished), .. }) => moment(finished),
        Some(sync) => format!("{}, not finished", moment(&sync.renewed_at)),
    }
}

fn chat_text(days: &[Day]) -> String {
    if days.is_empty() {
        return "Nobody has asked anything yet.".to_owned();
    }
    let max = days.iter().map(|day| day.questions).max().unwrap_or_default();
    let mut table = Table::new([
        word("day"),
        word("assistant"),
        number("asked"),
        number("answered"),
        number("refused"),
        number("rate"),
        number("users"),
        number("p50"),
        number("p95"),
        number("cited"),
        number("liked"),
        word(""),
    ]);
    let optional = |value: Option<u64>| value.map_or_else(|| "–".to_owned(), |value| value.to_string());
    for day in days {
        table.row([
            day.day.clone(),
            day.assistant.clone(),
            day.questions.to_string(),
            day.answers.to_string(),
            day.refusals.to_string(),
            day.answer_rate.map_or_else(|| "–".to_owned(), |rate| format!("{:.0} %", rate * 100.0)),
            day.users.to_string(),
            optional(day.latency_p50_ms),
            optional(day.latency_p95_ms),
            day.cited_documents.to_string(),
            liked(day.liked, day.disliked),
            bar(day.questions, max),
        ]);
    }
    format!("{}\n\n{LEGEND}", table.render())
}

/// Liked answers of those that were rated, such as `7/9`.
fn liked(liked: u64, disliked: u64) -> String {
    match liked.saturating_add(disliked) {
        0 => "–".to_owned(),
        rated => format!("{liked}/{rated}"),
    }
}

/// A bar proportional to `value`, in eighths of a character; at least one eighth unless `value` is 0.
fn bar(value: u64, max: u64) -> String {
    if value == 0 || max == 0 {
        return String::new();
    }
    let eighths = (value as f64 / max as f64 * (MAX_BAR_CHARS * 8) as f64).round().max(1.0) as usize;
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    format!("{}{}", "█".repeat(eighths / 8), rest.get(eighths % 8).copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn liked_answers_are_shown_among_those_that_were_rated() {
        assert_eq!(liked(0, 0), "–");
        assert_eq!(liked(7, 2), "7/9");
        assert_eq!(liked(0, 1), "0/1");
    }

    #[test]
    fn bars_are_proportional_to_their_values() {
        assert_eq!(bar(10, 10).chars().count(), MAX_BAR_CHARS);
        assert_eq!(bar(5, 10), "█".repeat(MAX_BAR_CHARS / 2));
        assert_eq!(bar(1, 1_000_000), "▏");
        assert_eq!((bar(0, 10), bar(0, 0)), (String::new(), String::new()));
    }
}
