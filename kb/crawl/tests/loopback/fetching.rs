//! Pages, their versions, and failures to fetch them.

use std::io::Write;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crawl::{FetchError, Fetched, Options, Site};

use crate::server::{Answer, Server, html, moved, raw, redirect, status, with_headers};
use crate::{fetch, fetch_version, fetch_with, options, site, url};

#[tokio::test]
async fn a_page_has_its_type_and_address() {
    let server = Server::page(|| html("<p>Grüße</p>"));
    let page = fetch_with(&site(), &server.at("/a?b=c#part")).await.unwrap();
    assert_eq!(page.bytes, "<p>Grüße</p>".as_bytes());
    assert_eq!(page.content_type.as_deref(), Some("text/html; charset=utf-8"));
    assert_eq!(page.url, server.at("/a?b=c"));
    assert_eq!(page.version, None);
    let request = &server.requests()[1];
    assert!(request.header("user-agent").unwrap().starts_with("EvidenceChatBot/"));
    assert_eq!(request.header("cookie").or(request.header("referer")), None);
}

#[tokio::test]
async fn an_unchanged_page_is_not_downloaded_again() {
    for (validator, question) in [
        ("ETag: W/\"v 1\"", "if-none-match"),
        ("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "if-modified-since"),
    ] {
        let value = validator.split_once(": ").unwrap().1;
        let server = Server::start(move |request, _| match request.header(question) {
            _ if request.path == "/robots.txt" => status(404),
            Some(asked) if asked == value => Answer::Http(304, vec![], vec![]),
            _ => with_headers(&[validator], "content"),
        });
        let version = fetch(&server, "/a").await.unwrap().version;
        let again = fetch_version(&site(), &server.at("/a"), version.as_deref()).await;
        assert_eq!(again.unwrap(), Fetched::Unchanged);
        let changed = fetch_version(&site(), &server.at("/a"), Some("what somebody typed")).await;
        assert!(matches!(changed.unwrap(), Fetched::Page(_)));
    }
}

#[tokio::test]
async fn a_redirect_to_another_page_never_counts_as_unchanged() {
    let server = Server::start(|request, before| match (request.path.as_str(), before) {
        ("/robots.txt", _) => status(404),
        ("/a", 0) => with_headers(&["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"], "old"),
        ("/a", _) => moved("/b"),
        _ if request.header("if-modified-since").is_some() => Answer::Http(304, vec![], vec![]),
        _ => html("other"),
    });
    let version = fetch(&server, "/a").await.unwrap().version.unwrap();
    match fetch_version(&site(), &server.at("/a"), Some(&version)).await.unwrap() {
        Fetched::Page(page) => {
            assert_eq!((page.bytes.as_slice(), page.url), (b"other".as_slice(), server.at("/b")))
        }
        Fetched::Unchanged => panic!("taken for unchanged"),
    }
}

#[tokio::test]
async fn each_status_is_mapped_to_its_error() {
    for code in [204, 206, 300, 304, 400, 401, 403, 404, 410, 418, 429, 500, 503] {
        let server = Server::page(move || status(code));
        let error = fetch(&server, "/a").await.unwrap_err();
        let expected = match code {
            401 | 403 => FetchError::Denied(code),
            404 | 410 => FetchError::Gone(code),
            429 | 500 | 503 => FetchError::Busy { status: code, retry_after: None },
            _ => FetchError::Status(code),
        };
        assert_eq!(error, expected);
        assert_eq!(error.is_gone(), matches!(code, 404 | 410), "{code}");
        assert_eq!(error.is_transient(), code == 429 || code >= 500, "{code}");
        assert_eq!(server.count("/a"), if error.is_transient() { 3 } else { 1 }, "{code}");
    }
}

#[tokio::test]
async fn a_busy_site_is_retried_after_retry_after() {
    let server = Server::start(|request, before| match (request.path.as_str(), before) {
        ("/robots.txt", _) => status(404),
        (_, 0) => Answer::Http(429, vec!["Retry-After: 1".into()], vec![]),
        _ => html("at last"),
    });
    let start = tokio::time::Instant::now();
    assert_eq!(fetch(&server, "/a").await.unwrap().bytes, b"at last");
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(server.count("/a"), 2);
}

#[tokio::test]
async fn a_site_that_asks_for_too_long_a_pause_is_not_retried() {
    let server = Server::page(|| Answer::Http(503, vec!["Retry-After: 86400".into()], vec![]));
    let error = fetch(&server, "/a").await.unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("asks to wait 86400 s"), "{error}");
    assert_eq!(server.count("/a"), 1);
}

