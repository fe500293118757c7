//! A source that has trouble costs nothing: what is not known about a document leaves it as it is.

use super::*;
use kb::sync::Entry;

const HTML: &str = "text/html";

/// Syncs the pages of a sitemap. `stored` are the pages of the knowledge base, each with another text.
fn sync_site(
    pages: &'static [&'static str],
    stored: &'static [&'static str],
    answer: impl Fn(&str) -> Answer + Send + 'static,
) -> (FakeServer, Summary) {
    let server = FakeServer::start(move |request, before| match (request.line.as_str(), before) {
        (LIST, 0) => {
            let documents = stored.iter().zip(1..).map(|(page, id)| {
                let mut stored = document(id, &format!("kb/{page}"), "ready", None);
                // A hash of the text, which versions of a page share, and one of all.
                let text = page.split('-').next().unwrap();
                stored["written_hash"] = format!("{text} {page}").into();
                stored
            });
            json(200, Value::from_iter(documents).to_string())
        }
        ("GET /robots.txt", _) => json(404, ""),
        ("GET /sitemap.xml", _) => Answer::Page("application/xml", urlset(request, pages)),
        (line, _) if line.starts_with("GET /") && !line.contains("/v1/") => answer(&line[5..]),
        _ => empty(request),
    });
    let sitemap = format!("{}/sitemap.xml", server.url);
    let source = Source::open(&SourceName::parse(&sitemap).unwrap()).unwrap();
    let summary = Folder::sync_source(&source, &server.url, |_| {}).unwrap();
    (server, summary)
}

fn locations(request: &Request, paths: &[&str]) -> String {
    let host = request
        .headers
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("host: ").map(str::to_owned));
    let host = host.unwrap();
    paths.iter().map(|path| format!("<url><loc>http://{host}/{path}</loc></url>")).collect()
}

fn urlset(request: &Request, paths: &[&str]) -> String {
    format!("<urlset>{}</urlset>", locations(request, paths))
}

fn page(text: &str) -> Answer {
    Answer::Page(HTML, format!("<title>Help</title><p>{text}</p>"))
}

fn failed<'s>(summary: &'s Summary, source: &str) -> &'s str {
    let entry = summary.documents.iter().find(|entry| entry.source == source).unwrap();
    match &entry.result {
        DocumentResult::Failed { reason } => reason,
        other => panic!("{source}: {other:?}"),
    }
}

#[test]
fn a_page_that_leads_elsewhere_neither_replaces_nor_removes_its_document() {
    const PAGES: &[&str] =
        &["signin", "host", "home", "query", "password", "gone", "hidden", "header", "meta"];
    let (server, summary) = sync_site(PAGES, PAGES, |path| match path {
        "signin" => Answer::Http(302, "text/html\r\nLocation: /login", String::new()),
        "host" => {
            Answer::Http(301, "text/html\r\nLocation: https://accounts.example.com/login", String::new())
        }
        "home" => Answer::Http(301, "text/html\r\nLocation: /", String::new()),
        "query" => Answer::Http(301, "text/html\r\nLocation: /login?next=%2Fquery", String::new()),
        "password" => Answer::Http(301, "text/html\r\nLocation: /account", String::new()),
        "gone" => Answer::Http(301, "text/html\r\nLocation: /nowhere", String::new()),
        "hidden" => Answer::Http(301, "text/html\r\nLocation: /noindex", String::new()),
        "header" => Answer::Http(200, "text/html\r\nRefresh: 0; url=/login", "<p>One moment.</p>".to_owned()),
        "meta" => page("<meta http-equiv=refresh content='3; URL=\"/login\"'>One moment."),
        "account" => page("<input type=password>"),
        "noindex" => page("<meta name=robots content=noindex>Please sign in."),
        "nowhere" => json(404, ""),
        _ => page("Please sign in."),
    });
    for path in PAGES {
        let reason = failed(&summary, &format!("kb/{path}"));
        let says_why = ["leads to", "asks not", "not published"].iter().any(|part| reason.contains(part));
        assert!(says_why, "{path}: {reason}");
    }
    assert_eq!((server.count(DELETE), server.count(PUBLISH), server.count("GET /login")), (0, 0, 0));
}

