//! The administrator's commands as programs: what they print, their exit codes, and how they fail.

#[allow(dead_code, reason = "other tests use all of it")]
mod support;

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Duration;

use kb::embed::TextEmbedder;
use kb::knowledge_base::KnowledgeBase;
use kb::progress::Progress;
use kb::reembed::{Reembedded, reembed};
use kb::supabase::{Backoff, Client, SupabaseError};
use serde_json::{Value, json as value};
use support::{Answer, FakeServer, Request, json};

const KEY: &str = "sb_secret_do_not_print";
const OVERVIEW: &str = "GET /rest/v1/kb_overview";
const DOCUMENTS: &str = "GET /rest/v1/kb_documents";
const CHUNKS: &str = "GET /rest/v1/kb_chunks";
const HEALTH: &str = "POST /rest/v1/rpc/kb_health";
const TO_EMBED: &str = "POST /rest/v1/rpc/kb_chunks_to_embed";
const WRITE: &str = "POST /rest/v1/rpc/kb_write_vectors";
const DELETE_FILES: &str = "DELETE /storage/v1/object/kb";
const DELETE_DOCUMENTS: &str = "POST /rest/v1/rpc/kb_delete_documents";

/// A name that clears the screen, colours what follows and turns it around.
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

/// Gives the rows of each table once, and then no more, as a table that is read page by page does.
fn server(tables: impl Fn(&str) -> Option<Value> + Send + 'static) -> FakeServer {
    FakeServer::start(move |request, before| answer(&tables, request, before))
}

fn answer(tables: &impl Fn(&str) -> Option<Value>, request: &Request, before: usize) -> Answer {
    if request.line == DELETE_DOCUMENTS {
        return json(204, "");
    }
    match tables(&request.line) {
        Some(rows) if before == 0 || !rows.is_array() => json(200, rows.to_string()),
        _ => json(200, "[]"),
    }
}

fn table(name: &'static str, rows: Value) -> FakeServer {
    server(move |line| (line == name).then(|| rows.clone()))
}

#[test]
fn list_shows_every_document_and_why_one_failed() {
    let rows = value!([document(2, "kb/b.pdf", "failed"), document(1, "kb/a.md", "ready")]);
    let output = kb(&table(OVERVIEW, rows).url, &["list"]);
    let lines: Vec<_> = output.out.lines().collect();
    assert_eq!(lines[0], "STATUS  ENABLED  CHUNKS  STALE  SOURCE");
    assert_eq!(lines[1], "ready   yes          12      0  kb/a.md");
    assert!(
        output.out.contains("\n2 documents: 1 ready, 1 failed\n  kb/b.pdf: kb/a\\u{1b}"),
        "{}",
        output.out
    );
    assert_eq!(output.code, 0);
}

#[test]
fn audiences_have_a_column_only_where_there_are_any() {
    let mut restricted = document(1, "kb/a.md", "ready");
    restricted["audience"] = value!(["team:sales", "team:\u{1b}[31m"]);
    let rows = value!([restricted, document(2, "kb/b.md", "ready")]);
    let output = kb(&table(OVERVIEW, rows).url, &["list"]);
    assert!(output.out.contains("AUDIENCE") && output.out.contains("everybody"), "{}", output.out);
    assert!(output.out.contains("team:sales, team:\\u{1b}[31m"), "{}", output.out);
}

#[test]
fn an_empty_knowledge_base_says_how_to_fill_it() {
    let empty = server(|_| None);
    assert!(kb(&empty.url, &["list"]).out.contains("kb sync DIR"));
    assert!(kb(&empty.url, &["stats"]).out.contains("kb sync DIR"));
    assert!(kb(&empty.url, &["list", "--stale"]).out.contains("No document fits"));
    assert_eq!(kb(&empty.url, &["list", "--json"]).out, "[]\n");
}

