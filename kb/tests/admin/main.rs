//! The administrator's commands run as programs: output, exit codes and failures.

mod ask;
mod assistants;
mod doctor;
mod documents;
mod faults;
mod privacy;
mod reembed;
#[allow(dead_code, reason = "other tests use all of it")]
#[path = "../support/mod.rs"]
mod support;
mod watch;

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Duration;

use kb::knowledge_base::KnowledgeBase;
use kb::progress::Progress;
use kb::reembed::{Reembedded, reembed};
use kb::supabase::{Backoff, Client, SupabaseError};
use kb::text_embedder::TextEmbedder;
use serde_json::{Value, json as value};
use support::{Answer, FakeServer, Request, json};

const KEY: &str = "sb_secret_do_not_print";
const OVERVIEW: &str = "GET /rest/v1/kb_overview";
const TROUBLES: &str = "GET /rest/v1/kb_troubles";
const DOCUMENTS: &str = "GET /rest/v1/kb_documents";
const CHUNKS: &str = "GET /rest/v1/kb_chunks";
const CALIBRATION: &str = "GET /rest/v1/kb_calibration";
const LEXEMES: &str = "GET /rest/v1/kb_lexemes";
const HEALTH: &str = "POST /rest/v1/rpc/kb_health";
const INTERNAL: &str = "GET /rest/v1/expected_access";
const SETTINGS: &str = "GET /rest/v1/chat_settings";
const SET_SECRET: &str = "POST /rest/v1/rpc/chat_set_worker_secret";
const RETAIN: &str = "POST /rest/v1/rpc/chat_retain";
const TO_EMBED: &str = "POST /rest/v1/rpc/kb_chunks_to_embed";
const WRITE: &str = "POST /rest/v1/rpc/kb_write_vectors";
const DELETE_FILES: &str = "DELETE /storage/v1/object/kb";
const ENABLE: &str = "POST /rest/v1/rpc/kb_set_enabled";
const DELETE_DOCUMENTS: &str = "POST /rest/v1/rpc/kb_delete_documents";

/// A name that clears the screen, and changes the colour and direction of the following text.
const HOSTILE: &str = "kb/a\u{1b}[2J\u{9b}31m\u{202e}\n.md";

struct Output {
    code: i32,
    out: String,
    err: String,
}

impl Output {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }
}

/// Runs the program without a terminal.
fn kb(url: &str, arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_kb"))
        .args(arguments)
        .env("SUPABASE_URL", url)
        .env("SUPABASE_SECRET_KEY", KEY)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(!out.contains(KEY) && !err.contains(KEY), "{out}{err}");
    let is_harmless = |c: char| c == '\n' || !(c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
    assert!(out.chars().chain(err.chars()).all(is_harmless), "{out:?} {err:?}");
    Output { code: output.status.code().unwrap(), out, err }
}

fn id(number: u128) -> String {
    uuid::Uuid::from_u128(number).to_string()
}

/// A row of the view, which is also one of the table.
fn document(number: u128, source: &str, status: &str) -> Value {
    value!({
        "id": id(number),
        "collection": source.split('/').next(),
        "source": source,
        "title": null,
        "name": source,
        "status": status,
        "failure": (status == "failed").then(|| format!("{HOSTILE} is encrypted")),
        "enabled": true,
        "audience": null,
        "language": "english",
        "chunks": 12,
        "stale_chunks": 0,
        "models": ["m"],
        "content_type": "text/markdown",
        "url": null,
        "has_original": true,
        "times_cited": 3,
        "created_at": "2026-11-21T10:00:00+00:00",
        "updated_at": "2026-11-22T10:04:05+00:00",
        "content_hash": format!("hash {number}"),
        "source_version": null,
        "storage_path": format!("originals/{}/a.md", id(number)),
    })
}

/// A document whose newest version cannot be read.
fn troubles() -> Value {
    value!([{ "source": "kb/b.pdf", "reason": format!("{HOSTILE} is encrypted"), "since": "2026-11-20T08:00:00+00:00" }])
}

/// Returns the rows of each table once and then none, like a table that is read page by page.
fn server(tables: impl Fn(&str) -> Option<Value> + Send + 'static) -> FakeServer {
    FakeServer::start(move |request, before| answer(&tables, request, before))
}

fn answer(tables: &impl Fn(&str) -> Option<Value>, request: &Request, before: usize) -> Answer {
    if request.line == DELETE_DOCUMENTS {
        return json(200, "[]");
    }
    match tables(&request.line) {
        None if request.line == INTERNAL => not_exposed(),
        None if request.line == HEALTH => json(200, privacy(true).to_string()),
        Some(rows) if before == 0 || !rows.is_array() => json(200, rows.to_string()),
        _ => json(200, "[]"),
    }
}

/// The part of `kb_health` that commands other than `kb doctor` read.
fn privacy(worker_secret_set: bool) -> Value {
    value!({
        "worker_secret_set": worker_secret_set, "internal_exposed": false,
        "retention_days": null, "retention_ran_at": null, "has_inactive_anonymous_users": false,
    })
}

/// The row of the settings: defaults with changes.
fn settings(changes: Value) -> Value {
    let mut row = value!({
        "log_questions": false,
        "keep_refusals": "full", "retention_days": null, "anonymous_retention_days": 30,
    });
    for (column, value) in changes.as_object().unwrap() {
        row[column] = value.clone();
    }
    value!([row])
}

/// The response of PostgREST for a schema that is not exposed.
fn not_exposed() -> Answer {
    json(406, r#"{"code":"PGRST106","message":"Invalid schema: internal"}"#)
}

fn table(name: &'static str, rows: Value) -> FakeServer {
    server(move |line| (line == name).then(|| rows.clone()))
}
