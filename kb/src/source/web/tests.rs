//! Reads pages of sites that have every kind of trouble.

use proptest::prelude::*;

use super::*;
use server::{Server, html, moved, redirect, status, with_headers};

#[path = "../../../crawl/tests/loopback/server.rs"]
#[allow(dead_code, reason = "the tests of the crawler use the rest")]
mod server;

#[test]
fn the_name_of_a_page_decides_if_its_server_does_not_know_the_type() {
    let of = |path: &str, content_type| {
        format(&Url::parse("https://git.example.org/raw/").unwrap().join(path).unwrap(), content_type)
    };
    for general in [None, Some("text/plain; charset=utf-8"), Some("application/octet-stream")] {
        assert_eq!(of("hr.md?raw=1", general), Some(Format::Markdown), "{general:?}");
        assert_eq!(of("prices.CSV", general), Some(Format::Csv), "{general:?}");
    }
    assert_eq!(of("hr", Some("text/plain")), Some(Format::PlainText));
    assert_eq!(of("hr", Some("application/octet-stream")), None);
    assert_eq!(of("hr.md", Some("text/html")), Some(Format::Html));
    assert_eq!(of("hr.md", Some("image/png")), None);
}

/// The address of a page or sitemap says how it behaves: `/missing/7`.
fn site_with_faults() -> Server {
    Server::start(|request, _| {
        let host = request.header("host").unwrap();
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let entries = |element: &str| -> String {
            let entry = |path: &str| {
                let start = match path.split('/').next() {
                    Some("relative") => String::new(),
                    Some("other-scheme") => format!("https://{host}"),
                    _ => format!("http://{host}"),
                };
                format!("<{element}><loc>{start}/{path}</loc></{element}>")
            };
            query.split('&').filter(|path| !path.is_empty()).map(entry).collect()
        };
        match path.split('/').nth(1).unwrap() {
            "index" => {
                let entries = entries("sitemap").replace('+', "?").replace('~', "&amp;");
                with_headers(
                    &[],
                    format!("<sitemapindex>{entries}</sitemapindex>").replace("/foreign", "9/foreign"),
                )
            }
            "sitemap" => with_headers(&[], format!("<urlset>{}</urlset>", entries("url"))),
            "moved-sitemap" => redirect(format!("/sitemap?{query}")),
            "cut" => with_headers(&[], "<urlset><url>"),
            "own" => html(format!("<p>The text of {path}.</p>")),
            "moved" => moved(format!("/own{path}")),
            "moved-away" => moved(format!("http://localhost:9{path}")),
            "moved-home" => moved("/"),
            "moved-into-nothing" => moved("/missing/x"),
            "moved-into-noindex" => moved("/noindex/x"),
            "moved-to-sign-in" => moved("/password"),
            "refresh" => with_headers(&["Content-Type: text/html", "Refresh: 1; url=/sign-in"], "Wait."),
            "sign-in" | "robots.txt" | "missing" => status(404),
            "redirect" => redirect("/sign-in"),
            "away" => redirect("http://localhost:9/"),
            "forbidden" => status(403),
            "broken" => status(500),
            "lost" => server::raw(|_| Ok(())),
            "noindex" => with_headers(&["X-Robots-Tag: noindex"], "text"),
            "password" => html("<input type=password>"),
            _ => html("<p>Welcome.</p>"),
        }
    })
}

fn one_of(names: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(names)
}

proptest! {
    #[test]
    fn a_page_is_gone_only_if_its_site_says_so_whatever_trouble_it_has(
        sitemaps in prop::collection::vec((
            one_of(&["sitemap", "sitemap", "moved-sitemap", "cut", "own", "missing", "broken", "lost", "foreign", "redirect", "forbidden"]),
            prop::collection::vec(one_of(&["own", "relative", "other-scheme", "moved", "moved-away", "moved-home", "moved-into-nothing", "moved-into-noindex",
                "moved-to-sign-in", "refresh", "redirect", "away", "forbidden", "broken", "lost", "missing", "noindex"]), 0..4),
        ), 1..4),
    ) {
        static SERVER: std::sync::LazyLock<Server> = std::sync::LazyLock::new(site_with_faults);
        let (mut index, mut pages) = ("index?".to_owned(), Vec::new());
        for (at, (sitemap, faults)) in sitemaps.iter().enumerate() {
            index += &format!("{sitemap}/{at}+");
            for (number, fault) in faults.iter().enumerate() {
                index += &format!("{fault}/{at}{number}~");
                pages.push(format!("{fault}/{at}{number}"));
            }
            index.push('&');
        }
        let options = Options { delay: std::time::Duration::ZERO, retries: 0, accept: is_supported, ..Options::default() };
        let (site, start) = (Site::new(options).unwrap(), SERVER.at(&index));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let listing = runtime.block_on(list(&crawl::Listing::Sitemap(start), &site)).unwrap();
        for page in pages {
            let Some(item) = listing.items.iter().find(|item| item.path == page) else {
                prop_assert!(listing.may_have(&page), "{page} {listing:?}");
                continue;
            };
            let Location::Page(url) = &item.location else { panic!("{item:?}") };
            let says_so = page.starts_with("missing/") || page.starts_with("noindex/");
            match runtime.block_on(load(&site, url, None)) {
                Ok(Loaded::Content(content)) => {
                    let text = String::from_utf8(content.bytes).unwrap();
                    prop_assert!(text.contains(&format!("/{page}.")), "{page}: {text}");
                }
                Ok(Loaded::Unchanged) => panic!("nothing was known"),
                Err(LoadError::Gone(reason) | LoadError::NotPublished(reason)) => prop_assert!(says_so, "{page}: {reason}"),
                Err(error) => prop_assert!(!page.starts_with("own/"), "{page}: {error}"),
            }
        }
    }
}