#[test]
fn hostile_names_reach_scripts_as_they_are_and_terminals_spelled_out() {
    let rows = || value!([document(1, HOSTILE, "ready")]);
    let listed = kb(&table(OVERVIEW, rows()).url, &["list"]);
    assert!(listed.out.contains(r"kb/a\u{1b}[2J\u{9b}31m\u{202e}\n.md"), "{}", listed.out);
    assert_eq!(kb(&table(OVERVIEW, rows()).url, &["list", "--json"]).json()[0]["source"], HOSTILE);
}

fn showable() -> FakeServer {
    let long = format!("{} end\u{1b}[2J", "word ".repeat(99));
    let passage = |number: u128, content: &str, meta: Value, stale: bool| {
        let id = id(number);
        value!({ "id": id, "ordinal": number, "content": content, "meta": meta, "stale": stale })
    };
    let chunks = value!([
        passage(1, &long, value!({ "section": "B\u{1b}", "page": "iv" }), true),
        passage(0, "First.\nSecond line.", value!({ "section": "A", "page": 7 }), false),
    ]);
    server(move |line| match line {
        DOCUMENTS | OVERVIEW => Some(value!([document(1, HOSTILE, "ready")])),
        CHUNKS => Some(chunks.clone()),
        _ => None,
    })
}

#[test]
fn show_gives_properties_and_passages_in_order() {
    let output = kb(&showable().url, &["show", ".md"]);
    let shown = &output.out;
    assert!(shown.starts_with("source    kb/a\\u{1b}[2J"), "{shown}");
    assert!(
        shown.contains("\nchanged   2026-11-22 10:04 UTC\n\n[1]  page 7  A\n    First. Second line.\n\n"),
        "{shown}"
    );
    assert!(shown.contains("[2]  STALE  page iv  B\\u{1b}\n    word") && shown.ends_with("…\n"), "{shown}");
    let full = kb(&showable().url, &["show", ".md", "--full"]).out;
    assert!(full.contains("    First.\n    Second line.\n") && full.ends_with("end\\u{1b}[2J\n"), "{full}");
    let json = kb(&showable().url, &["show", ".md", "--json"]).json();
    assert_eq!((&json["source"], &json["passages"][0]["meta"]["page"]), (&value!(HOSTILE), &value!(7)));
}

#[test]
fn show_says_which_documents_a_name_fits() {
    let rows = value!([document(1, "kb/a.md", "ready"), document(2, "kb/ab.md", "ready")]);
    let output = kb(&table(DOCUMENTS, rows).url, &["show", "kb/a"]);
    assert_eq!(output.code, 1);
    assert!(output.err.contains("fits 2 documents; say which:\n  kb/a.md\n  kb/ab.md"), "{}", output.err);
    let output = kb(&server(|_| None).url, &["show", "x\u{1b}"]);
    assert!(output.err.contains("there is no document x\\u{1b}; `kb list`"), "{}", output.err);
}

