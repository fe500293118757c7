//! Servers that try to waste time or memory, or to give wrong results.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use crawl::{FetchError, Options, Site};
use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::time::Instant;

use crate::server::{Server, html, moved, raw, status, with_headers};
use crate::{fetch, fetch_with, options};

const MAX_BYTES: usize = 1024 * 1024;

fn head(out: &mut TcpStream, headers: &str) -> std::io::Result<()> {
    out.write_all(format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{headers}\r\n").as_bytes())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn an_endless_body_is_refused_at_the_limit() {
    let server = Server::page(|| {
        raw(|out| {
            head(out, "")?;
            loop {
                out.write_all(&[b'a'; 4096])?;
            }
        })
    });
    assert_eq!(fetch(&server, "/a").await, Err(FetchError::TooLarge(MAX_BYTES)));
    assert_eq!(server.count("/a"), 1);
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_accepted() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/robots.txt" => status(404),
        "/fits" => html(vec![b'a'; MAX_BYTES]),
        _ => html(vec![b'a'; MAX_BYTES + 1]),
    });
    assert_eq!(fetch(&server, "/fits").await.unwrap().bytes.len(), MAX_BYTES);
    let error = fetch(&server, "/large").await.unwrap_err();
    assert_eq!(error.to_string(), "larger than 1 MiB");
}

#[tokio::test]
async fn a_slow_body_times_out() {
    let server = Server::page(|| {
        raw(|out| {
            head(out, "Content-Length: 100000\r\n")?;
            loop {
                out.write_all(b"a")?;
                std::thread::sleep(Duration::from_millis(20));
            }
        })
    });
    let impatient = Site::new(Options { timeout: Duration::from_secs(1), ..options() }).unwrap();
    let start = Instant::now();
    let error = fetch_with(&impatient, &server.at("/a")).await.unwrap_err();
    assert_eq!(error, FetchError::TimedOut(Duration::from_secs(1)));
    assert!(error.is_transient() && !error.is_gone());
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!(server.count("/a"), 1);
}

#[tokio::test]
async fn slow_headers_time_out() {
    let server = Server::page(|| {
        raw(|out| {
            head(out, "X-Long: ")?;
            loop {
                out.write_all(b"a")?;
                std::thread::sleep(Duration::from_millis(20));
            }
        })
    });
    let silent = Server::page(|| {
        raw(|_| {
            loop {
                std::thread::park()
            }
        })
    });
    let impatient = Site::new(Options { timeout: Duration::from_millis(500), ..options() }).unwrap();
    for address in [server.at("/a"), silent.at("/a")] {
        let result = fetch_with(&impatient, &address).await;
        assert_eq!(result, Err(FetchError::TimedOut(Duration::from_millis(500))));
    }
}

#[tokio::test]
async fn a_gzip_bomb_is_stopped_at_the_limit() {
    let bomb = gzip(&vec![0; 200 * MAX_BYTES]);
    assert!(bomb.len() < MAX_BYTES);
    let server = Server::page(move || with_headers(&["Content-Encoding: gzip"], bomb.clone()));
    assert_eq!(fetch(&server, "/a").await, Err(FetchError::TooLarge(MAX_BYTES)));
}

#[tokio::test]
async fn gzip_is_decoded_and_other_encodings_are_refused() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/robots.txt" => status(404),
        "/gzip" => with_headers(&["Content-Encoding: gzip"], gzip(b"text")),
        "/cut" => with_headers(&["Content-Encoding: gzip"], &gzip(b"text")[..12]),
        "/no" => with_headers(&["Content-Encoding: gzip"], "not gzip"),
        "/twice" => with_headers(&["Content-Encoding: gzip, gzip"], gzip(&gzip(b"text"))),
        _ => with_headers(&["Content-Encoding: br"], "?"),
    });
    assert_eq!(fetch(&server, "/gzip").await.unwrap().bytes, b"text");
    for path in ["/cut", "/no"] {
        assert!(matches!(fetch(&server, path).await, Err(FetchError::Interrupted(_))), "{path}");
    }
    for (path, encoding) in [("/twice", "gzip, gzip"), ("/br", "br")] {
        assert_eq!(fetch(&server, path).await, Err(FetchError::Encoding(encoding.into())));
    }
}

