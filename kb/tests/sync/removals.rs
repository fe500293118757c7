//! Documents that a run removes, and those that it keeps although the source lacks them.

use super::*;

#[test]
fn a_document_missing_in_the_folder_is_removed_with_its_original_after_new_ones_are_written() {
    let server = server_with(value!([document(1, "kb/old.md", "ready", Some("originals/1/old.md"))]));
    let summary = Folder::with_two_files().sync(&server).unwrap();
    assert_eq!(results(&summary)[2], ("kb/old.md", &DocumentResult::Removed));
    let requests = server.requests();
    let position = |line: &str| requests.iter().rposition(|request| request.line == line).unwrap();
    assert!(position(PUBLISH) < position(DELETE) && position(DELETE) < position(DELETE_FILES));
}

#[test]
fn nothing_is_removed_when_a_run_is_stopped() {
    let documents = value!([document(1, "kb/old.md", "ready", None)]).to_string();
    let server = FakeServer::start(move |request, before| match (request.line.as_str(), before) {
        (LIST, 0) => json(200, documents.clone()),
        (PUBLISH, _) => Answer::Drop,
        _ => empty(request),
    });
    let summary = Folder::with_two_files().sync(&server).unwrap();
    assert!(summary.has_failures());
    assert_eq!(server.count(DELETE), 0);
}

#[test]
fn a_document_whose_file_cannot_be_read_is_kept() {
    let server = server_with(value!([document(1, "kb/large.md", "ready", None)]));
    let folder = Folder::with_two_files();
    std::fs::File::create(folder.path("large.md")).unwrap().set_len(1 << 30).unwrap();
    let summary = folder.sync(&server).unwrap();
    let results = results(&summary);
    assert!(
        matches!(results[2], ("kb/large.md", DocumentResult::Failed { reason }) if reason.contains("larger than 50 MB"))
    );
    assert_eq!(server.count(DELETE), 0);
}

fn removed(summary: &Summary) -> Vec<&str> {
    let removed = summary.documents.iter().filter(|entry| entry.result == DocumentResult::Removed);
    removed.map(|entry| entry.source.as_str()).collect()
}

/// Answers as [`server_with`], and calls `change` with the folder between the first listing and the reading of files.
fn server_that_changes(
    documents: Value,
    folder: &Folder,
    change: impl Fn(&Path) + Send + 'static,
) -> FakeServer {
    let (page, path) = (documents.to_string(), folder.0.path().join("kb"));
    FakeServer::start(move |request, before| match (request.line.as_str(), before) {
        (LIST, 0) => {
            change(&path);
            json(200, page.clone())
        }
        _ => empty(request),
    })
}

#[test]
fn nothing_is_removed_while_a_new_file_cannot_be_read() {
    let old = document(1, "kb/old.md", "ready", None);
    // The second time, the note of the failure is there.
    for documents in [value!([old]), value!([old, document(2, "kb/new.md", "failed", None)])] {
        let folder = Folder::new(&[("a.md", "Some text."), ("new.md", "Some text.")]);
        let server = server_that_changes(documents, &folder, |path| {
            std::fs::remove_file(path.join("new.md")).unwrap();
        });
        let summary = folder.sync(&server).unwrap();
        let results = results(&summary);
        assert!(
            matches!(results[1], ("kb/new.md", DocumentResult::Failed { reason }) if reason.starts_with("cannot be read"))
        );
        assert!(
            matches!(results[2], ("kb/old.md", DocumentResult::Skipped { reason }) if reason.contains("kb/new.md"))
        );
        assert!(removed(&summary).is_empty());
    }
}

#[test]
fn a_renamed_document_is_moved_also_while_another_file_cannot_be_read() {
    let folder = Folder::new(&[("a.md", "Some text."), ("new.md", "Some text.")]);
    let server = server_that_changes(moved_document(), &folder, |path| {
        std::fs::remove_file(path.join("new.md")).unwrap();
    });
    let summary = folder.sync(&server).unwrap();
    assert!(matches!(results(&summary)[0], ("kb/a.md", DocumentResult::Moved { .. })));
}

#[test]
fn a_new_file_that_is_too_large_does_not_prevent_removals() {
    let server = server_with(value!([document(1, "kb/old.md", "ready", None)]));
    let folder = Folder::with_two_files();
    std::fs::File::create(folder.path("large.md")).unwrap().set_len(1 << 30).unwrap();
    folder.sync(&server).unwrap();
    assert_eq!(server.count(DELETE), 1);
}

