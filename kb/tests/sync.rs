//! `kb sync` with failures of the server, the network and the disk, and with concurrent runs.

#[path = "sync/kept.rs"]
mod kept;
#[path = "sync/killed.rs"]
mod killed;
#[path = "sync/removals.rs"]
mod removals;
#[allow(dead_code, reason = "the tests of asking use the rest")]
mod support;
#[path = "sync/trouble.rs"]
mod trouble;

use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kb::knowledge_base::KnowledgeBase;
use kb::progress::Progress;
use kb::source::{Source, SourceName};
use kb::supabase::{Backoff, Client, SupabaseError};
use kb::sync::{DocumentResult, LeaseTimes, Options, Settings, Summary, SyncError, Written, sync};
use kb::text_embedder::TextEmbedder;

use serde_json::{Value, json as value};
use support::{Answer, FakeServer, Request, json};

const KEY: &str = "sb_secret_do_not_print";
const BEGIN: &str = "POST /rest/v1/rpc/kb_begin_sync";
const RENEW: &str = "POST /rest/v1/rpc/kb_renew_sync";
const END: &str = "POST /rest/v1/rpc/kb_end_sync";
const LIST: &str = "GET /rest/v1/kb_documents";
const INSERT: &str = "POST /rest/v1/kb_documents";
const UPDATE: &str = "PATCH /rest/v1/kb_documents";
const SETTINGS: &str = "PATCH /rest/v1/kb_syncs";
const NOTE: &str = "POST /rest/v1/rpc/kb_note_failure";
const DELETE: &str = "POST /rest/v1/rpc/kb_delete_documents";
const CHUNKS: &str = "POST /rest/v1/rpc/kb_write_chunks";
const PUBLISH: &str = "POST /rest/v1/rpc/kb_publish_document";
const STORED: &str = "GET /rest/v1/kb_calibration";
const CALIBRATE: &str = "POST /rest/v1/kb_calibration";
const UNCALIBRATE: &str = "DELETE /rest/v1/kb_calibration";
const LANGUAGES: &str = "GET /rest/v1/kb_lexemes";
const MATCH: &str = "POST /rest/v1/rpc/match_chunks";
const DELETE_FILES: &str = "DELETE /storage/v1/object/kb";

#[derive(Clone)]
struct FakeEmbedder;

impl TextEmbedder for FakeEmbedder {
    fn count_tokens(&self, text: &str) -> usize {
        text.split_whitespace().count() + 2
    }

    /// Distinguishes texts of different lengths.
    fn vector(&mut self, text: &str) -> Vec<f32> {
        vec![text.len() as f32]
    }
}

/// A folder called `kb` with files in it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(folder.0.path().join("kb")).unwrap();
        for (name, text) in files {
            std::fs::write(folder.path(name), text).unwrap();
        }
        folder
    }

    /// `a.md` and `b.md`.
    fn with_two_files() -> Self {
        Self::new(&[("a.md", "# a.md\n\nSome text."), ("b.md", "# b.md\n\nSome text.")])
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join("kb").join(name)
    }

    fn sync(&self, server: &FakeServer) -> Result<Summary, SyncError> {
        self.sync_with(&server.url, |_| {})
    }

    fn sync_with(&self, url: &str, change: impl FnOnce(&mut Options)) -> Result<Summary, SyncError> {
        Self::sync_path(self.0.path(), url, change)
    }

    /// Syncs `kb` in a folder.
    fn sync_path(folder: &Path, url: &str, change: impl FnOnce(&mut Options)) -> Result<Summary, SyncError> {
        Self::sync_source(&Source::Folder(folder.join("kb")), url, change)
    }

    fn sync_source(
        source: &Source,
        url: &str,
        change: impl FnOnce(&mut Options),
    ) -> Result<Summary, SyncError> {
        let mut options = Options {
            collection: "kb".to_owned(),
            settings: Settings {
                source: "folder kb".to_owned(),
                place: None,
                language: Some("german".to_owned()),
                audience: None,
                originals: Some(false),
            },
            change_settings: false,
            dry_run: false,
            force: false,
            missing_for: Duration::ZERO,
            extract: Arc::new(extract::document),
            lease_times: LeaseTimes {
                renewal: Duration::from_millis(20),
                max_wait: Duration::from_millis(30),
                poll: Duration::from_millis(10),
            },
        };
        change(&mut options);
        let backoff = Backoff { retries: 2, first_pause: Duration::from_millis(1) };
        let knowledge_base = KnowledgeBase::new(Client::new(url, KEY, backoff).unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let load = || Ok(FakeEmbedder);
        runtime.block_on(sync(source, &knowledge_base, &options, "model", load, &Progress::hidden()))
    }
}

