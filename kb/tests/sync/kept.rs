//! Documents that stay as they are although a source or a command line says otherwise.

use super::*;

/// The row of the first document that was written.
fn written(server: &FakeServer) -> Value {
    let insert = server.requests().into_iter().find(|request| request.line == INSERT).unwrap();
    serde_json::from_str::<Value>(&insert.body).unwrap()[0].clone()
}

fn bodies(server: &FakeServer, line: &str) -> Vec<Value> {
    let requests = server.requests().into_iter().filter(|request| request.line == line);
    requests.map(|request| serde_json::from_str(&request.body).unwrap()).collect()
}

#[test]
fn a_copy_of_a_hidden_text_is_reported() {
    let server = FakeServer::start(|request, _| match request.line.as_str() {
        PUBLISH => {
            json(200, r#"{"id":"00000000-0000-4000-8000-000000000001","restricted_like":"kb/prices.md"}"#)
        }
        _ => empty(request),
    });
    let summary = Folder::new(&[("copy.md", "Some text.")]).sync(&server).unwrap();
    assert!(
        matches!(results(&summary)[0].1, DocumentResult::Added(written) if written.notes[0].contains("hidden or restricted like kb/prices.md")),
        "{summary}"
    );
    let sketch = written(&server)["sketch"].as_array().unwrap().len();
    assert_eq!(sketch, 1, "of two words");
}

#[test]
fn a_document_that_is_hidden_during_a_run_is_not_removed() {
    let server = FakeServer::start(|request, before| match (request.line.as_str(), before) {
        (LIST, 0) => {
            json(200, value!([document(1, "kb/old.md", "ready", Some("originals/1/old.md"))]).to_string())
        }
        (DELETE, _) if request.body.contains(r#""keep_restricted":true"#) => {
            json(200, r#"["00000000-0000-0000-0000-000000000001"]"#)
        }
        _ => empty(request),
    });
    let summary = Folder::with_two_files().sync(&server).unwrap();
    assert!(
        matches!(results(&summary)[2], ("kb/old.md", DocumentResult::Skipped { reason }) if reason.contains("`kb remove`")),
        "{summary}"
    );
    assert_eq!(server.count(DELETE_FILES), 0);
}

#[test]
fn a_page_whose_bytes_change_and_whose_text_does_not_is_not_written_again() {
    let page = |nonce: &str, text: &str| {
        format!("<title>Prices</title><script nonce={nonce}></script><main><p>{text}</p></main>")
    };
    let first = empty_server();
    Folder::new(&[("a.html", &page("1", "It costs 5 euros."))]).sync(&first).unwrap();
    let row = written(&first);
    let mut stored = document(1, "kb/a.html", "ready", Some("originals/1/a.html"));
    stored["content_hash"] = row["content_hash"].clone();
    stored["written_hash"] = row["written_hash"].clone();
    for originals in [false, true] {
        let server = server_with(value!([stored]));
        let folder = Folder::new(&[("a.html", &page("2", "It costs 5 euros."))]);
        let summary =
            folder.sync_with(&server.url, |options| options.settings.originals = Some(originals)).unwrap();
        assert_eq!(results(&summary), [("kb/a.html", &DocumentResult::Unchanged)]);
        assert_eq!((server.count(INSERT), server.count(CHUNKS), server.count(PUBLISH)), (0, 0, 0));
        let note = bodies(&server, UPDATE).remove(0);
        assert!(note["content_hash"].is_string() && note["content_hash"] != row["content_hash"], "{note}");
        assert_eq!(note["storage_path"].is_string(), originals);
        assert_ne!(note["storage_path"], "originals/1/a.html", "the original is the new file");
        assert_eq!(server.count(DELETE_FILES), 1);
    }
    for changed in
        [page("2", "It costs 6 euros."), page("2", "It costs 5 euros.").replace("Prices", "Tariffs")]
    {
        let server = server_with(value!([stored]));
        let summary = Folder::new(&[("a.html", &changed)]).sync(&server).unwrap();
        assert!(matches!(results(&summary)[0].1, DocumentResult::Changed(_)), "{summary}");
    }
}

#[test]
fn a_new_version_that_cannot_be_read_is_noted_once_and_forgotten_when_the_old_one_is_back() {
    let server = server_with(value!([document(1, "kb/a.md", "ready", None)]));
    let folder = Folder::new(&[("a.md", "---\naudience: hr\n---\n\nRefunds take 14 days.")]);
    folder.sync(&server).unwrap();
    let notes = bodies(&server, NOTE);
    assert_eq!((notes.len(), &notes[0]["source"]), (1, &value!("kb/a.md")));
    assert!(notes[0]["failure"].as_str().unwrap().contains("audience"), "{notes:?}");

    let mut failed = document(1, "kb/a.md", "ready", None);
    (failed["failure"], failed["failed_version"]) =
        (notes[0]["failure"].clone(), notes[0]["version"].clone());
    let server = server_with(value!([failed]));
    let never: Arc<kb::sync::Extract> = Arc::new(|_, _| panic!("it is read again"));
    let summary = folder.sync_with(&server.url, |options| options.extract = never).unwrap();
    assert!(
        matches!(results(&summary)[0].1, DocumentResult::Failed { reason } if reason.contains("audience"))
    );
    assert_eq!((server.count(NOTE), server.count(DELETE)), (0, 0));

    failed["content_hash"] = {
        let first = empty_server();
        Folder::new(&[("a.md", "Refunds take 30 days.")]).sync(&first).unwrap();
        written(&first)["content_hash"].clone()
    };
    std::fs::write(folder.path("a.md"), "Refunds take 30 days.").unwrap();
    let server = server_with(value!([failed]));
    assert_eq!(results(&folder.sync(&server).unwrap())[0].1, &DocumentResult::Unchanged);
    assert_eq!(bodies(&server, UPDATE)[0]["failure"], Value::Null);
}

#[test]
fn an_unreadable_file_of_the_bucket_is_not_downloaded_again() {
    let file = value!([{ "name": "scan.pdf", "id": "1", "metadata": { "size": 9, "eTag": "\"v1\"" } }]);
    let server = |rows: Value| {
        let files = file.to_string();
        FakeServer::start(move |request, before| match (request.line.as_str(), before) {
            (LIST, 0) => json(200, rows.to_string()),
            ("POST /storage/v1/object/list/kb", 0) => json(200, files.clone()),
            ("POST /storage/v1/object/list/kb", _) => json(200, "[]"),
            ("GET /storage/v1/object/authenticated/kb/scan.pdf", _) => json(200, "no PDF at all"),
            _ => empty(request),
        })
    };
    const DOWNLOAD: &str = "GET /storage/v1/object/authenticated/kb/scan.pdf";
    let first = server(value!([]));
    let summary = Folder::sync_source(&Source::Bucket, &first.url, |_| {}).unwrap();
    assert!(summary.has_failures() && first.count(DOWNLOAD) == 1, "{summary} {:?}", first.requests());
    let note = bodies(&first, NOTE).remove(0);
    let mut failed = document(1, "kb/scan.pdf", "failed", None);
    (failed["failure"], failed["failed_version"]) = (note["failure"].clone(), note["version"].clone());
    let second = server(value!([failed]));
    let summary = Folder::sync_source(&Source::Bucket, &second.url, |_| {}).unwrap();
    assert!(summary.has_failures() && second.count(DOWNLOAD) == 0, "{summary}");
    assert_eq!((second.count(NOTE), second.count(DELETE)), (0, 0));
}

#[test]
fn a_run_uses_the_settings_of_the_collection_and_stores_those_of_the_first() {
    let first = empty_server();
    Folder::with_two_files().sync(&first).unwrap();
    let stored = bodies(&first, SETTINGS).remove(0)["settings"].clone();
    assert_eq!(stored["language"], "german");
    let server = || {
        let mut settings = stored.clone();
        settings["audience"] = value!(["team:hr"]);
        FakeServer::start(move |request, _| match request.line.as_str() {
            BEGIN => json(200, value!({ "acquired": true, "settings": settings }).to_string()),
            "GET /rest/v1/kb_syncs" => json(200, value!([{ "settings": settings }]).to_string()),
            _ => empty(request),
        })
    };
    let by_hand = server();
    Folder::with_two_files().sync_with(&by_hand.url, |options| options.settings.language = None).unwrap();
    assert_eq!(
        (&written(&by_hand)["audience"], &written(&by_hand)["language"]),
        (&value!(["team:hr"]), &value!("german"))
    );
    assert_eq!(by_hand.count(SETTINGS), 0);

    let other = |options: &mut Options| options.settings.audience = Some(vec!["team:it".to_owned()]);
    for is_dry in [false, true] {
        let refused = server();
        let error = Folder::with_two_files()
            .sync_with(&refused.url, |options| {
                other(options);
                options.dry_run = is_dry;
            })
            .unwrap_err();
        assert!(error.to_string().contains("--change-settings"), "{error}");
        assert_eq!((refused.count(LIST), refused.count(INSERT)), (0, 0));
        if !is_dry {
            assert!(bodies(&refused, END)[0]["failure"].as_str().unwrap().contains("team:hr"));
        }
    }
    let changed = server();
    Folder::with_two_files()
        .sync_with(&changed.url, |options| {
            other(options);
            options.change_settings = true;
        })
        .unwrap();
    assert_eq!(bodies(&changed, SETTINGS)[0]["settings"]["audience"], value!(["team:it"]));
}

#[test]
fn why_a_run_did_nothing_is_stored() {
    let documents: Vec<_> = (0..10).map(|at| document(at, &format!("kb/{at}.md"), "ready", None)).collect();
    let server = server_with(documents.into());
    Folder::with_two_files().sync(&server).unwrap_err();
    assert!(bodies(&server, END)[0]["failure"].as_str().unwrap().contains("--force"));
    let server = empty_server();
    Folder::with_two_files().sync(&server).unwrap();
    assert_eq!(bodies(&server, END)[0]["failure"], Value::Null);
}