#[tokio::test]
async fn a_redirect_loop_ends() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/robots.txt" => status(404),
        "/a" => moved("/b"),
        _ => moved("/a"),
    });
    assert_eq!(fetch(&server, "/a").await, Err(FetchError::TooManyRedirects(10)));
    assert_eq!(server.count("/a") + server.count("/b"), 11);
}

#[tokio::test]
async fn huge_headers_are_refused() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/robots.txt" => status(404),
        "/long" => raw(|out| head(out, &format!("X-Long: {}\r\n", "a".repeat(2 * MAX_BYTES)))),
        "/many" => raw(|out| head(out, &"X-Many: a\r\n".repeat(5_000))),
        _ => raw(|out| {
            head(out, "X-Endless: ")?;
            loop {
                out.write_all(&[b'a'; 4096])?;
            }
        }),
    });
    for path in ["/long", "/many", "/endless"] {
        let result = fetch(&server, path).await;
        assert!(matches!(result, Err(FetchError::Interrupted(_))), "{path}: {result:?}");
    }
}

#[tokio::test]
async fn wrong_content_lengths_are_handled() {
    let server = Server::start(|request, _| {
        let (length, body): (&'static str, &'static str) = match request.path.as_str() {
            "/robots.txt" => return status(404),
            "/short" => ("4", "text and more"),
            "/long" => ("100", "text"),
            "/giant" => ("9000000000000000000", "text"),
            "/beyond" => ("99999999999999999999999999", "text"),
            _ => ("-1", "text"),
        };
        raw(move |out| {
            head(out, &format!("Content-Length: {length}\r\n"))?;
            out.write_all(body.as_bytes())
        })
    });
    assert_eq!(fetch(&server, "/short").await.unwrap().bytes, b"text");
    assert_eq!(fetch(&server, "/giant").await, Err(FetchError::TooLarge(MAX_BYTES)));
    for path in ["/long", "/beyond", "/negative"] {
        assert!(matches!(fetch(&server, path).await, Err(FetchError::Interrupted(_))), "{path}");
    }
}

#[tokio::test]
async fn wrong_chunk_lengths_are_handled() {
    let server = Server::page(|| {
        raw(|out| {
            head(out, "Transfer-Encoding: chunked\r\n")?;
            out.write_all(b"ffffffffffffffff1\r\ntext")
        })
    });
    assert!(matches!(fetch(&server, "/a").await, Err(FetchError::Interrupted(_))));
}

#[tokio::test]
async fn invalid_utf_8_is_passed_on_in_content_and_escaped_in_messages() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/robots.txt" => status(404),
        "/body" => html(b"\xff\xfe\x00caf\xe9".to_vec()),
        "/header" => {
            raw(|out| out.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: \xff/\xfe\r\nETag: \xff\r\n\r\na"))
        }
        _ => raw(|out| out.write_all(b"\x16\x03\x01\0not HTTP at all\r\n\r\n")),
    });
    assert_eq!(fetch(&server, "/body").await.unwrap().bytes, b"\xff\xfe\x00caf\xe9");
    let page = fetch(&server, "/header").await.unwrap();
    assert_eq!((page.content_type.as_deref(), page.version), (Some("\u{fffd}/\u{fffd}"), None));
    let text_only = Site::new(Options { accept: |_, _| false, ..options() }).unwrap();
    assert!(fetch_with(&text_only, &server.at("/header")).await.is_err());
    assert!(matches!(fetch(&server, "/garbage").await, Err(FetchError::Interrupted(_))));
}