#[tokio::test]
async fn a_site_that_has_had_too_many_requests_gets_no_more() {
    let server = Server::page(|| Answer::Http(429, vec!["Retry-After: 300".into()], vec![]));
    let site = site();
    let error = fetch_with(&site, &server.at("/a")).await.unwrap_err();
    assert!(matches!(error, FetchError::Busy { status: 429, .. }), "{error}");
    let error = fetch_with(&site, &server.at("/b")).await.unwrap_err();
    assert!(matches!(error, FetchError::NotRequested(_)) && error.is_transient(), "{error}");
    assert!(error.to_string().contains("asks to wait 300 s"), "{error}");
    assert_eq!((server.count("/a"), server.count("/b")), (1, 0));
}

/// Fetches the pages `/0` to `/{count - 1}`, and returns how many were requested and the last error.
async fn fetch_all(server: &Server, site: &Site, count: usize) -> (usize, Option<FetchError>) {
    let mut last = None;
    for page in 0..count {
        last = fetch_with(site, &server.at(&format!("/{page}"))).await.err().or(last);
    }
    let requested = (0..count).filter(|page| server.count(&format!("/{page}")) > 0).count();
    (requested, last)
}

#[tokio::test]
async fn a_site_that_is_down_gets_no_more_requests() {
    let is_down = Arc::new(AtomicBool::new(false));
    let down = Arc::clone(&is_down);
    let server = Server::page(move || match down.load(Ordering::Relaxed) {
        true => status(503),
        false => html("a page"),
    });
    let site = site();
    fetch_with(&site, &server.at("/served")).await.unwrap();
    is_down.store(true, Ordering::Relaxed);
    let (requested, last) = fetch_all(&server, &site, 30).await;
    assert!(matches!(last, Some(FetchError::NotRequested(_))), "{last:?}");
    assert_eq!((requested, server.count("/served")), (20, 2), "after the last attempt, nothing");
}

#[tokio::test]
async fn many_broken_pages_do_not_keep_a_site_from_being_read() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/robots.txt" => status(404),
        "/49" => html("a page"),
        _ => status(500),
    });
    let site = site();
    let (requested, last) = fetch_all(&server, &site, 50).await;
    assert!(matches!(last, Some(FetchError::Busy { .. })), "{last:?}");
    assert_eq!(requested, 50);
    assert_eq!(server.count("/robots.txt"), 3, "once for its rules, and after 20 and 40 failures");
}

