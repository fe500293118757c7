//! `kb ingest` when the server or the network fails.

mod support;

use std::net::TcpListener;
use std::sync::Mutex;
use std::time::Duration;

use kb::embed::TextEmbedder;
use kb::files::discover;
use kb::ingest::{IngestError, Outcome, Summary, ingest};
use kb::knowledge_base::KnowledgeBase;
use kb::progress::Progress;
use kb::rest::{Backoff, RestClient, RestError};

use serde_json::{Value, json as value};
use support::{Answer, FakeServer, Request, json};

const KEY: &str = "sb_secret_do_not_print";
const PUBLISH: &str = "POST /rest/v1/rpc/kb_publish_document";
const INSERT: &str = "POST /rest/v1/kb_documents";
const CHUNKS: &str = "POST /rest/v1/kb_chunks";
const EMBEDDINGS: &str = "POST /rest/v1/kb_embeddings";
const SENTENCES: &str = "POST /rest/v1/kb_sentences";

#[derive(Clone)]
struct FakeEmbedder;

impl TextEmbedder for FakeEmbedder {
    fn count_tokens(&self, text: &str) -> usize {
        text.split_whitespace().count() + 2
    }

    /// Tells texts of different lengths apart.
    fn vector(&mut self, text: &str) -> Vec<f32> {
        vec![text.len() as f32]
    }
}

/// Ingests `a.md` and `b.md`.
fn run(url: &str) -> Result<Summary, IngestError> {
    run_with(url, &[("a.md", "# a.md\n\nSome text."), ("b.md", "# b.md\n\nSome text.")])
}

fn run_with(url: &str, files: &[(&str, &str)]) -> Result<Summary, IngestError> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let found = discover(&[folder.path().to_owned()], folder.path()).unwrap();
    let backoff = Backoff { retries: 2, first_pause: Duration::from_millis(1) };
    let knowledge_base = KnowledgeBase::new(RestClient::new(url, KEY, backoff).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(ingest(
        found,
        "german",
        &knowledge_base,
        "model",
        || Ok(FakeEmbedder),
        &Progress::hidden(),
    ))
}

fn empty_knowledge_base(_: &Request, _: usize) -> Answer {
    json(200, "[]")
}

/// The rows of all requests with this line.
fn rows(server: &FakeServer, line: &str) -> Vec<Value> {
    let requests = server.requests().into_iter().filter(|request| request.line == line);
    requests.flat_map(|request| serde_json::from_str::<Vec<Value>>(&request.body).unwrap()).collect()
}

fn outcomes(summary: &Summary) -> Vec<(&str, &Outcome)> {
    summary.documents.iter().map(|entry| (entry.source.as_str(), &entry.outcome)).collect()
}