#[test]
fn a_file_that_is_back_when_its_document_would_be_removed_keeps_it() {
    let folder = Folder::with_two_files();
    let documents =
        value!([document(1, "kb/back.md", "ready", None), document(2, "kb/gone.md", "ready", None)]);
    let server = server_that_changes(documents, &folder, |path| {
        std::fs::write(path.join("back.md"), "Some text.").unwrap();
    });
    let summary = folder.sync(&server).unwrap();
    assert_eq!(removed(&summary), ["kb/gone.md"]);
    assert!(
        matches!(results(&summary)[2], ("kb/back.md", DocumentResult::Skipped { reason }) if reason.contains("again"))
    );
}

#[test]
fn a_document_whose_source_cannot_be_listed_again_is_not_removed_and_the_others_are_written() {
    let folder = Folder::with_two_files();
    let documents = value!([document(1, "kb/b.md", "ready", None), document(2, "kb/old.md", "ready", None)]);
    let (page, path) = (documents.to_string(), folder.0.path().join("kb"));
    let server = FakeServer::start(move |request, before| match (request.line.as_str(), before) {
        (LIST, 0) => json(200, page.clone()),
        (PUBLISH, 0) => {
            // What was opened before stays readable.
            std::fs::rename(&path, path.with_extension("moved")).unwrap();
            empty(request)
        }
        _ => empty(request),
    });
    let summary = folder.sync(&server).unwrap();
    let results = results(&summary);
    assert!(
        matches!(results[2], ("kb/old.md", DocumentResult::Failed { reason }) if reason.starts_with("is not removed")),
        "{results:?}"
    );
    assert!(matches!(results[1], ("kb/b.md", DocumentResult::Changed(_))), "{results:?}");
    assert_eq!((server.count(DELETE), server.count(PUBLISH)), (0, 2));
}

#[test]
fn a_missing_document_that_is_hidden_stays_unless_forced() {
    let mut hidden = document(1, "kb/hidden.md", "ready", None);
    hidden["enabled"] = false.into();
    let others = [2, 3].map(|id| document(id, &format!("kb/{id}.md"), "ready", None));
    let documents = value!([hidden, others[0], others[1]]);
    let folder = Folder::new(&[("2.md", "Some text."), ("3.md", "Some text.")]);
    let server = server_with(documents.clone());
    let summary = folder.sync(&server).unwrap();
    assert!(
        matches!(results(&summary)[2], ("kb/hidden.md", DocumentResult::Skipped { reason }) if reason.contains("`kb remove`"))
    );
    assert_eq!((server.count(DELETE), summary.has_failures()), (0, false));

    let server = server_with(documents.clone());
    folder.sync_with(&server.url, |options| options.force = true).unwrap();
    assert_eq!(server.count(DELETE), 1);

    // The database hides a new one if it has the text of the hidden one.
    std::fs::write(folder.path("new.md"), "Some text.").unwrap();
    std::fs::remove_file(folder.path("3.md")).unwrap();
    let server = server_with(documents);
    let summary = folder.sync(&server).unwrap();
    let results = results(&summary);
    assert!(matches!(results[0], ("kb/2.md", DocumentResult::Changed(_))), "{results:?}");
    assert_eq!(results[1], ("kb/3.md", &DocumentResult::Removed));
    assert!(matches!(results[2], ("kb/hidden.md", DocumentResult::Skipped { .. })), "{results:?}");
    assert!(matches!(results[3], ("kb/new.md", DocumentResult::Added(_))), "{results:?}");
    assert_eq!((server.count(DELETE), server.count(PUBLISH)), (1, 2));
}

#[test]
fn new_documents_are_written_first_and_missing_ones_removed_before_others_are_written() {
    let server =
        server_with(value!([document(1, "kb/b.md", "ready", None), document(2, "kb/old.md", "ready", None)]));
    Folder::with_two_files().sync(&server).unwrap();
    let requests = server.requests();
    let steps = requests.iter().filter_map(|request| match request.line.as_str() {
        INSERT if request.body.contains("kb/a.md") => Some("write new"),
        INSERT if request.body.contains("kb/b.md") => Some("write changed"),
        DELETE => Some("remove"),
        _ => None,
    });
    assert_eq!(steps.collect::<Vec<_>>(), ["write new", "remove", "write changed"]);
}

