//! Whole syncs against the local Supabase, after random edits, renames, copies, hides, restrictions, incomplete listings and kills.
//!
//! Whatever happens, a text that is hidden from somebody does not become visible to them by a sync, a sync removes no more than was
//! removed in the folder, and in the end the collection equals a fresh one. `WHOLE_SYNCS` is the number of sequences (default 2),
//! `WHOLE_SYNCS_FROM` the first.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use kb::knowledge_base::KnowledgeBase;
use kb::progress::Progress;
use kb::source::Source;
use kb::supabase::{Backoff, Client};
use kb::sync::{LeaseTimes, Options, Settings, Summary, SyncError, sync};
use kb::text_embedder::TextEmbedder;
use serde_json::{Value, json};

#[derive(Clone)]
struct FakeEmbedder;

impl TextEmbedder for FakeEmbedder {
    fn count_tokens(&self, text: &str) -> usize {
        text.split_whitespace().count() + 2
    }

    fn vector(&mut self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; 384];
        vector[text.len() % 384] = 1.0;
        vector
    }
}

/// Killed when the test ends.
struct Supabase {
    process: Child,
    url: String,
    key: String,
    _data: tempfile::TempDir,
}

impl Drop for Supabase {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Supabase {
    /// `None` without Node and its packages, as on a computer that builds Rust only.
    fn start() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let data = tempfile::tempdir().unwrap();
        let mut process = Command::new("node")
            .arg(root.join("local/supabase/server.mjs"))
            .envs([("DATA_DIR", data.path().as_os_str()), ("PORT", OsStr::new("0"))])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("`cargo xtask test rust` fetches Node.js");
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let url = lines.find_map(|line| Some(line.strip_prefix("ready ")?.to_owned()));
        let url = url.expect("`cargo xtask test rust` fetches the packages of Node.js");
        let keys: Value =
            serde_json::from_slice(&std::fs::read(data.path().join("keys.json")).unwrap()).unwrap();
        let key = keys["secret_key"].as_str().unwrap().to_owned();
        Self { process, url, key, _data: data }
    }

    async fn rest(&self, method: &str, path: &str, body: &Value) -> Value {
        let request =
            reqwest::Client::new().request(method.parse().unwrap(), format!("{}/rest/v1/{path}", self.url));
        let request =
            request.header("apikey", &self.key).header("authorization", format!("Bearer {}", self.key));
        let body = if method == "PATCH" { body.to_string() } else { String::new() };
        let response = request.header("content-type", "application/json").body(body).send().await.unwrap();
        assert!(response.status().is_success(), "{path}: {}", response.text().await.unwrap());
        serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default()
    }
}

/// A ready document with its text.
#[derive(Debug, Clone, PartialEq)]
struct Stored {
    id: String,
    text: String,
    enabled: bool,
    audience: Value,
    meta: Value,
    language: String,
}

/// The readers: users of the default audience, and members of the team as well.
const VIEWERS: [bool; 2] = [false, true];

impl Stored {
    fn is_visible(&self, is_member: bool) -> bool {
        self.enabled && (self.audience.is_null() || is_member)
    }

    fn is_restricted(&self) -> bool {
        !self.enabled || !self.audience.is_null()
    }
}

/// A generator that repeats a sequence for its number.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

const NAMES: [&str; 5] = ["a.md", "b.md", "c.md", "deep/d.md", "deep/e.md"];

/// Every second text is the one before with one more sentence.
fn text(number: usize) -> String {
    let base = number / 2 * 2;
    let words: Vec<_> = (0..30).map(|at| format!("word{base}x{at}")).collect();
    let more = if number % 2 == 1 { format!(" Only number{number} says this line.") } else { String::new() };
    format!("{}.{more}", words.join(" "))
}

struct Sequence<'a> {
    supabase: &'a Supabase,
    knowledge_base: KnowledgeBase,
    folder: tempfile::TempDir,
    random: Random,
    /// Documents that had a text while a viewer could not see them, and were not shown again since.
    holders: HashMap<(String, bool), BTreeSet<String>>,
    log: Vec<String>,
}