#[tokio::test]
async fn a_short_pause_after_the_last_retry_holds_the_next_page_off() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/robots.txt" => status(404),
        "/a" => Answer::Http(429, vec!["Retry-After: 1".into()], vec![]),
        _ => html("a page"),
    });
    let site = Site::new(Options { retries: 0, ..options() }).unwrap();
    let start = tokio::time::Instant::now();
    assert!(fetch_with(&site, &server.at("/a")).await.is_err());
    assert_eq!(fetch_with(&site, &server.at("/b")).await.unwrap().bytes, b"a page");
    assert!(start.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_broken_connection_is_retried() {
    let server = Server::start(|request, before| match (request.path.as_str(), before) {
        ("/robots.txt", _) => status(404),
        (_, 0) => raw(|_| Ok(())),
        (_, 1) => raw(|out| out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")),
        _ => html("all of it"),
    });
    assert_eq!(fetch(&server, "/a").await.unwrap().bytes, b"all of it");
    assert_eq!(server.count("/a"), 3);
}

#[tokio::test]
async fn a_connection_that_always_breaks_does_not_mean_that_the_page_is_gone() {
    let server =
        Server::page(|| raw(|out| out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")));
    let error = fetch(&server, "/a").await.unwrap_err();
    assert!(
        matches!(error, FetchError::Interrupted(_)) && error.is_transient() && !error.is_gone(),
        "{error}"
    );
}

#[tokio::test]
async fn a_page_that_moved_within_its_site_for_good_is_read_where_it_is() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/robots.txt" => with_headers(&[], "User-agent: *\nDisallow: /private"),
        "/a" => moved("b"),
        "/b" => redirect("/b/"),
        "/b/" => html("moved"),
        "/c" => redirect("/c/"),
        "/c/" => html("with a slash"),
        "/x" => moved("/private"),
        "/y" => moved("/gone"),
        "/z" => redirect("/z/"),
        "/n" => moved("/noindex"),
        "/noindex" => with_headers(&["X-Robots-Tag: noindex"], "text"),
        _ => status(404),
    });
    let page = fetch(&server, "/a").await.unwrap();
    assert_eq!((page.url, page.has_moved), (server.at("/b/"), true));
    let page = fetch(&server, "/c").await.unwrap();
    assert_eq!((page.url, page.has_moved), (server.at("/c/"), false));
    for (path, reason) in [("/x", "robots.txt forbids"), ("/y", "HTTP 404"), ("/n", "not to be indexed")] {
        let error = fetch(&server, path).await.unwrap_err();
        assert!(!error.is_gone() && !error.is_disallowed(), "what is said of another address: {error}");
        assert!(
            matches!(error, FetchError::Elsewhere { .. }) && error.to_string().contains(reason),
            "{error}"
        );
    }
    assert_eq!(fetch(&server, "/z").await, Err(FetchError::Gone(404)));
    assert_eq!(server.count("/private"), 0);
}

#[tokio::test]
async fn a_redirect_to_something_that_is_not_the_page_is_not_followed() {
    let other = Server::page(|| html("other"));
    let origin = other.origin();
    let server = Server::start(move |request, _| match request.path.as_str() {
        "/robots.txt" => status(404),
        "/a" => redirect("/login"),
        "/b" => redirect(&origin),
        "/c" => moved(format!("{origin}/c")),
        "/d" => moved("/"),
        "/e" => moved("/login?next=/e"),
        "/f" => moved("/account"),
        "/account" => html("<form><input type='password'></form>"),
        _ => html("Please sign in."),
    });
    for path in ["/a", "/b", "/c", "/d", "/e", "/f"] {
        let error = fetch(&server, path).await.unwrap_err();
        assert!(matches!(error, FetchError::Elsewhere { .. }), "{path}: {error}");
        assert!(!error.is_gone() && !error.is_disallowed() && !error.is_transient(), "{path}: {error}");
    }
    assert_eq!(other.requests().len() + server.count("/login") + server.count("/"), 0);
}

#[tokio::test]
async fn redirects_to_other_schemes_are_refused() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/robots.txt" => status(404),
        "/file" => redirect("file:///etc/passwd"),
        "/bytes" => {
            raw(|out| out.write_all(b"HTTP/1.1 302 X\r\nLocation: \xff\xfe\r\nContent-Length: 0\r\n\r\n"))
        }
        _ => status(302),
    });
    for path in ["/file", "/bytes", "/nowhere"] {
        let error = fetch(&server, path).await.unwrap_err();
        assert!(matches!(error, FetchError::BadRedirect(_)), "{path}: {error}");
    }
    for address in ["file:///etc/passwd", "ftp://127.0.0.1/", "data:text/plain,a"] {
        assert_eq!(site().fetch(&url(address), None).await, Err(FetchError::NotHttp));
    }
}