#[cfg_attr(target_os = "macos", ignore = "platform: the file system of macOS rejects such names")]
#[test]
fn nothing_is_removed_when_a_file_name_is_not_unicode() {
    use std::os::unix::ffi::OsStrExt;
    let server = server_with(value!([document(1, "kb/old.md", "ready", None)]));
    let folder = Folder::with_two_files();
    let name = Path::new(std::ffi::OsStr::from_bytes(b"\xff.md"));
    std::fs::write(folder.0.path().join("kb").join(name), "text").unwrap();
    assert!(folder.sync(&server).unwrap().has_failures());
    assert_eq!(server.count(DELETE), 0);
}

#[test]
fn an_empty_folder_removes_nothing_unless_forced() {
    let documents = value!([document(1, "kb/a.md", "ready", None)]);
    let server = server_with(documents.clone());
    assert!(matches!(Folder::new(&[]).sync(&server), Err(SyncError::ManyRemovals { removed: 1, .. })));
    let server = server_with(documents);
    Folder::new(&[]).sync_with(&server.url, |options| options.force = true).unwrap();
    assert_eq!(server.count(DELETE), 1);
}

#[test]
fn a_document_that_becomes_a_draft_is_removed_and_a_new_draft_is_skipped() {
    let server = server_with(value!([
        document(1, "kb/a.md", "ready", None),
        document(2, "kb/b.md", "ready", None),
        document(3, "kb/page.html", "ready", None),
    ]));
    let folder = Folder::with_two_files();
    std::fs::write(folder.path("b.md"), "---\ndraft: true\n---\nPrices rise by 20 %.").unwrap();
    std::fs::write(folder.path("page.html"), "<meta name=robots content=noindex><p>Prices rise.").unwrap();
    std::fs::write(folder.path("new.md"), "---\npublished: false\n---\nPrices rise.").unwrap();
    let summary = folder.sync(&server).unwrap();
    let mut gone = removed(&summary);
    gone.sort_unstable();
    assert_eq!(gone, ["kb/b.md", "kb/page.html"]);
    let skipped = results(&summary).into_iter().find(|(source, _)| *source == "kb/new.md").unwrap();
    assert!(matches!(skipped.1, DocumentResult::Skipped { reason } if reason.contains("`published: false`")));
    assert!(!summary.has_failures(), "{summary}");
    assert!(!chunks(&server).iter().any(|chunk| chunk.to_string().contains("Prices")));
}

#[test]
fn a_draft_that_is_hidden_in_the_database_stays_hidden() {
    let mut hidden = document(2, "kb/b.md", "ready", None);
    hidden["enabled"] = value!(false);
    let server = server_with(value!([document(1, "kb/a.md", "ready", None), hidden]));
    let folder = Folder::with_two_files();
    std::fs::write(folder.path("b.md"), "---\ndraft: true\n---\nPrices rise by 20 %.").unwrap();
    assert!(removed(&folder.sync(&server).unwrap()).is_empty());
    assert_eq!((server.count(DELETE), server.count(PUBLISH)), (0, 1));
}

#[test]
fn pages_of_a_site_are_drafts_and_have_an_audience_as_files_do() {
    let server = FakeServer::start(|request, _| match request.line.as_str() {
        "GET /robots.txt" => json(404, ""),
        "GET /hidden" => {
            Answer::Page("text/html", "<meta name=robots content=noindex><p>Prices rise.".to_owned())
        }
        "GET /draft.md" => Answer::Page("text/plain", "---\ndraft: true\n---\nPrices rise.".to_owned()),
        "GET /hr.md" => Answer::Page("text/plain", "---\naudience: [team:hr]\n---\nSome text.".to_owned()),
        _ => empty(request),
    });
    let folder = Folder::new(&[]);
    let list = ["hidden", "draft.md", "hr.md"].map(|page| format!("{}/{page}\n", server.url)).concat();
    std::fs::write(folder.path("pages.txt"), list).unwrap();
    let source = Source::open(&SourceName::AddressList(folder.path("pages.txt"))).unwrap();
    let summary = Folder::sync_source(&source, &server.url, |_| {}).unwrap();
    assert!(!summary.has_failures(), "{summary}");
    let is_skipped = |entry: &&(&str, &DocumentResult)| matches!(entry.1, DocumentResult::Skipped { .. });
    assert_eq!(results(&summary).iter().filter(is_skipped).count(), 2, "{summary}");
    let written = server.requests().into_iter().find(|request| request.line == INSERT).unwrap();
    assert!(written.body.contains(r#""audience":["team:hr"]"#), "{}", written.body);
}