/// The responses of an empty knowledge base.
fn empty(request: &Request) -> Answer {
    match request.line.as_str() {
        BEGIN => json(200, r#"{"acquired":true}"#),
        RENEW | END => json(200, "true"),
        DELETE => json(200, "[]"),
        "POST /rest/v1/rpc/kb_chunks_to_embed" | MATCH => json(200, "[]"),
        UPDATE | SETTINGS => json(200, r#"[{"id":"00000000-0000-4000-8000-000000000001"}]"#),
        line if line.starts_with("GET ") => json(200, "[]"),
        _ => json(200, ""),
    }
}

fn empty_server() -> FakeServer {
    FakeServer::start(|request, _| empty(request))
}

/// A knowledge base with one page of documents.
fn server_with(documents: Value) -> FakeServer {
    let page = documents.to_string();
    FakeServer::start(move |request, before| match (request.line.as_str(), before) {
        (LIST, 0) => json(200, page.clone()),
        _ => empty(request),
    })
}

fn document(id: u128, source: &str, status: &str, storage_path: Option<&str>) -> Value {
    value!({
        "id": uuid::Uuid::from_u128(id), "source": source, "content_hash": "x", "source_version": null,
        "status": status, "storage_path": storage_path,
    })
}

/// The chunks in all requests that wrote chunks.
fn chunks(server: &FakeServer) -> Vec<Value> {
    let bodies = server.requests().into_iter().filter(|request| request.line == CHUNKS);
    let bodies = bodies.map(|request| serde_json::from_str::<Value>(&request.body).unwrap());
    bodies.flat_map(|body| body["chunks"].as_array().unwrap().clone()).collect()
}

/// Sorted, since documents are prepared on several threads.
fn results(summary: &Summary) -> Vec<(&str, &DocumentResult)> {
    let mut results: Vec<_> =
        summary.documents.iter().map(|entry| (entry.source.as_str(), &entry.result)).collect();
    results.sort_by_key(|(source, _)| *source);
    results
}

fn added(chunks: usize, sentences: usize) -> DocumentResult {
    DocumentResult::Added(Written { chunks, sentences, notes: Vec::new() })
}

#[test]
fn documents_are_published_after_their_chunks_sentences_and_vectors() {
    let server = empty_server();
    let summary = Folder::new(&[("a.md", "# A\n\nSome text.")]).sync(&server).unwrap();
    assert_eq!(results(&summary), [("kb/a.md", &added(1, 1))]);
    let requests = server.requests();
    let lines: Vec<_> = requests.iter().map(|request| request.line.as_str()).collect();
    let position =
        |line| lines.iter().position(|other| *other == line).unwrap_or_else(|| panic!("{line}: {lines:?}"));
    let order = [BEGIN, LIST, INSERT, CHUNKS, PUBLISH, END].map(position);
    assert!(order.is_sorted(), "{lines:?}");
    let row: Value = serde_json::from_str(&requests[position(INSERT)].body).unwrap();
    assert_eq!((&row[0]["status"], &row[0]["language"]), (&"pending".into(), &"german".into()));
    let headers = requests[position(INSERT)].headers.to_lowercase();
    assert!(headers.contains(&format!("apikey: {KEY}")));
    assert!(headers.contains(&format!("authorization: bearer {KEY}")));
    assert!(requests[position(END)].body.contains(r#""added":1"#));
}

#[test]
fn each_chunk_and_each_sentence_gets_the_vector_of_its_own_text() {
    let server = empty_server();
    let files = [("a.md", "# Größe\n\nÄrmel. Lang und weit.\n"), ("b.md", "Ja. Nein.")];
    Folder::new(&files).sync(&server).unwrap();
    let mut chunks = chunks(&server);
    chunks.sort_by_key(|chunk| chunk["content"].to_string());
    let [b, a] = chunks.as_slice() else { panic!("{chunks:?}") };
    // The section, a newline, and the content or the sentence; bytes.
    let of_chunk = |bytes: u64| value!(format!("[{}]", bytes << 28));
    assert_eq!((&a["embedding"], &b["embedding"]), (&of_chunk(30), &of_chunk(9)));
    let of_sentence = |bytes: u64| format!("[{}]", bytes << 17);
    assert_eq!(
        a["sentences"],
        value!([
            { "start": 0, "end": 6, "kind": "sentence", "chain": [], "embedding": of_sentence(15) },
            { "start": 7, "end": 21, "kind": "sentence", "chain": [], "embedding": of_sentence(22) }
        ])
    );
    assert_eq!(
        (&a["meta"], &a["model"], &a["ordinal"]),
        (&value!({ "section": "Größe" }), &value!("model"), &value!(0))
    );
}

#[test]
fn a_passage_is_written_with_its_layout_and_what_gives_its_sentences_their_meaning() {
    let server = empty_server();
    Folder::new(&[("a.md", "Not covered:\n\n- **Theft**")]).sync(&server).unwrap();
    let chunks = chunks(&server);
    let chunk = &chunks[0];
    assert_eq!(chunk["content"], "Not covered:\n\n- Theft");
    assert_eq!(chunk["parts"], value!([{ "role": "lead_in", "text": "Not covered:", "start": 0 }]));
    let sentence = &chunk["sentences"][0];
    assert_eq!((&sentence["start"], &sentence["chain"]), (&value!(16), &value!([0])));
    assert_eq!(chunk["sentences"].as_array().unwrap().len(), 1);
    assert_eq!(chunk["blocks"]["marks"], value!([{ "kind": "strong", "start": 16, "end": 21 }]));
}

#[test]
fn a_large_document_is_written_in_parts_even_if_a_response_is_lost() {
    let server = FakeServer::start(|request, before| match (request.line.as_str(), before) {
        (CHUNKS, 1) => Answer::Drop,
        _ => empty(request),
    });
    let text: String = (0..2000).map(|at| format!("Line number {at} of the text.\n\n")).collect();
    let summary = Folder::new(&[("a.txt", &text)]).sync(&server).unwrap();
    assert!(!summary.has_failures(), "{summary:?}");
    let requests = server.requests();
    let writes: Vec<_> = requests.iter().filter(|request| request.line == CHUNKS).collect();
    assert!(writes.len() > 4, "{} writes", writes.len());
    assert_eq!(writes[1].body, writes[2].body, "the same rows with the same ids");
    let ordinals: std::collections::BTreeSet<_> =
        chunks(&server).iter().map(|chunk| chunk["ordinal"].as_u64().unwrap()).collect();
    assert_eq!(ordinals.len() as u64, ordinals.last().unwrap() + 1);
    assert_eq!((server.count(INSERT), server.count(PUBLISH)), (1, 1));
}

#[test]
fn a_refused_connection_is_retried_and_then_explained() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = Folder::with_two_files().sync_with(&format!("http://{closed}"), |_| {}).unwrap_err();
    assert!(matches!(error, SyncError::Supabase(SupabaseError::Unreachable { .. })), "{error:?}");
    assert!(error.to_string().contains("SUPABASE_URL"), "{error}");
}

#[test]
fn a_wrong_key_is_explained_once_and_never_shown() {
    let server = FakeServer::start(|_, _| json(401, r#"{"message":"bad sb_secret_do_not_print"}"#));
    let error = Folder::with_two_files().sync(&server).unwrap_err();
    assert!(error.to_string().contains("SUPABASE_SECRET_KEY"), "{error}");
    assert!(!format!("{error} {error:?}").contains(KEY));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_message_that_repeats_the_key_is_shown_without_it() {
    let server = FakeServer::start(|_, _| json(400, r#"{"message":"bad sb_secret_do_not_print"}"#));
    let error = Folder::with_two_files().sync(&server).unwrap_err();
    assert!(error.to_string().contains("bad [key]"), "{error}");
}

#[test]
fn an_overloaded_server_is_retried() {
    let server = FakeServer::start(|request, before| match (request.line.as_str(), before) {
        (CHUNKS, 0) => json(503, "busy"),
        (PUBLISH, 0) => json(429, "slow down"),
        _ => empty(request),
    });
    let summary = Folder::with_two_files().sync(&server).unwrap();
    assert!(!summary.has_failures(), "{summary:?}");
    let requests = server.requests();
    let tries: Vec<_> = requests.iter().filter(|request| request.line == CHUNKS).take(2).collect();
    assert_eq!(tries[0].body, tries[1].body, "the same rows with the same ids");
}

#[test]
fn a_connection_lost_between_chunks_and_publishing_publishes_nothing() {
    let server = FakeServer::start(|request, _| match request.line.as_str() {
        CHUNKS => Answer::Drop,
        _ => empty(request),
    });
    let summary = Folder::with_two_files().sync(&server).unwrap();
    assert!(summary.stopped.as_ref().is_some_and(|reason| reason.contains("cannot reach")), "{summary:?}");
    assert_eq!((server.count(PUBLISH), server.count(END)), (0, 1));
    let results = results(&summary);
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(|(_, result)| matches!(result, DocumentResult::Failed { .. })), "{results:?}");
}

#[test]
fn a_lost_response_to_publishing_is_not_a_failure() {
    let server = FakeServer::start({
        let inserted = Mutex::new(String::new());
        move |request, before| match (request.line.as_str(), before) {
            (INSERT, _) => {
                *inserted.lock().unwrap() = request.body.replace("pending", "ready");
                json(200, "")
            }
            (PUBLISH, 0) => Answer::Drop,
            (PUBLISH, _) => {
                json(400, r#"{"code":"P0001","message":"only a pending document can be published"}"#)
            }
            (LIST, 1..) => json(200, inserted.lock().unwrap().clone()),
            _ => empty(request),
        }
    });
    let summary = Folder::new(&[("a.md", "Some text.")]).sync(&server).unwrap();
    assert!(!summary.has_failures(), "{summary:?}");
}

#[test]
fn a_document_that_the_database_refuses_does_not_stop_the_others() {
    for refused in [INSERT, CHUNKS, PUBLISH] {
        let server = FakeServer::start({
            let of_a = Mutex::new(String::from("a.md"));
            move |request, _| {
                if request.line == INSERT && request.body.contains("a.md") {
                    let rows: Vec<Value> = serde_json::from_str(&request.body).unwrap();
                    let a = rows.iter().find(|row| row["name"] == "a.md").unwrap();
                    *of_a.lock().unwrap() = a["id"].as_str().unwrap().to_owned();
                }
                if request.line == refused && request.body.contains(of_a.lock().unwrap().as_str()) {
                    json(400, r#"{"code":"22P05","message":"bad text"}"#)
                } else {
                    empty(request)
                }
            }
        });
        let summary = Folder::with_two_files().sync(&server).unwrap();
        let results = results(&summary);
        assert!(
            matches!(results[0], ("kb/a.md", DocumentResult::Failed { reason }) if reason.contains("bad text")),
            "{refused}: {results:?}"
        );
        assert_eq!(results[1], ("kb/b.md", &added(1, 1)), "{refused}");
        assert_eq!(server.count(DELETE), 1, "{refused}: the pending row is deleted");
    }
}

#[test]
fn a_violated_constraint_of_the_database_is_reported_by_name() {
    let limit = r#"{"code":"23514","message":"violates check constraint \"kb_chunks_content_size\""}"#;
    for refused in [INSERT, CHUNKS, PUBLISH] {
        let server =
            FakeServer::start(
                move |request, _| {
                    if request.line == refused { json(400, limit) } else { empty(request) }
                },
            );
        let summary = Folder::new(&[("a.md", "Some text.")]).sync(&server).unwrap();
        let results = results(&summary);
        assert!(
            matches!(results[..], [("kb/a.md", DocumentResult::Failed { reason })] if reason.contains("kb_chunks_content_size")),
            "{refused}: {results:?}"
        );
    }
    // A renamed file, whose content is not written again.
    let server = FakeServer::start(move |request, before| match (request.line.as_str(), before) {
        (LIST, 0) => json(200, moved_document().to_string()),
        (UPDATE, _) => json(400, limit),
        _ => empty(request),
    });
    let summary = Folder::new(&[("a.md", "Some text.")]).sync(&server).unwrap();
    let results = results(&summary);
    assert!(
        matches!(results[..], [("kb/a.md", DocumentResult::Failed { reason })] if reason.contains("kb_chunks_content_size")),
        "{results:?}"
    );
    assert_eq!(server.count(DELETE), 0, "the document stays under its old name");
}

/// `old.md` with the content of `a.md`, as a first sync wrote it.
fn moved_document() -> Value {
    let server = empty_server();
    Folder::new(&[("a.md", "Some text.")]).sync(&server).unwrap();
    let inserted = server.requests().into_iter().find(|request| request.line == INSERT).unwrap();
    let rows: Value = serde_json::from_str(&inserted.body).unwrap();
    let mut document = document(1, "kb/old.md", "ready", None);
    document["content_hash"] = rows[0]["content_hash"].clone();
    value!([document])
}

#[test]
fn leftovers_of_a_stopped_run_are_deleted_with_their_files_before_anything_is_written() {
    let server = server_with(value!([
        document(1, "kb/a.md", "pending", Some("originals/1/a.md")),
        document(2, "kb/b.md", "failed", None),
        document(3, "kb/c.md", "pending", Some("put here/c.md")),
    ]));
    Folder::with_two_files().sync(&server).unwrap();
    let requests = server.requests();
    let position = |line: &str| requests.iter().position(|request| request.line == line).unwrap();
    assert!(position(DELETE) < position(DELETE_FILES) && position(DELETE_FILES) < position(INSERT));
    assert_eq!(requests[position(DELETE_FILES)].body, r#"{"prefixes":["originals/1/a.md"]}"#);
}

#[test]
fn a_dry_run_takes_no_lease_and_writes_nothing() {
    let server = server_with(value!([document(1, "kb/old.md", "ready", None)]));
    let summary = Folder::with_two_files().sync_with(&server.url, |options| options.dry_run = true).unwrap();
    assert_eq!(summary.plan, ["  add      kb/a.md", "  add      kb/b.md", "  remove   kb/old.md"]);
    assert!(server.requests().iter().all(|request| request.line.starts_with("GET ")));
}

#[test]
fn an_original_is_uploaded_before_its_document_is_published() {
    let server = empty_server();
    let folder = Folder::new(&[("Größe 1.md", "Some text.")]);
    folder.sync_with(&server.url, |options| options.settings.originals = Some(true)).unwrap();
    let requests = server.requests();
    let upload = requests.iter().position(|request| request.line.starts_with("POST /storage/")).unwrap();
    assert!(requests[upload].line.ends_with("/Gr__e%201.md"), "{}", requests[upload].line);
    assert_eq!(requests[upload].body, "Some text.");
    assert!(requests[upload].headers.to_lowercase().contains("content-type: text/markdown"));
    assert!(upload < requests.iter().position(|request| request.line == PUBLISH).unwrap());
}

#[test]
fn a_document_whose_original_cannot_be_stored_is_not_published() {
    let server = FakeServer::start(|request, _| match request.line.as_str() {
        line if line.starts_with("POST /storage/") => json(413, r#"{"message":"too large"}"#),
        _ => empty(request),
    });
    let summary = Folder::with_two_files()
        .sync_with(&server.url, |options| options.settings.originals = Some(true))
        .unwrap();
    assert!(results(&summary).iter().all(|(_, result)| matches!(result, DocumentResult::Failed { .. })));
    assert_eq!((server.count(PUBLISH), server.count(DELETE)), (0, 2));
}

#[test]
fn a_file_that_changes_while_it_is_read_is_not_published() {
    let server = empty_server();
    let folder = Folder::new(&[("a.md", "Some text.")]);
    let path = folder.path("a.md");
    let summary = folder
        .sync_with(&server.url, |options| {
            options.settings.originals = Some(true);
            options.extract = Arc::new(move |bytes, format| {
                std::fs::write(&path, "Other text.").unwrap();
                extract::document(bytes, format)
            });
        })
        .unwrap();
    let results = results(&summary);
    assert!(
        matches!(results[0], (_, DocumentResult::Failed { reason }) if reason.contains("was changed")),
        "{results:?}"
    );
    assert_eq!(server.count(PUBLISH), 0);
}

/// Syncs `a.md` with "Some text.", and calls `change` on it at the first request of `at`.
fn sync_while(at: &'static str, change: impl Fn(&Path) + Send + 'static) -> (FakeServer, String) {
    let folder = Folder::new(&[("a.md", "Some text.")]);
    let path = folder.path("a.md");
    let server = FakeServer::start(move |request, before| {
        if request.line == at && before == 0 {
            change(&path);
        }
        empty(request)
    });
    let summary = folder.sync_with(&server.url, |options| {
        // The only renewal is then the one between planning and loading.
        options.lease_times.renewal = Duration::from_secs(600);
    });
    let summary = summary.unwrap();
    let [("kb/a.md", DocumentResult::Failed { reason })] = results(&summary)[..] else {
        panic!("{:?}", results(&summary))
    };
    (server, reason.clone())
}

#[test]
fn a_file_that_changed_after_planning_is_not_written() {
    for text in ["Some secret text.", "Some", ""] {
        let (server, reason) = sync_while(RENEW, move |path| std::fs::write(path, text).unwrap());
        assert!(reason.starts_with("was changed while it was read"), "{reason}");
        assert_eq!((chunks(&server).len(), server.count(PUBLISH)), (0, 0));
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_replaces_a_file_is_not_followed() {
    let secret = tempfile::tempdir().unwrap();
    let secret_path = secret.path().join("secret.md");
    // The text is the same, so only the link can be the reason.
    std::fs::write(&secret_path, "Some text.").unwrap();
    for at in [LIST, RENEW] {
        let target = secret_path.clone();
        let (server, reason) = sync_while(at, move |path| {
            std::fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink(&target, path).unwrap();
        });
        assert!(reason.starts_with("was replaced by a symbolic link"), "{at}: {reason}");
        assert_eq!((chunks(&server).len(), server.count(PUBLISH)), (0, 0));
    }
}

#[test]
fn a_panic_while_reading_affects_one_document() {
    let server = empty_server();
    let summary = Folder::with_two_files()
        .sync_with(&server.url, |options| {
            options.extract = Arc::new(|bytes, format| {
                assert!(!bytes.starts_with(b"# a"), "made to panic");
                extract::document(bytes, format)
            });
        })
        .unwrap();
    let results = results(&summary);
    assert!(matches!(results[0], ("kb/a.md", DocumentResult::Failed { .. })), "{results:?}");
    assert_eq!(results[1], ("kb/b.md", &added(1, 1)));
}

#[test]
fn a_run_waits_for_another_one_and_gives_up() {
    let server = FakeServer::start(|request, _| match request.line.as_str() {
        BEGIN => json(200, r#"{"acquired":false,"host":"other"}"#),
        _ => empty(request),
    });
    let error = Folder::with_two_files().sync(&server).unwrap_err();
    assert!(error.to_string().contains("another sync of kb is still running on other"), "{error}");
    assert!(server.count(BEGIN) > 1 && server.count(LIST) == 0);
}

#[test]
fn a_run_that_loses_its_lease_stops() {
    let server = FakeServer::start(|request, _| match request.line.as_str() {
        RENEW => json(200, "false"),
        CHUNKS => {
            std::thread::sleep(Duration::from_millis(100));
            json(200, "")
        }
        _ => empty(request),
    });
    let error = Folder::with_two_files().sync(&server).unwrap_err();
    assert!(matches!(error, SyncError::LeaseLost(_)), "{error}");
    assert_eq!(server.count(PUBLISH), 0);
}

/// The row of `kb_calibration`.
fn calibration(model: &str) -> Value {
    value!([{
        "model": model, "language": "english", "mean": -4.2, "deviation": 2.0, "questions": 80,
        "updated_at": "2026-11-22T10:04:05+00:00",
    }])
}

/// A knowledge base in one language that finds the same passage for every question.
fn measured_server(language: &'static str, model: &'static str, stored: Value) -> FakeServer {
    let passage = value!([{
        "chunk_id": uuid::Uuid::nil(), "document_id": uuid::Uuid::nil(), "document_name": "a.md",
        "document_meta": {}, "content": "We refund in 5 days.", "meta": {}, "model": model, "similarity": 0.1,
        "lexical": 0.0, "score": 0.1, "sentences": [{ "start": 0, "end": 20, "kind": "sentence", "similarity": 0.1 }],
    }]);
    FakeServer::start(move |request, _| match request.line.as_str() {
        STORED => json(200, stored.to_string()),
        LANGUAGES => json(
            200,
            value!([
                { "language": language, "chunks": 5 }, { "language": "simple", "chunks": 4 },
            ])
            .to_string(),
        ),
        MATCH => json(200, passage.to_string()),
        _ => empty(request),
    })
}

fn written(server: &FakeServer) -> Vec<Value> {
    let writes = server.requests().into_iter().filter(|request| request.line == CALIBRATE);
    writes.map(|request| serde_json::from_str::<Value>(&request.body).unwrap()[0].take()).collect()
}

#[test]
fn a_sync_with_changes_calibrates() {
    for stored in [value!([]), calibration("model")] {
        let server = measured_server("english", "model", stored);
        let summary = Folder::with_two_files().sync(&server).unwrap();
        let written = written(&server);
        let [row] = written.as_slice() else { panic!("{written:?}") };
        assert_eq!((&row["id"], &row["model"]), (&value!(true), &value!("model")));
        assert_eq!((&row["language"], &row["questions"]), (&value!("english"), &value!(80)));
        // The same passage for all questions gives the minimum deviation.
        assert!(row["mean"].as_f64().unwrap() < 0.0 && row["deviation"] == 0.5, "{row}");
        assert_eq!(server.count(MATCH), 80);
        let lines: Vec<_> = server.requests().into_iter().map(|request| request.line).collect();
        let position = |line| lines.iter().rposition(|other| other == line).unwrap();
        assert!(position(PUBLISH) < position(CALIBRATE) && position(CALIBRATE) < position(END), "{lines:?}");
        assert!(
            summary.to_string().contains("calibrated: 80 questions about something else reach evidence -")
        );
    }
}

#[test]
fn a_sync_without_changes_calibrates_only_if_the_last_calibration_is_outdated() {
    let measured = |stored: Value, changed: &'static str| {
        let server = FakeServer::start(move |request, before| match request.line.as_str() {
            STORED => json(200, stored.to_string()),
            LANGUAGES => json(200, r#"[{"language":"english","chunks":5}]"#),
            // The first request lists the collection, which is empty; the second asks for later changes.
            LIST if before == 1 => json(200, changed),
            _ => empty(request),
        });
        Folder::new(&[]).sync(&server).unwrap();
        server.count(MATCH) > 0
    };
    assert!(measured(value!([]), "[]"), "there is none");
    assert!(measured(calibration("another"), "[]"), "it is of another model");
    assert!(measured(calibration("model"), r#"[{"id":"x"}]"#), "a document was changed since");
    assert!(!measured(calibration("model"), "[]"));
}

#[test]
fn a_language_without_questions_has_no_calibration() {
    let server = measured_server("finnish", "model", calibration("model"));
    let summary = Folder::with_two_files().sync(&server).unwrap();
    assert_eq!((server.count(MATCH), server.count(CALIBRATE)), (0, 0));
    assert_eq!((server.count(UNCALIBRATE), summary.calibration), (1, None));
}

#[test]
fn a_failed_calibration_is_a_warning_and_keeps_the_previous_one() {
    let server = measured_server("english", "another", calibration("model"));
    let summary = Folder::with_two_files().sync(&server).unwrap();
    assert!(!summary.has_failures(), "{summary:?}");
    assert!(summary.calibration_failure.is_some_and(|failure| failure.contains("kb reembed")));
    assert_eq!((server.count(CALIBRATE), server.count(UNCALIBRATE)), (0, 0));
}