#[tokio::test]
async fn unwanted_content_is_not_downloaded() {
    let server = Server::page(|| {
        raw(|out| {
            out.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: Image/PNG; x=y\r\n\r\n")?;
            loop {
                out.write_all(&[0; 4096])?;
            }
        })
    });
    let text_only =
        Site::new(Options { accept: |_, media_type| media_type == "text/html", ..options() }).unwrap();
    let error = fetch_with(&text_only, &server.at("/a")).await.unwrap_err();
    assert_eq!(error, FetchError::ContentType("image/png".into()));
    let untyped = Server::page(|| with_headers(&[], "no type"));
    assert_eq!(fetch_with(&text_only, &untyped.at("/a")).await.unwrap().content_type, None);
}

#[tokio::test]
async fn pages_whose_headers_ask_not_to_be_indexed_are_refused() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/robots.txt" => status(404),
        "/header" => with_headers(&["X-Robots-Tag: otherbot: nofollow", "X-Robots-Tag: noindex"], "text"),
        "/other" => with_headers(&["X-Robots-Tag: otherbot: noindex"], "text"),
        _ => Answer::Http(304, vec!["X-Robots-Tag: noindex".into()], vec![]),
    });
    let error = fetch(&server, "/header").await.unwrap_err();
    assert!(error == FetchError::NoIndex && error.is_disallowed() && !error.is_gone(), "{error}");
    fetch(&server, "/other").await.unwrap();
    let unchanged = server.at("/304");
    let again = fetch_version(&site(), &unchanged, Some(&format!("{unchanged} etag:\"1\""))).await;
    assert!(matches!(again, Err(FetchError::NoIndex)));
}

#[tokio::test]
async fn an_unreachable_server_does_not_mean_that_the_page_is_gone() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = fetch_with(&site(), &url(&format!("http://127.0.0.1:{port}/a"))).await.unwrap_err();
    assert!(error.is_transient() && !error.is_gone());
    assert!(error.to_string().contains("refuses the connection"), "{error}");

    let server = Server::page(|| html("not encrypted"));
    let mut secure = server.at("/a");
    secure.set_scheme("https").unwrap();
    let error = fetch_with(&site(), &secure).await.unwrap_err();
    assert!(error.to_string().contains("no secure connection"), "{error}");
}

#[tokio::test]
async fn hosts_may_be_ipv6_addresses() {
    let server = Server::on("[::1]:0", |request, _| match request.path.as_str() {
        "/robots.txt" => status(404),
        _ => html("six"),
    });
    let page = fetch(&server, "/a").await.unwrap();
    assert_eq!(page.url.host_str(), Some("[::1]"));
    assert!(server.requests()[1].header("host").unwrap().starts_with("[::1]:"));
}

#[tokio::test]
async fn proxies_of_the_environment_are_not_used() {
    let (server, proxy) = (Server::page(|| html("direct")), Server::page(|| html("through the proxy")));
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "fetching::child_with_a_proxy", "--ignored", "--nocapture"])
        .env(ADDRESS, server.at("/a").as_str())
        .envs(["HTTP_PROXY", "http_proxy", "ALL_PROXY"].map(|name| (name, proxy.origin())))
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    assert_eq!((server.count("/a"), proxy.requests().len()), (1, 0));
}

/// The address that [`child_with_a_proxy`] fetches.
const ADDRESS: &str = "CRAWL_TEST_ADDRESS";

#[tokio::test]
#[ignore = "started by proxies_of_the_environment_are_not_used, which sets its environment"]
async fn child_with_a_proxy() {
    let address = url(&std::env::var(ADDRESS).unwrap());
    assert_eq!(fetch_with(&site(), &address).await.unwrap().bytes, b"direct");
}
