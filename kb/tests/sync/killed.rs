//! Processes that are killed at any request, against a server that keeps what they wrote.

use std::collections::{BTreeMap, HashMap};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::support::{Answer, FakeServer, Request, json};
use super::{CHUNKS, DELETE, Folder, INSERT, LIST, PUBLISH, document, empty};

/// Names the server to the child process.
const SERVER: &str = "KB_TEST_SERVER";
/// Names the folder to the child process.
const FOLDER: &str = "KB_TEST_FOLDER";

/// The tables, as far as a sync without originals writes them.
#[derive(Default)]
struct Tables {
    documents: HashMap<String, Value>,
    /// Ordinals by document.
    chunks: HashMap<String, Vec<u64>>,
    /// Sources in the order of their publication.
    published: Vec<String>,
    /// Sources that were written again although they were current.
    repeated: Vec<String>,
}

impl Tables {
    fn apply(&mut self, request: &Request) -> Option<Answer> {
        let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
        match request.line.as_str() {
            // The second page, and the check of the calibration.
            LIST if request.query.contains("gt.") => return Some(json(200, "[]")),
            LIST => return Some(json(200, self.documents.values().cloned().collect::<Value>().to_string())),
            INSERT => body.as_array().into_iter().flatten().for_each(|row| self.begin(row)),
            CHUNKS => {
                for chunk in body["chunks"].as_array().into_iter().flatten() {
                    let ordinal = chunk["ordinal"].as_u64().unwrap();
                    self.chunks.entry(text(&chunk["document_id"])).or_default().push(ordinal);
                }
            }
            PUBLISH => self.publish(&text(&body["document_id"])),
            DELETE => {
                for id in body["ids"].as_array().into_iter().flatten() {
                    self.documents.remove(&text(id));
                    self.chunks.remove(&text(id));
                }
            }
            _ => return None,
        }
        None
    }

    fn begin(&mut self, row: &Value) {
        let is_current = |other: &&Value| {
            other["status"] == "ready"
                && other["source"] == row["source"]
                && other["content_hash"] == row["content_hash"]
        };
        if self.documents.values().any(|other| is_current(&other)) {
            self.repeated.push(text(&row["source"]));
        }
        self.documents.insert(text(&row["id"]), row.clone());
    }

    /// Like `kb_publish_document`: the ready row of the source keeps its id.
    fn publish(&mut self, id: &str) {
        let mut row = self.documents.remove(id).expect("a pending document");
        assert_eq!(row["status"], "pending");
        let chunks = self.chunks.remove(id).expect("a document with chunks");
        let old = self.documents.iter().find(|(_, other)| other["source"] == row["source"]);
        let id = old.map_or(id.to_owned(), |(id, _)| id.clone());
        row["id"] = id.clone().into();
        row["status"] = "ready".into();
        self.published.push(text(&row["source"]));
        self.documents.insert(id.clone(), row);
        self.chunks.insert(id, chunks);
    }