impl Sequence<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("kb").join(name)
    }

    fn unreadable(&self) -> PathBuf {
        use std::os::unix::ffi::OsStrExt;
        self.folder.path().join("kb").join(OsStr::from_bytes(b"\xff.md"))
    }

    fn files(&self) -> BTreeMap<&'static str, String> {
        let read = |name| Some((name, std::fs::read_to_string(self.path(name)).ok()?.trim().to_owned()));
        NAMES.into_iter().filter_map(read).collect()
    }

    async fn stored(&self, collection: &str) -> BTreeMap<String, Stored> {
        let columns = "id,source,enabled,audience,meta,language,kb_chunks(content,ordinal)";
        let path = format!("kb_documents?select={columns}&status=eq.ready&collection=eq.{collection}");
        let rows = self.supabase.rest("GET", &path, &Value::Null).await;
        let stored = rows.as_array().unwrap().iter().map(|row| {
            let chunks = row["kb_chunks"].as_array().unwrap();
            let text: Vec<_> = chunks.iter().map(|chunk| chunk["content"].as_str().unwrap()).collect();
            let string = |column: &str| row[column].as_str().unwrap().to_owned();
            let source = string("source").split_once('/').unwrap().1.to_owned();
            let stored = Stored {
                id: string("id"),
                text: text.join("\n"),
                enabled: row["enabled"] == true,
                audience: row["audience"].clone(),
                meta: row["meta"].clone(),
                language: string("language"),
            };
            (source, stored)
        });
        stored.collect()
    }

    async fn sync(
        &self,
        collection: &str,
        force: bool,
        kill_after: Option<u64>,
    ) -> Option<Result<Summary, SyncError>> {
        let options = Options {
            collection: collection.to_owned(),
            settings: Settings {
                source: "folder kb".to_owned(),
                place: None,
                // Nothing is calibrated in a language without questions.
                language: Some("danish".to_owned()),
                audience: None,
                originals: Some(false),
            },
            change_settings: false,
            dry_run: false,
            force,
            missing_for: Duration::ZERO,
            extract: Arc::new(extract::document),
            lease_times: LeaseTimes { max_wait: Duration::ZERO, ..LeaseTimes::default() },
        };
        let source = Source::Folder(self.folder.path().join("kb"));
        let (load, progress) = (|| Ok(FakeEmbedder), Progress::hidden());
        let run = sync(&source, &self.knowledge_base, &options, "model", load, &progress);
        let Some(milliseconds) = kill_after else { return Some(run.await) };
        let run = tokio::time::timeout(Duration::from_millis(milliseconds), run).await.ok();
        // What it sent arrives, and after a minute its lease ends.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let past = json!({ "renewed_at": "2020-01-01T00:00:00Z" });
        self.supabase.rest("PATCH", "kb_syncs?collection=eq.kb", &past).await;
        run
    }

    /// Notes which texts are held back from whom.
    fn hold(&mut self, stored: &BTreeMap<String, Stored>) {
        for (document, is_member) in
            stored.values().flat_map(|document| VIEWERS.map(|viewer| (document, viewer)))
        {
            if !document.is_visible(is_member) {
                let key = (document.text.clone(), is_member);
                self.holders.entry(key).or_default().insert(document.id.clone());
            }
        }
    }

    async fn edit(&mut self) {
        let name = NAMES[self.random.below(NAMES.len())];
        let other = NAMES[self.random.below(NAMES.len())];
        let (path, target) = (self.path(name), self.path(other));
        let what = match self.random.below(9) {
            0..=2 => {
                let (number, lines) = (self.random.below(8), self.random.below(3));
                std::fs::write(&path, text(number) + &"\n".repeat(lines)).unwrap();
                format!("write {name} {number}")
            }
            3 => {
                let _ = std::fs::rename(&path, &target);
                format!("rename {name} {other}")
            }
            4 if name != other => {
                let _ = std::fs::copy(&path, &target);
                format!("copy {name} {other}")
            }
            5 => {
                let _ = std::fs::remove_file(&path);
                format!("delete {name}")
            }
            6 => {
                if std::fs::remove_file(self.unreadable()).is_err() {
                    std::fs::write(self.unreadable(), "text").unwrap();
                }
                "outage on or off".to_owned()
            }
            _ => {
                let changes = [
                    json!({ "enabled": false }),
                    json!({ "audience": ["team:x"] }),
                    json!({ "enabled": true, "audience": null }),
                ];
                let at = self.random.below(5).min(4);
                let changes = &changes[[0, 0, 1, 1, 2][at]];
                self.supabase.rest("PATCH", &format!("kb_documents?source=eq.kb/{name}"), changes).await;
                let stored = self.stored("kb").await;
                if let Some(document) = stored.get(name).filter(|_| at == 4) {
                    self.holders.values_mut().for_each(|holders| holders.retain(|id| *id != document.id));
                }
                self.hold(&stored);
                format!("{name} {changes}")
            }
        };
        self.log.push(what);
    }

    async fn sync_and_check(&mut self) {
        let before = self.stored("kb").await;
        let kill_after = (self.random.below(3) == 0).then(|| self.random.below(250) as u64);
        self.log.push(format!("sync, killed after {kill_after:?}"));
        let outcome = self.sync("kb", false, kill_after).await;
        let after = self.stored("kb").await;
        let log = format!("{:#?}\n{outcome:?}\nbefore {before:#?}\nafter {after:#?}", self.log);
        for ((text, is_member), holders) in &self.holders {
            let sees = |documents: &BTreeMap<String, Stored>| {
                documents.values().any(|document| document.text == *text && document.is_visible(*is_member))
            };
            let is_new = sees(&after) && !sees(&before);
            assert!(holders.is_empty() || !is_new, "{text:?} became visible\n{log}");
        }
        let files = self.files();
        let is_listed = !self.unreadable().exists();
        for (name, document) in &before {
            let remains = after.values().any(|other| other.id == document.id);
            assert!(
                !files.contains_key(name.as_str()) || after.contains_key(name),
                "{name} was removed\n{log}"
            );
            assert!(is_listed || remains, "{name} was removed from an incomplete listing\n{log}");
            assert!(
                !document.is_restricted() || remains,
                "{name} was removed although it is restricted\n{log}"
            );
        }
        self.hold(&after);
    }

    /// Everything is shown again, and readable.
    async fn end(&mut self) {
        let _ = std::fs::remove_file(self.unreadable());
        let show = json!({ "enabled": true, "audience": null });
        self.supabase.rest("PATCH", "kb_documents?collection=eq.kb", &show).await;
        for collection in ["kb", "fresh"] {
            let summary = self.sync(collection, true, None).await.unwrap().unwrap();
            assert!(!summary.has_failures(), "{summary}\n{:#?}", self.log);
        }
        let without_id =
            |(name, document): (String, Stored)| (name, Stored { id: String::new(), ..document });
        let kept: BTreeMap<_, _> = self.stored("kb").await.into_iter().map(without_id).collect();
        let fresh: BTreeMap<_, _> = self.stored("fresh").await.into_iter().map(without_id).collect();
        assert_eq!(kept, fresh, "{:#?}", self.log);
        let texts: BTreeMap<_, _> =
            kept.iter().map(|(name, document)| (name.as_str(), document.text.clone())).collect();
        assert_eq!(texts, self.files(), "{:#?}", self.log);
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[cfg_attr(
    not(target_os = "linux"),
    ignore = "platform: other file systems reject names that are not Unicode"
)]
#[test]
fn no_sequence_of_syncs_shows_what_is_hidden_or_removes_what_is_there_and_each_ends_as_a_fresh_one() {
    let supabase = Supabase::start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = number("WHOLE_SYNCS_FROM", 0);
    let mut syncs = 0;
    for seed in first..first + number("WHOLE_SYNCS", 2) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("kb/deep")).unwrap();
        let client = Client::new(&supabase.url, &supabase.key, Backoff::default()).unwrap();
        let mut sequence = Sequence {
            supabase: &supabase,
            knowledge_base: KnowledgeBase::new(client),
            folder,
            random: Random(seed),
            holders: HashMap::new(),
            log: vec![format!("sequence {seed}")],
        };
        runtime.block_on(async {
            for table in ["kb_documents?id=not.is.null", "kb_syncs?collection=not.is.null"] {
                supabase.rest("DELETE", table, &Value::Null).await;
            }
            for (at, name) in NAMES.into_iter().enumerate().take(4) {
                std::fs::write(sequence.path(name), text(at)).unwrap();
            }
            for _ in 0..8 {
                sequence.sync_and_check().await;
                syncs += 1;
                for _ in 0..=sequence.random.below(3) {
                    sequence.edit().await;
                }
            }
            sequence.end().await;
        });
    }
    eprintln!("{syncs} syncs");
}