#[test]
fn disabling_names_what_it_hid() {
    let fake = server(|line| match line {
        DOCUMENTS => Some(value!([document(1, "kb/a.md", "ready"), document(2, "kb/b.md", "ready")])),
        "PATCH /rest/v1/kb_documents" => Some(value!([{ "id": id(1) }, { "id": id(2) }])),
        _ => None,
    });
    let output = kb(&fake.url, &["disable", "a.md", "kb/b.md", "a.md"]);
    assert_eq!((output.code, output.out.as_str()), (0, "disabled kb/a.md\ndisabled kb/b.md\n"));
    let change = fake.requests().into_iter().find(|request| request.line.starts_with("PATCH")).unwrap();
    assert_eq!(change.body, r#"{"enabled":false}"#);
}

#[test]
fn one_wrong_name_among_several_changes_nothing() {
    let rows = || value!([document(1, "kb/a.md", "ready")]);
    for command in [&["disable", "kb/a.md", "nothing"][..], &["remove", "--yes", "kb/a.md", "nothing"][..]] {
        let fake = table(DOCUMENTS, rows());
        assert_eq!(kb(&fake.url, command).code, 1);
        assert!(fake.requests().iter().all(|request| request.line.starts_with("GET")));
    }
}

#[test]
fn removing_without_a_terminal_needs_yes() {
    let fake = table(DOCUMENTS, value!([document(1, "kb/a.md", "ready")]));
    let output = kb(&fake.url, &["remove", "a.md"]);
    assert_eq!(output.code, 1);
    assert!(output.err.contains("--yes"), "{}", output.err);
    assert!(fake.requests().iter().all(|request| request.line.starts_with("GET")));
}

#[test]
fn removing_takes_the_document_first_and_then_its_own_original() {
    let mut dropped = document(2, "bucket/b.md", "ready");
    dropped["storage_path"] = "b.md".into();
    let rows = value!([document(1, "kb/a.md", "ready"), dropped]);
    let fake = table(DOCUMENTS, rows);
    let output = kb(&fake.url, &["remove", "--yes", "a.md", "bucket/b.md"]);
    assert!(output.out.starts_with("removed kb/a.md\nremoved bucket/b.md\n"), "{}{}", output.out, output.err);
    assert!(output.out.contains("next `kb sync` brings it back"), "{}", output.out);
    let requests = fake.requests();
    let position = |line: &str| requests.iter().position(|request| request.line == line).unwrap();
    assert!(position(DELETE_DOCUMENTS) < position(DELETE_FILES));
    let files: Vec<_> = requests.iter().filter(|request| request.line == DELETE_FILES).collect();
    assert_eq!(files.len(), 1, "a file that people put into the bucket stays");
    assert_eq!(files[0].body, value!({ "prefixes": [format!("originals/{}/a.md", id(1))] }).to_string());
}

fn chunk(number: u128, reason: &str) -> Value {
    value!({
        "chunk_id": id(number), "document_id": id(1), "source": HOSTILE,
        "content": "Some text.", "section": null, "reason": reason,
    })
}

#[test]
fn a_dry_run_counts_by_document_and_reason_and_writes_nothing() {
    let rows = || value!([chunk(1, "stale"), chunk(2, "model"), chunk(3, "model")]);
    let fake = table(TO_EMBED, rows());
    let output = kb(&fake.url, &["reembed", "--dry-run"]);
    assert!(output.out.contains("\n     1        0      2  kb/a\\u{1b}"), "{}", output.out);
    assert!(
        output.out.ends_with("3 passages to embed: 1 edited, 2 of another model; nothing was done\n"),
        "{}",
        output.out
    );
    assert_eq!(fake.count(WRITE), 0);
    let json = kb(&table(TO_EMBED, rows()).url, &["reembed", "--dry-run", "--json"]).json();
    assert_eq!((&json["reasons"], &json["written"]), (&value!({ "stale": 1, "model": 2 }), &value!(0)));
}

#[test]
fn nothing_to_embed_needs_no_model() {
    let output = kb(&server(|_| None).url, &["reembed", "--model-dir", "/nowhere"]);
    assert_eq!(output.code, 0);
    assert!(output.out.starts_with("Every passage has vectors"), "{}", output.out);
}

#[derive(Clone)]
struct FakeEmbedder;

impl TextEmbedder for FakeEmbedder {
    fn count_tokens(&self, text: &str) -> usize {
        text.split_whitespace().count() + 2
    }

    fn vector(&mut self, text: &str) -> Vec<f32> {
        vec![text.len() as f32]
    }
}

fn reembedded(url: &str) -> Result<Reembedded, SupabaseError> {
    let backoff = Backoff { retries: 1, first_pause: Duration::from_millis(1) };
    let knowledge_base = KnowledgeBase::new(Client::new(url, KEY, backoff).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(reembed(&knowledge_base, &FakeEmbedder, "m", "handbook", &Progress::hidden()))
}

/// What was sent to be written.
fn written(fake: &FakeServer) -> Vec<Value> {
    let writes = fake.requests().into_iter().filter(|request| request.line == WRITE);
    let entries = |request: Request| serde_json::from_str::<Value>(&request.body).unwrap()["vectors"].take();
    writes.flat_map(|request| entries(request).as_array().unwrap().clone()).collect()
}

#[test]
fn passages_edited_while_they_are_embedded_are_left_for_the_next_run() {
    let fake = server(|line| match line {
        TO_EMBED => {
            let mut longer = chunk(2, "missing");
            longer["content"] = "A text twice as long".into();
            Some(value!([chunk(1, "stale"), longer]))
        }
        WRITE => Some(value!([id(2)])),
        _ => None,
    });
    let done = reembedded(&fake.url).unwrap();
    assert_eq!((done.written, done.changed_meanwhile), (1, 1));
    let entries = written(&fake);
    // In whatever unit vectors are sent.
    let number = |entry: &Value| -> f64 {
        entry["embedding"].as_str().unwrap().trim_matches(['[', ']']).parse().unwrap()
    };
    assert_eq!(number(&entries[1]) / number(&entries[0]), 2.0);
    assert_eq!(entries[0]["model"], "m");
    // select md5(E'\nSome text.')
    assert_eq!(entries[0]["text_hash"], "6bb8c38f85896f830d2c47189c4fa307");
    assert_eq!(entries[0]["sentences"][0]["end"], 10);
}

#[test]
fn a_sync_asks_for_the_passages_of_its_own_collection() {
    let fake = table(TO_EMBED, value!([chunk(1, "model"), chunk(2, "stale")]));
    reembedded(&fake.url).unwrap();
    let ids: Vec<_> = written(&fake).iter().map(|entry| entry["chunk_id"].clone()).collect();
    assert_eq!(ids, [value!(id(1)), value!(id(2))]);
    let asked = fake.requests().into_iter().filter(|request| request.line == TO_EMBED);
    let asked: Vec<Value> = asked.map(|request| serde_json::from_str(&request.body).unwrap()).collect();
    assert!(asked.iter().all(|body| body["collection"] == "handbook" && body["model"] == "m"));
}

#[test]
fn a_lost_answer_is_asked_for_again_with_the_same_vectors() {
    let fake = FakeServer::start(|request, before| match (request.line.as_str(), before) {
        (TO_EMBED, 0) => json(200, value!([chunk(1, "stale")]).to_string()),
        (WRITE, 0) => Answer::Drop,
        (WRITE, _) => json(200, value!([id(1)]).to_string()),
        _ => json(200, "[]"),
    });
    assert_eq!(reembedded(&fake.url).unwrap().written, 1);
    let entries = written(&fake);
    assert_eq!((entries.len(), &entries[0]), (2, &entries[1]));
}

#[test]
fn a_server_that_is_lost_for_good_ends_the_run() {
    let fake = FakeServer::start(|request, before| match (request.line.as_str(), before) {
        (TO_EMBED, 0) => json(200, value!([chunk(1, "stale")]).to_string()),
        _ => Answer::Drop,
    });
    assert!(reembedded(&fake.url).unwrap_err().to_string().contains("cannot reach"));
}

#[test]
fn stats_add_up_collections_and_draw_days() {
    let fake = server(|line| match line {
        OVERVIEW => Some(value!([
            document(1, "kb/a.md", "ready"),
            document(2, "kb/b.md", "failed"),
            document(3, "site\u{1b}/c.md", "ready"),
        ])),
        "GET /rest/v1/kb_syncs" => Some(value!([{
            "collection": "kb", "started_at": "2026-11-22T09:00:00+00:00", "renewed_at": "2026-11-22T09:01:00+00:00",
            "finished_at": "2026-11-22T09:02:00+00:00", "host": "h", "summary": {},
        }])),
        "GET /rest/v1/chat_metrics" => Some(value!([
            { "day": "2026-11-22", "questions": 8, "answers": 6, "refusals": 2, "answer_rate": 0.75, "users": 3,
              "latency_p50_ms": 120, "latency_p95_ms": null, "cited_documents": 2 },
            { "day": "2026-11-21", "questions": 4, "answers": 0, "refusals": 0, "answer_rate": null, "users": 1,
              "latency_p50_ms": null, "latency_p95_ms": null, "cited_documents": 0 },
        ])),
        _ => None,
    });
    let output = kb(&fake.url, &["stats"]).out;
    assert!(
        output.contains("2026-11-22 09:02") && output.contains("never") && output.contains("site\\u{1b}"),
        "{output}"
    );
    let total = output.lines().find(|line| line.starts_with("in all")).unwrap();
    assert_eq!(total.split_whitespace().collect::<Vec<_>>(), ["in", "all", "2", "0", "1", "0", "36", "0"]);
    let days: Vec<_> = output.lines().filter(|line| line.starts_with("2026-11-2")).collect();
    assert!(days[0].contains("75 %") && days[0].ends_with(&"█".repeat(10)), "{output}");
    assert!(days[1].contains('–') && days[1].ends_with(&format!("  {}", "█".repeat(5))), "{output}");
}

#[test]
fn gaps_are_listed_with_what_was_asked() {
    let rows = value!([{
        "question": "How?\u{1b}[2J", "questions": 5, "users": 2, "best_score": 0.312, "reasons": ["no_match"],
        "first_asked": "2026-11-20T09:00:00+00:00", "last_asked": "2026-11-22T09:02:00+00:00",
    }]);
    let output = kb(&table("GET /rest/v1/content_gaps", rows).url, &["gaps"]).out;
    assert!(output.contains("    5      2        0.31  2026-11-22 09:02  How?\\u{1b}[2J"), "{output}");
    assert!(kb(&server(|_| None).url, &["gaps"]).out.contains("No question was refused"));
}

fn healthy() -> Value {
    let mut models = value!({});
    models[embedder::fingerprint()] = 24.into();
    value!({
        "schema_version": kb::doctor::NEWEST_MIGRATION,
        "vector_version": "0.8.1",
        "tables": [{ "name": "kb_documents", "rls": true }],
        "indexes": [{ "name": "kb_chunks_pkey", "table": "kb_chunks", "exists": true, "valid": true }],
        "missing_policies": [],
        "documents": { "ready": 2, "pending": 0, "failed": 0 },
        "failed": 0,
        "pending_older_than_day": 0,
        "documents_without_chunks": 0,
        "chunks": 24,
        "stale_chunks": 0,
        "chunks_without_embedding": 0,
        "embeddings_by_model": models,
        "embeddings_not_searchable_mismatch": 0,
        "sentences_missing": 0,
        "lexeme_mismatch": false,
        "audience_claims": [],
        "missing_files": [], "missing_file_count": 0,
        "orphan_files": [], "orphan_file_count": 0,
        "public_bucket": false, "widening_policies": [],
    })
}

fn doctor(health: Value, arguments: &[&str]) -> Output {
    let fake = server(move |line| (line == HEALTH).then(|| health.clone()));
    kb(&fake.url, &[&["doctor"], arguments].concat())
}

/// The level of a check.
fn level(report: &Value, name: &str) -> String {
    let checks = report["checks"].as_array().unwrap();
    let check =
        checks.iter().find(|check| check["check"] == name).unwrap_or_else(|| panic!("{name}: {report}"));
    check["level"].as_str().unwrap().to_owned()
}

#[test]
fn a_healthy_knowledge_base_is_told_so() {
    let output = doctor(healthy(), &[]);
    assert!(output.out.ends_with("\nAll is well.\n"), "{}{}", output.out, output.err);
    assert_eq!(output.code, 0);
    let report = doctor(healthy(), &["--json"]).json();
    assert_eq!(
        (&report["ok"], &report["problems"], &report["warnings"]),
        (&value!(true), &value!(0), &value!(0))
    );
}

#[test]
fn each_fault_is_found_and_only_problems_fail() {
    let faults = [
        ("schema_version", value!("20261121000100"), "schema", "problem"),
        ("vector_version", value!("0.7.0"), "pgvector", "problem"),
        ("tables", value!([{ "name": "kb_\u{1b}", "rls": false }]), "rls", "problem"),
        ("missing_policies", value!(["public.kb_chunks.p"]), "policies", "problem"),
        (
            "indexes",
            value!([{ "name": "i", "table": "t", "exists": true, "valid": false }]),
            "indexes",
            "problem",
        ),
        ("embeddings_not_searchable_mismatch", value!(1), "visibility", "problem"),
        ("embeddings_by_model", value!({ "another\u{1b}": 1 }), "vectors", "problem"),
        ("public_bucket", value!(true), "bucket", "problem"),
        ("widening_policies", value!(["p\u{1b}"]), "bucket", "warning"),
        ("orphan_file_count", value!(1), "orphans", "warning"),
        ("missing_file_count", value!(1), "originals", "warning"),
        ("pending_older_than_day", value!(1), "pending", "warning"),
        ("stale_chunks", value!(1), "stale", "warning"),
        ("chunks_without_embedding", value!(1), "unembedded", "warning"),
        ("documents_without_chunks", value!(1), "documents", "warning"),
        ("documents", value!({}), "documents", "warning"),
        ("sentences_missing", value!(20), "sentences", "warning"),
        ("lexeme_mismatch", value!(true), "words", "warning"),
    ];
    for (field, broken, check, expected) in faults {
        let mut health = healthy();
        health[field] = broken;
        let output = doctor(health.clone(), &["--json"]);
        let report = output.json();
        assert_eq!(level(&report, check), expected, "{field}");
        assert_eq!(
            report["problems"].as_u64().unwrap() + report["warnings"].as_u64().unwrap(),
            1,
            "{field}: {report}"
        );
        assert_eq!(output.code, i32::from(expected == "problem"), "{field}");
        let text = doctor(health, &[]).out;
        assert!(text.contains('→'), "{field} without a word on how to mend it: {text}");
    }
}

#[test]
fn failed_documents_and_duplicates_are_named() {
    let fake = server(|line| match line {
        HEALTH => Some(healthy()),
        DOCUMENTS => {
            let mut twin = document(2, "kb/b.md", "ready");
            twin["content_hash"] = "hash 1".into();
            Some(value!([document(1, HOSTILE, "ready"), twin]))
        }
        _ => None,
    });
    let output = kb(&fake.url, &["doctor"]);
    assert!(output.out.contains("duplicates") && output.out.contains(".md = kb/b.md"), "{}", output.out);
    let fake = FakeServer::start(|request, before| match (request.line.as_str(), before) {
        (HEALTH, _) => json(200, healthy().to_string()),
        // First all documents, whose table ends at once; then those that failed.
        (DOCUMENTS, 1) => json(200, value!([document(1, "kb/a.pdf", "failed")]).to_string()),
        _ => json(200, "[]"),
    });
    let output = kb(&fake.url, &["doctor"]);
    assert!(output.out.contains("kb/a.pdf: kb/a\\u{1b}"), "{}", output.out);
    assert_eq!(output.code, 0);
}

#[test]
fn a_postgres_without_storage_is_no_fault() {
    let mut health = healthy();
    for field in [
        "missing_files",
        "missing_file_count",
        "orphan_files",
        "orphan_file_count",
        "public_bucket",
        "widening_policies",
    ] {
        health.as_object_mut().unwrap().remove(field);
    }
    health["schema_version"] = Value::Null;
    assert_eq!(doctor(health, &["--json"]).json()["ok"], true);
}

#[test]
fn mending_deletes_orphans_and_leftovers_and_nothing_else() {
    let orphan = format!("originals/{}/x.md", id(9));
    let broken = {
        let mut health = healthy();
        health["pending_older_than_day"] = 1.into();
        health["orphan_files"] = value!([&orphan]);
        health["orphan_file_count"] = 1.into();
        health
    };
    let fake = FakeServer::start(move |request, before| match (request.line.as_str(), before) {
        (HEALTH, 0 | 1) => json(200, broken.to_string()),
        (HEALTH, _) => json(200, healthy().to_string()),
        (DOCUMENTS, 0) => json(200, value!([document(1, "kb/half.md", "pending")]).to_string()),
        (DELETE_DOCUMENTS, _) => json(200, "1"),
        _ => json(200, "[]"),
    });
    let output = kb(&fake.url, &["doctor", "--mend"]);
    assert!(
        output.out.starts_with("deleted what was begun of kb/half.md\ndeleted 1 original that"),
        "{}",
        output.out
    );
    assert!(output.out.ends_with("All is well.\n"), "{}", output.out);
    let requests = fake.requests();
    let deleted: Vec<_> = requests
        .iter()
        .filter(|request| [DELETE_DOCUMENTS, DELETE_FILES].contains(&request.line.as_str()))
        .collect();
    let lines: Vec<_> = deleted.iter().map(|request| request.line.as_str()).collect();
    assert_eq!(lines, [DELETE_DOCUMENTS, DELETE_FILES, DELETE_FILES]);
    assert_eq!(deleted[2].body, value!({ "prefixes": [orphan] }).to_string());
}

#[test]
fn orphans_that_stay_are_not_deleted_for_ever() {
    let mut health = healthy();
    health["orphan_files"] = value!(["originals/x/y"]);
    health["orphan_file_count"] = 1.into();
    let fake = server(move |line| (line == HEALTH).then(|| health.clone()));
    assert_eq!(kb(&fake.url, &["doctor", "--mend"]).code, 0);
    assert_eq!(fake.count(DELETE_FILES), 1);
}

#[test]
fn doctor_without_a_model_says_where_to_get_it() {
    let output = doctor(healthy(), &["--model-dir", "/nowhere", "--json"]);
    assert_eq!((output.code, level(&output.json(), "model")), (1, "problem".to_owned()));
}

#[test]
fn doctor_tells_a_wrong_key_an_old_schema_and_a_server_that_is_down_apart() {
    let wrong_key = FakeServer::start(|_, _| json(401, format!(r#"{{"message":"bad {KEY}"}}"#)));
    let publishable =
        FakeServer::start(|_, _| json(403, r#"{"code":"42501","message":"permission denied"}"#));
    for fake in [wrong_key, publishable] {
        let output = kb(&fake.url, &["doctor"]);
        assert!(
            output.out.contains("PROBLEM  key") && output.out.contains("SUPABASE_SECRET_KEY"),
            "{}",
            output.out
        );
        assert_eq!(output.code, 1);
    }
    let old = FakeServer::start(|_, _| json(404, r#"{"code":"PGRST202","message":"no function kb_health"}"#));
    let output = kb(&old.url, &["doctor"]);
    assert!(output.out.contains("→ supabase db push"), "{}", output.out);
    assert_eq!(output.code, 1);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let output = kb(&format!("http://{closed}"), &["doctor", "--json"]);
    assert_eq!((output.code, level(&output.json(), "server")), (1, "problem".to_owned()));
}

#[test]
fn every_command_explains_a_wrong_key_and_an_old_schema() {
    let commands: [&[&str]; 8] = [
        &["list"],
        &["show", "a"],
        &["enable", "a"],
        &["disable", "a"],
        &["remove", "a", "--yes"],
        &["reembed"],
        &["stats"],
        &["gaps"],
    ];
    for command in commands {
        let fake = FakeServer::start(|_, _| json(401, "{}"));
        let output = kb(&fake.url, command);
        assert_eq!((output.code, output.out.as_str()), (1, ""), "{command:?}");
        assert!(output.err.contains("SUPABASE_SECRET_KEY"), "{command:?}: {}", output.err);
        let fake = FakeServer::start(|_, _| json(404, r#"{"code":"PGRST205","message":"no table"}"#));
        assert!(kb(&fake.url, command).err.contains("supabase db push"), "{command:?}");
    }
}

#[test]
fn a_server_that_answers_with_escape_sequences_cannot_write_to_the_terminal() {
    let fake = FakeServer::start(|_, _| json(400, "{\"code\":\"x\",\"message\":\"\\u001b[2Jgone\\u009b\"}"));
    let output = kb(&fake.url, &["list"]);
    assert!(output.err.contains("\\u{1b}[2Jgone"), "{}", output.err);
}