    /// Numbers of chunks by source of the ready documents, which users see. Each must be complete.
    fn visible(&self) -> BTreeMap<String, usize> {
        let ready = self.documents.iter().filter(|(_, row)| row["status"] == "ready");
        let counted = ready.map(|(id, row)| {
            let mut ordinals = self.chunks[id].clone();
            ordinals.sort_unstable();
            let all: Vec<u64> = (0..ordinals.len() as u64).collect();
            assert_eq!(ordinals, all, "the chunks of {}", row["source"]);
            (text(&row["source"]), ordinals.len())
        });
        counted.collect()
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// A knowledge base with an old version of `a.md`.
fn tables() -> Tables {
    let old = document(1, "kb/a.md", "ready", None);
    let id = text(&old["id"]);
    Tables {
        documents: HashMap::from([(id.clone(), old)]),
        chunks: HashMap::from([(id, vec![0])]),
        ..Tables::default()
    }
}

/// A large file, which is written in parts, and some small ones.
fn folder() -> Folder {
    let large: String = (0..1200).map(|at| format!("Line number {at} of the text.\n\n")).collect();
    let mut files = vec![("large.txt", large.as_str())];
    let names = ["a.md", "b.md", "c.md", "d.md", "e.md"];
    files.extend(names.map(|name| (name, "# Title\n\nSome text.")));
    Folder::new(&files)
}

/// When to kill a process.
#[derive(Clone, Copy)]
struct Kill {
    /// At this request, counted from 1.
    at: usize,
    /// True if the server has executed the request, false if it never does.
    is_applied: bool,
}

/// Runs a sync in a process of its own, which is killed at a request or ends. Returns the number of its requests.
fn run(folder: &Folder, tables: &Arc<Mutex<Tables>>, kill: Option<Kill>) -> usize {
    let child = Arc::new(Mutex::new(None::<Child>));
    let server = FakeServer::start({
        let (tables, child) = (Arc::clone(tables), Arc::clone(&child));
        let requests = AtomicUsize::new(0);
        move |request, _| {
            let number = 1 + requests.fetch_add(1, Ordering::Relaxed);
            let is_last = kill.is_some_and(|kill| number >= kill.at);
            let is_ignored =
                kill.is_some_and(|kill| number > kill.at || (number == kill.at && !kill.is_applied));
            let answer = if is_ignored { None } else { tables.lock().unwrap().apply(request) };
            if is_last {
                child.lock().unwrap().as_mut().expect("a process").kill().unwrap();
                return Answer::Drop;
            }
            answer.unwrap_or_else(|| empty(request))
        }
    });
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "killed::a_process_that_syncs_for_the_other_tests", "--ignored"])
        .env(SERVER, &server.url)
        .env(FOLDER, folder.0.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut running = child.lock().unwrap();
    *running = Some(command.spawn().unwrap());
    drop(running);
    // Not while holding the lock, which the server needs to kill it.
    let status = loop {
        let ended = child.lock().unwrap().as_mut().expect("a process").try_wait().unwrap();
        if let Some(status) = ended {
            break status;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    };
    assert_eq!(status.success(), kill.is_none_or(|kill| server.requests().len() < kill.at), "{status}");
    server.requests().len()
}

#[test]
fn a_process_killed_at_any_request_shows_no_part_of_a_document_and_repeats_none() {
    let folder = folder();
    let undisturbed = Arc::new(Mutex::new(tables()));
    let requests = run(&folder, &undisturbed, None);
    let expected = undisturbed.lock().unwrap().visible();
    assert!(expected.len() == 6 && expected["kb/large.txt"] > 10, "{expected:?}");

    for seed in 0..2_usize {
        let tables = Arc::new(Mutex::new(tables()));
        // Steps that share no factor with each other reach every kind of request.
        for step in 1..8 {
            let kill = Kill {
                at: 1 + (seed * 5 + step * 7) % requests,
                is_applied: (seed + step).is_multiple_of(2),
            };
            run(&folder, &tables, Some(kill));
            for (source, chunks) in tables.lock().unwrap().visible() {
                // The old version of a.md also has one chunk.
                assert_eq!(chunks, expected[&source], "{source}");
            }
        }
        run(&folder, &tables, None);
        let tables = tables.lock().unwrap();
        assert_eq!(tables.visible(), expected);
        assert_eq!(tables.documents.len(), expected.len(), "nothing pending is left");
        assert_eq!(tables.repeated, [""; 0]);
        let mut published = tables.published.clone();
        published.sort_unstable();
        assert!(published.iter().eq(expected.keys()), "{published:?}");
    }
}

#[ignore = "started by a_process_killed_at_any_request_shows_no_part_of_a_document_and_repeats_none"]
#[test]
fn a_process_that_syncs_for_the_other_tests() {
    let (Ok(url), Ok(folder)) = (std::env::var(SERVER), std::env::var(FOLDER)) else { return };
    let summary = Folder::sync_path(folder.as_ref(), &url, |_| {}).unwrap();
    assert!(!summary.has_failures(), "{summary:?}");
}