#[test]
fn a_new_page_that_leads_elsewhere_is_skipped() {
    let (server, summary) = sync_site(&["", "en", "stub"], &["en"], |path| match path {
        "" => Answer::Http(307, "text/html\r\nLocation: /en", String::new()),
        "stub" => page("<meta http-equiv=refresh content='0; url=/en'>"),
        _ => page("Returns are free."),
    });
    let skipped = |entry: &&Entry| matches!(entry.result, DocumentResult::Skipped { .. });
    assert_eq!(summary.documents.iter().filter(skipped).count(), 2, "{summary:?}");
    assert!(!summary.has_failures() && server.count(PUBLISH) == 1, "{summary:?}");
}

#[test]
fn a_page_that_moved_within_its_site_for_good_is_read_where_it_is() {
    let (server, summary) = sync_site(&["old", "slash"], &["old", "slash"], |path| match path {
        "old" => Answer::Http(308, "text/html\r\nLocation: /guide/new", String::new()),
        "slash" => Answer::Http(302, "text/html\r\nLocation: /slash/", String::new()),
        "guide/new" => page("Refunds take five days."),
        _ => page("Returns are free."),
    });
    assert!(!summary.has_failures(), "{summary:?}");
    let inserted: Vec<_> = server.requests().into_iter().filter(|request| request.line == INSERT).collect();
    let urls = ["/guide/new", "/slash/"].map(|path| format!("{}{path}", server.url));
    assert!(urls.iter().all(|url| inserted.iter().any(|request| request.body.contains(url))), "{inserted:?}");
    assert_eq!(server.count(PUBLISH), 2);
}

#[test]
fn many_pages_that_have_one_text_now_are_left_as_they_are() {
    const PAGES: &[&str] = &["a", "b", "c", "d", "own", "page-v1", "page-v2", "page-v3"];
    let (server, summary) = sync_site(PAGES, PAGES, |path| match path {
        "own" => page("Refunds take five days."),
        // They had one text before, too.
        "page-v1" | "page-v2" | "page-v3" => page("Returns are free."),
        path => Answer::Page(
            HTML,
            format!("<meta name=csrf content={path}><p>The shop is closed for a moment.</p>"),
        ),
    });
    for path in ["a", "b", "c", "d"] {
        assert!(failed(&summary, &format!("kb/{path}")).contains("same text now as other pages"));
    }
    assert_eq!((server.count(PUBLISH), server.count(DELETE)), (4, 0));
    let shown = summary.to_string();
    assert!(shown.contains("4 documents failed with the same reason: has the same text now"), "{shown}");
}

#[test]
fn pages_that_ask_not_to_be_indexed_are_removed() {
    const PAGES: &[&str] = &["header", "meta", "a", "b"];
    let (server, summary) = sync_site(PAGES, PAGES, |path| match path {
        "header" => Answer::Http(200, "text/html\r\nX-Robots-Tag: noindex", "<p>Prices rise.</p>".to_owned()),
        "meta" => page("<meta name=robots content=noindex>Prices rise."),
        path => page(&format!("Some text of {path}.")),
    });
    assert!(!summary.has_failures(), "{summary:?}");
    let results = results(&summary);
    for at in [2, 3] {
        assert_eq!(results[at].1, &DocumentResult::Removed, "{results:?}");
    }
    assert_eq!((server.count(PUBLISH), server.count(DELETE)), (2, 1));
}

