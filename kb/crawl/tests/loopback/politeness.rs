//! `robots.txt`, and the rate of requests.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use crawl::{FetchError, Options, Site};
use tokio::time::{Instant, sleep, timeout};

use crate::server::{Answer, Server, html, raw, redirect, status, with_headers};
use crate::{fetch, fetch_with, options, site};

/// A server with this response for `robots.txt`.
fn with_robots(robots: impl Fn() -> Answer + Send + Sync + 'static) -> Server {
    Server::start(move |request, _| if request.path == "/robots.txt" { robots() } else { html("page") })
}

fn with_rules(rules: &'static str) -> Server {
    with_robots(move || with_headers(&["Content-Type: text/plain"], rules))
}

fn is_forbidden(result: Result<crawl::Page, FetchError>) -> bool {
    match result {
        Ok(_) => false,
        Err(FetchError::Robots { .. }) => true,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn rules_for_our_name_take_precedence_over_general_rules() {
    let server = with_rules(
        "User-agent: *\nDisallow: /\n\nUser-Agent: evidencechatbot\nDisallow: /private\nAllow: /private/open\n\
         Disallow: /*.pdf$\nDisallow: /caf%C3%A9\n",
    );
    for (path, forbidden) in [
        ("/", false),
        ("/private/a", true),
        ("/private/open/a", false),
        ("/a.pdf", true),
        ("/a.pdf?x", false),
        ("/café", true),
    ] {
        assert_eq!(is_forbidden(fetch(&server, path).await), forbidden, "{path}");
        assert_eq!(server.requests().iter().any(|request| request.path == path), !forbidden, "{path}");
    }
    let rules_for_others = with_rules("User-agent: EvidenceChatBotX\nDisallow: /");
    assert!(!is_forbidden(fetch(&rules_for_others, "/a").await));
}

#[tokio::test]
async fn a_forbidden_page_is_disallowed_and_the_message_says_what_to_do() {
    let server = with_rules("User-agent: *\nDisallow: /a");
    let error = fetch(&server, "/a").await.unwrap_err();
    assert!(error.is_disallowed() && !error.is_gone() && !error.is_transient());
    let expected = format!("{}/robots.txt forbids EvidenceChatBot to fetch this", server.origin());
    assert!(error.to_string().starts_with(&expected), "{error}");
}

#[tokio::test]
async fn a_site_without_rules_allows_everything() {
    for code in [400, 401, 403, 404, 410, 418] {
        assert!(!is_forbidden(fetch(&with_robots(move || status(code)), "/a").await), "{code}");
    }
}

#[tokio::test]
async fn a_site_whose_rules_cannot_be_read_forbids_everything() {
    for code in [429, 500, 503] {
        let server = with_robots(move || status(code));
        let site = site();
        for _ in 0..2 {
            let error = fetch_with(&site, &server.at("/a")).await.unwrap_err();
            assert!(matches!(error, FetchError::RobotsUnreachable { .. }) && error.is_transient(), "{error}");
            assert!(error.to_string().contains(&code.to_string()), "{error}");
        }
        assert_eq!((server.count("/robots.txt"), server.count("/a")), (3, 0));
    }
}

#[tokio::test]
async fn redirects_of_the_rules_are_followed() {
    let other = with_rules("User-agent: *\nDisallow: /a");
    let origin = other.origin();
    let server = Server::start(move |request, _| match request.path.as_str() {
        "/robots.txt" => redirect("/1"),
        "/1" | "/2" | "/3" => redirect(format!("/{}", request.path[1..].parse::<u8>().unwrap() + 1)),
        "/4" => redirect(format!("{origin}/robots.txt")),
        _ => html("page"),
    });
    assert!(is_forbidden(fetch(&server, "/a").await));
    assert!(!is_forbidden(fetch(&server, "/b").await));
    let nowhere = Server::start(|request, _| match request.path.as_str() {
        "/robots.txt" => redirect("/missing"),
        "/missing" => status(404),
        _ => html("a page"),
    });
    assert!(fetch(&nowhere, "/a").await.is_ok(), "a site without rules allows everything");
    let loops = with_robots(|| redirect("/robots.txt"));
    assert!(!is_forbidden(fetch(&loops, "/a").await));
}

#[tokio::test]
async fn the_rules_of_a_site_are_fetched_once() {
    let server = Arc::new(with_rules("User-agent: *\nAllow: /"));
    let site = Arc::new(site());
    let tasks: Vec<_> = (0..20)
        .map(|number| {
            let (site, server) = (Arc::clone(&site), Arc::clone(&server));
            tokio::spawn(async move { fetch_with(&site, &server.at(&format!("/{number}"))).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!((server.count("/robots.txt"), server.requests().len()), (1, 21));
}

#[tokio::test]
async fn only_the_first_500_kib_of_rules_count() {
    let mut rules = "User-agent: *\nDisallow: /early\n".to_owned();
    rules.push_str(&"# filler filler filler filler filler\n".repeat(10 * 1024 * 1024 / 37));
    rules.push_str("Disallow: /late\n");
    let server = with_robots(move || with_headers(&[], rules.clone()));
    assert!(is_forbidden(fetch(&server, "/early").await));
    assert!(!is_forbidden(fetch(&server, "/late").await));
}

#[tokio::test]
async fn endless_rules_are_read_up_to_the_limit() {
    let server = with_robots(|| {
        raw(|out| {
            out.write_all(b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /private\n")?;
            loop {
                out.write_all(&[b'\n'; 4096])?;
            }
        })
    });
    assert!(is_forbidden(fetch(&server, "/private").await));
    assert!(!is_forbidden(fetch(&server, "/a").await));
}

#[tokio::test]
async fn rules_that_time_out_forbid_everything() {
    let server = with_robots(|| {
        raw(|out| {
            out.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
            loop {
                out.write_all(b"#")?;
                std::thread::sleep(Duration::from_millis(20));
            }
        })
    });
    let impatient = Site::new(Options { timeout: Duration::from_millis(300), ..options() }).unwrap();
    let error = fetch_with(&impatient, &server.at("/a")).await.unwrap_err();
    assert!(matches!(error, FetchError::RobotsUnreachable { .. }), "{error}");
}

#[tokio::test]
async fn rules_of_arbitrary_bytes_are_accepted() {
    let server = with_robots(|| {
        with_headers(&[], b"\xef\xbb\xbfUser-agent: *\r\xff\xfe\0Disallow: /a\xff\nDisallow: /b".to_vec())
    });
    assert!(is_forbidden(fetch(&server, "/b").await));
    assert!(!is_forbidden(fetch(&server, "/c").await));
}

#[tokio::test]
async fn requests_to_one_host_are_rate_limited() {
    let server = Server::page(|| html("page"));
    let delay = Duration::from_millis(200);
    let site = Site::new(Options { delay, ..options() }).unwrap();
    let start = Instant::now();
    let (a, b) = (server.at("/a"), server.at("/b"));
    let (one, other) = tokio::join!(fetch_with(&site, &a), fetch_with(&site, &b));
    assert!(one.is_ok() && other.is_ok());
    // robots.txt, then the two pages.
    assert!(start.elapsed() >= 2 * delay, "{:?}", start.elapsed());
}

#[tokio::test]
async fn retries_are_rate_limited_too() {
    let server = with_robots(|| status(500));
    let site = Site::new(Options { delay: Duration::from_secs(3_600), ..options() }).unwrap();
    let page = server.at("/a");
    let attempts = timeout(Duration::from_millis(500), fetch_with(&site, &page));
    assert!(attempts.await.is_err(), "asked again without waiting");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn the_crawl_delay_of_a_site_is_honoured() {
    let server = with_rules("User-agent: *\nCrawl-delay: 3600");
    let site = Arc::new(site());
    fetch_with(&site, &server.at("/a")).await.unwrap();
    let waiting = tokio::spawn({
        let (site, b) = (Arc::clone(&site), server.at("/b"));
        async move { fetch_with(&site, &b).await }
    });
    sleep(Duration::from_millis(300)).await;
    assert_eq!(server.count("/b"), 0);
    waiting.abort();
}