#[test]
fn documents_are_published_after_their_chunks_sentences_and_vectors() {
    let server = FakeServer::start(empty_knowledge_base);
    let summary = run(&server.url).unwrap();
    let added = Outcome::Added { chunks: 1, sentences: 1 };
    assert_eq!(outcomes(&summary), [("a.md", &added), ("b.md", &added)]);
    let writes: Vec<_> =
        server.requests().into_iter().filter(|request| request.line.starts_with("POST")).collect();
    let lines: Vec<_> = writes.iter().map(|request| request.line.as_str()).collect();
    assert_eq!(lines[..5], [INSERT, CHUNKS, EMBEDDINGS, SENTENCES, PUBLISH]);
    assert!(writes[0].body.contains(r#""status":"pending""#));
    assert!(writes[0].body.contains(r#""language":"german""#));
    assert!(writes[0].headers.to_lowercase().contains(&format!("apikey: {KEY}")));
    assert!(writes[0].headers.to_lowercase().contains(&format!("authorization: bearer {KEY}")));
    assert!(summary.vector_bytes == 2 * (8 + 4 + 8 + 2), "{summary:?}");
}

#[test]
fn each_chunk_and_each_sentence_gets_the_vector_of_its_own_text() {
    let server = FakeServer::start(empty_knowledge_base);
    let files = [("a.md", "# Größe\n\nÄrmel. Lang und weit.\n"), ("b.md", "Ja. Nein.")];
    run_with(&server.url, &files).unwrap();
    let lengths = |line| -> Vec<Value> {
        rows(&server, line).into_iter().map(|row| row["embedding"].clone()).collect()
    };
    // The section, a newline, and the content; bytes.
    assert_eq!(lengths(EMBEDDINGS), [value!("[30]"), value!("[9]")]);
    assert_eq!(lengths(SENTENCES), [value!("[7]"), value!("[14]"), value!("[3]"), value!("[5]")]);
    let chunks = rows(&server, CHUNKS);
    let places: Vec<_> = rows(&server, SENTENCES)
        .into_iter()
        .map(|row| {
            let chunk = chunks.iter().position(|chunk| chunk["id"] == row["chunk_id"]);
            value!([chunk, row["ordinal"], row["start"], row["end"]])
        })
        .collect();
    assert_eq!(
        places,
        [value!([0, 0, 0, 6]), value!([0, 1, 7, 21]), value!([1, 0, 0, 3]), value!([1, 1, 4, 9])]
    );
}

#[test]
fn a_chunk_without_sentences_is_written_without_them() {
    let server = FakeServer::start(empty_knowledge_base);
    let summary = run_with(&server.url, &[("a.txt", "# Only a heading")]).unwrap();
    assert_eq!(outcomes(&summary), [("a.txt", &Outcome::Added { chunks: 1, sentences: 0 })]);
    assert_eq!((server.count(SENTENCES), server.count(PUBLISH)), (0, 1));
}

#[test]
fn sentences_are_written_in_batches_which_a_lost_answer_does_not_change() {
    let server = FakeServer::start(|request, before| match (request.line.as_str(), before) {
        (SENTENCES, 1) => Answer::Drop,
        _ => json(200, "[]"),
    });
    let text: String = (0..250).map(|at| format!("Line {at}.\n\n")).collect();
    let summary = run_with(&server.url, &[("a.txt", &text)]).unwrap();
    assert!(!summary.has_failures(), "{summary:?}");
    let requests = server.requests();
    let writes: Vec<_> = requests.iter().filter(|request| request.line == SENTENCES).collect();
    assert_eq!(writes[1].body, writes[2].body, "the same rows under the same keys");
    assert!(requests.iter().all(|request| request.line != SENTENCES || request.body.len() < 100 * 200));
    let keys: std::collections::HashSet<_> = rows(&server, SENTENCES)
        .into_iter()
        .map(|row| (row["chunk_id"].as_str().unwrap().to_owned(), row["ordinal"].as_u64().unwrap()))
        .collect();
    assert_eq!(keys.len(), 250);
}

#[test]
fn a_refused_connection_is_retried_and_then_explained() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = run(&format!("http://{closed}")).unwrap_err();
    assert!(matches!(error, IngestError::Rest(RestError::Unreachable { .. })), "{error:?}");
    assert!(error.to_string().contains("SUPABASE_URL"), "{error}");
}

#[test]
fn a_wrong_key_is_explained_once_and_never_shown() {
    let server = FakeServer::start(|_, _| json(401, r#"{"message":"bad sb_secret_do_not_print"}"#));
    let error = run(&server.url).unwrap_err();
    assert!(error.to_string().contains("SUPABASE_SECRET_KEY"), "{error}");
    assert!(!format!("{error} {error:?}").contains(KEY));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_message_that_repeats_the_key_is_shown_without_it() {
    let server = FakeServer::start(|_, _| json(400, r#"{"message":"bad sb_secret_do_not_print"}"#));
    let error = run(&server.url).unwrap_err();
    assert!(error.to_string().contains("bad [key]"), "{error}");
}

#[test]
fn a_missing_schema_says_how_to_create_it() {
    let server = FakeServer::start(|_, _| json(404, r#"{"code":"PGRST205","message":"no table"}"#));
    assert!(run(&server.url).unwrap_err().to_string().contains("supabase db push"));
}

#[test]
fn an_overloaded_server_is_asked_again() {
    let server = FakeServer::start(|request, before| match (request.line.as_str(), before) {
        (CHUNKS, 0) => json(503, "busy"),
        (PUBLISH, 0) => json(429, "slow down"),
        _ => json(200, "[]"),
    });
    let summary = run(&server.url).unwrap();
    assert!(!summary.has_failures(), "{summary:?}");
    assert_eq!(server.count(CHUNKS), 3);
    let requests = server.requests();
    let tries: Vec<_> = requests.iter().filter(|request| request.line == CHUNKS).take(2).collect();
    assert_eq!(tries[0].body, tries[1].body, "the same rows under the same ids");
}

#[test]
fn a_connection_lost_between_chunks_and_publishing_publishes_nothing() {
    let server = FakeServer::start(|request, _| match request.line.as_str() {
        EMBEDDINGS => Answer::Drop,
        _ => json(200, "[]"),
    });
    let summary = run(&server.url).unwrap();
    assert!(summary.has_failures());
    assert_eq!(server.count(PUBLISH), 0);
    assert_eq!(server.count(INSERT), 1, "the second document is not tried");
    let reasons = outcomes(&summary);
    assert!(
        matches!(reasons[1], ("b.md", Outcome::Failed { reason }) if reason.contains("not tried")),
        "{reasons:?}"
    );
}

#[test]
fn a_lost_answer_to_publishing_is_not_mistaken_for_a_failure() {
    let server = FakeServer::start({
        let inserted = Mutex::new(String::new());
        move |request, before| match (request.line.as_str(), before) {
            (INSERT, _) => {
                let row = request.body.trim_matches(['[', ']']).replace("pending", "ready");
                *inserted.lock().unwrap() = format!("[{row}]");
                json(200, "[]")
            }
            (PUBLISH, 0) => Answer::Drop,
            (PUBLISH, _) => {
                json(400, r#"{"code":"P0001","message":"only a pending document can be published"}"#)
            }
            // The first read is the snapshot, which ends with an empty page.
            ("GET /rest/v1/kb_documents", 1..) => json(200, inserted.lock().unwrap().clone()),
            _ => json(200, "[]"),
        }
    });
    let summary = run(&server.url).unwrap();
    assert!(!summary.has_failures(), "{summary:?}");
}

#[test]
fn a_document_that_the_database_refuses_does_not_stop_the_others() {
    let server = FakeServer::start(|request, _| {
        let is_a = request.body.contains("\"a.md\"");
        if request.line == INSERT && is_a {
            json(400, r#"{"code":"22P05","message":"bad text"}"#)
        } else {
            json(200, "[]")
        }
    });
    let summary = run(&server.url).unwrap();
    assert!(
        matches!(&summary.documents[0].outcome, Outcome::Failed { reason } if reason.contains("bad text"))
    );
    assert_eq!(summary.documents[1].outcome, Outcome::Added { chunks: 1, sentences: 1 });
    assert_eq!(server.count("DELETE /rest/v1/kb_documents"), 1, "what was begun is cleared away");
}

#[test]
fn leftovers_of_a_stopped_run_are_deleted_before_anything_is_written() {
    let pending = r#"[{"id":"00000000-0000-4000-8000-000000000001","source":"a.md","content_hash":"x","status":"pending"}]"#;
    let server = FakeServer::start(move |request, before| match (request.line.as_str(), before) {
        ("GET /rest/v1/kb_documents", 0) => json(200, pending),
        _ => json(200, "[]"),
    });
    run(&server.url).unwrap();
    let requests = server.requests();
    let position = |line: &str| requests.iter().position(|request| request.line == line);
    assert!(position("DELETE /rest/v1/kb_documents").unwrap() < position(INSERT).unwrap());
}