#[test]
fn nothing_is_removed_while_a_sitemap_of_an_index_cannot_be_read_and_other_pages_are_added() {
    for broken in ["missing.xml", "page.html", "elsewhere"] {
        let server = FakeServer::start(move |request, before| match (request.line.as_str(), before) {
            (LIST, 0) => {
                let documents = ["a", "lost"].map(|page| document(1, &format!("kb/{page}"), "ready", None));
                json(200, value!(documents).to_string())
            }
            ("GET /robots.txt", _) => json(404, ""),
            ("GET /sitemap.xml", _) => {
                let sitemaps = locations(request, &["pages.xml", broken]).replace("url>", "sitemap>");
                let index = format!("<sitemapindex>{sitemaps}</sitemapindex>");
                let foreign = index.replace("elsewhere", "x").replacen("http://127", "http://elsewhere", 2);
                let is_foreign = broken == "elsewhere";
                // The second sitemap is on another site.
                let index =
                    if is_foreign { foreign.replacen("http://elsewhere", "http://127", 1) } else { index };
                Answer::Page("application/xml", index)
            }
            ("GET /pages.xml", _) => Answer::Page("application/xml", urlset(request, &["a", "new"])),
            ("GET /a" | "GET /new", _) => page(&format!("Some text of {}.", request.line)),
            ("GET /page.html", _) => page("Please sign in."),
            (line, _) if line.contains("/v1/") => empty(request),
            _ => json(404, ""),
        });
        let sitemap = SourceName::parse(&format!("{}/sitemap.xml", server.url)).unwrap();
        let summary = Folder::sync_source(&Source::open(&sitemap).unwrap(), &server.url, |_| {}).unwrap();
        assert_eq!((server.count(DELETE), server.count(PUBLISH)), (0, 2), "{broken}: {summary:?}");
        let failures: Vec<_> = summary
            .documents
            .iter()
            .filter(|entry| {
                matches!(&entry.result,
            DocumentResult::Failed { reason } if reason.contains("Its pages are unknown"))
            })
            .collect();
        assert_eq!(failures.len(), 1, "{broken}: {summary:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_stops_only_what_is_below_it() {
    let folder = Folder::new(&[("a.md", "Some text."), ("b.md", "Other text.")]);
    // Its path is too long to be read by anybody, also by root.
    let below = vec!["x".repeat(255); 16];
    let mut made = folder.path("sub");
    std::fs::create_dir(&made).unwrap();
    let status = std::process::Command::new("sh")
        .arg("-c")
        .arg(
            below.iter().map(|name| format!("mkdir {name} && cd -P {name}")).collect::<Vec<_>>().join(" && "),
        )
        .current_dir(&made)
        .status();
    assert!(status.unwrap().success());
    made.extend(&below);
    let unknown = format!("kb/sub/{}/c.md", below.join("/"));
    let mut documents = moved_document();
    for (id, source) in [(2, unknown.as_str()), (3, "kb/gone.md"), (4, "kb/sub/gone.md"), (5, "kb/b.md")] {
        documents.as_array_mut().unwrap().push(document(id, source, "ready", None));
    }
    let server = server_with(documents);
    let summary = folder.sync(&server).unwrap();
    let removed: Vec<_> =
        summary.documents.iter().filter(|entry| entry.result == DocumentResult::Removed).collect();
    let removed: Vec<_> = removed.iter().map(|entry| entry.source.as_str()).collect();
    assert_eq!(removed, ["kb/gone.md", "kb/sub/gone.md"], "{summary:?}");
    let moved = summary.documents.iter().find(|entry| entry.source == "kb/a.md").unwrap();
    assert_eq!(moved.result, DocumentResult::Moved { from: "kb/old.md".to_owned() });
    assert!(summary.has_failures() && summary.documents.iter().all(|entry| entry.source != unknown));
}

#[cfg_attr(target_os = "macos", ignore = "platform: the file system of macOS rejects such names")]
#[cfg(unix)]
#[test]
fn a_renamed_document_is_moved_also_while_a_name_is_not_unicode() {
    use std::os::unix::ffi::OsStrExt;
    let mut documents = moved_document();
    documents.as_array_mut().unwrap().push(document(2, "kb/gone.md", "ready", None));
    let folder = Folder::new(&[("a.md", "Some text.")]);
    std::fs::write(folder.path("").join(std::ffi::OsStr::from_bytes(b"\xff.md")), "text").unwrap();
    let server = server_with(documents);
    let summary = folder.sync(&server).unwrap();
    assert!(matches!(results(&summary)[0], ("kb/a.md", DocumentResult::Moved { .. })), "{summary:?}");
    let gone = results(&summary).into_iter().find(|(source, _)| *source == "kb/gone.md").unwrap();
    assert!(
        matches!(gone.1, DocumentResult::Skipped { reason } if reason.contains("cannot be read")),
        "{gone:?}"
    );
    assert_eq!(server.count(DELETE), 0);
}
