//! Sitemaps and lists of addresses.

use std::io::Write;

use crawl::{Addresses, CrawlError, FetchError, Listing, Options, Rejection, Site, parse_list};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::server::{Answer, Server, raw, redirect, status, with_headers};
use crate::{options, site, url};

fn urlset(locations: &[String]) -> String {
    let entries: String =
        locations.iter().map(|location| format!("<url><loc>{location}</loc></url>")).collect();
    format!(r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>"#)
}

fn index(locations: &[String]) -> String {
    let entries: String =
        locations.iter().map(|location| format!("<sitemap><loc>{location}</loc></sitemap>")).collect();
    format!(r#"<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</sitemapindex>"#)
}

fn xml(text: impl Into<Vec<u8>>) -> Answer {
    // Commonly used to keep the sitemap itself out of search results.
    with_headers(&["Content-Type: application/xml", "X-Robots-Tag: noindex"], text)
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// A server whose responses depend on the path and its own origin.
fn serving(answer: impl Fn(&str, &dyn Fn(&str) -> String) -> Answer + Send + Sync + 'static) -> Server {
    Server::start(move |request, _| {
        let origin = format!("http://{}", request.header("host").unwrap());
        match request.path.as_str() {
            "/robots.txt" => with_headers(&[], "User-agent: *\nDisallow: /private"),
            path => answer(path, &|path: &str| format!("{origin}{path}")),
        }
    })
}

async fn read(server: &Server, path: &str) -> Result<Addresses, CrawlError> {
    site().addresses(&Listing::Sitemap(server.at(path))).await
}

fn paths(addresses: &Addresses) -> Vec<String> {
    addresses
        .pages
        .iter()
        .map(|page| {
            page.query().map_or_else(|| page.path().to_owned(), |query| format!("{}?{query}", page.path()))
        })
        .collect()
}

#[tokio::test]
async fn an_index_may_list_every_kind_of_sitemap() {
    let server = serving(|path, at| match path {
        "/index.xml" => xml(index(&["/xml", "/xml.gz", "/encoded", "/text", "/nested"].map(at))),
        "/xml" => xml(urlset(&["/c", "/a?x=1&amp;y", "/a#part", "/a"].map(at))),
        "/xml.gz" => with_headers(&["Content-Type: application/gzip"], gzip(&urlset(&[at("/gz")]))),
        "/encoded" => with_headers(&["Content-Encoding: gzip"], gzip(&urlset(&[at("/encoded-page")]))),
        "/text" => with_headers(&["Content-Type: text/plain"], format!("{}\n{}\n", at("/t"), at("/a"))),
        "/nested" => xml(index(&[at("/deeper")])),
        "/deeper" => xml(urlset(&[at("/b")])),
        _ => status(404),
    });
    let addresses = read(&server, "/index.xml").await.unwrap();
    assert_eq!(paths(&addresses), ["/a", "/a?x=1&y", "/b", "/c", "/encoded-page", "/gz", "/t"]);
    assert_eq!(addresses.rejected, []);
    assert_eq!(addresses.site.unwrap(), server.origin().replace("http://", ""));
}

#[tokio::test]
async fn entries_of_other_sites_are_rejected() {
    let server = serving(|path, at| match path {
        "/index.xml" => xml(index(&[at("/pages")])),
        _ => xml(urlset(&[
            at("/a"),
            "https://other.example/".into(),
            at("/b").replace("http:", "https:"),
            "http://user:secret@127.0.0.1:1/".into(),
            "/relative".into(),
            format!("{} {}", at("/c"), at("/d")),
            at(&"/long".repeat(1_000)),
        ])),
    });
    let addresses = read(&server, "/index.xml").await.unwrap();
    assert_eq!(paths(&addresses), ["/a"]);
    let reasons: Vec<Rejection> = addresses.rejected.iter().map(|(_, reason)| *reason).collect();
    use Rejection::{Credentials, NotAnAddress, OtherSite, TooLong, WhiteSpace};
    assert_eq!(reasons, [OtherSite, OtherSite, Credentials, NotAnAddress, WhiteSpace, TooLong]);
    assert!(addresses.rejected.iter().all(|(shown, _)| !shown.contains("secret") && shown.len() < 300));
}

#[tokio::test]
async fn a_redirected_sitemap_applies_to_the_site_of_its_target() {
    let new = serving(|_, at| xml(urlset(&[at("/a")])));
    let target = new.at("/new.xml");
    let old = serving(move |_, _| redirect(&target));
    let addresses = read(&old, "/sitemap.xml").await.unwrap();
    assert_eq!(addresses.pages, [new.at("/a")]);
    assert_eq!(format!("http://{}", addresses.site.unwrap()), new.origin());
}

#[tokio::test]
async fn indexes_that_list_each_other_are_read_once() {
    let server = serving(|path, at| match path {
        "/one" => xml(index(&["/two", "/one", "/pages"].map(at))),
        "/two" => xml(index(&["/one", "/pages", "/two"].map(at))),
        _ => xml(urlset(&[at("/a")])),
    });
    assert_eq!(paths(&read(&server, "/one").await.unwrap()), ["/a"]);
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn too_deep_and_too_long_indexes_are_not_read() {
    let deep = serving(|path, at| xml(index(&[at(&format!("{path}x"))])));
    let unread = read(&deep, "/x").await.unwrap().unread;
    assert!(unread.len() == 1 && unread[0].1.contains("nested too deeply"), "{unread:?}");
    let wide = serving(|_, at| {
        let entries: Vec<String> = (0..40_000).map(|number| at(&format!("/{number}"))).collect();
        xml(index(&entries))
    });
    assert_eq!(read(&wide, "/x").await.unwrap_err(), CrawlError::TooManySitemaps(1_000));
    assert_eq!(wide.requests().len(), 2);
}

#[tokio::test]
async fn a_sitemap_of_an_index_that_cannot_be_read_makes_the_listing_incomplete() {
    let server = serving(|path, at| match path {
        "/index.xml" => {
            let own =
                ["/pages", "/missing", "/html", "/cut", "/private", "/broken", "/nested", "/many", "/away"];
            let others = ["https://other.example/sitemap.xml".to_owned(), "no address".to_owned()];
            xml(index(&[&own.map(at)[..], &others].concat()))
        }
        "/nested" => xml(index(&[at("/nested1")])),
        "/nested1" => xml(index(&[at("/nested2")])),
        "/nested2" => xml(index(&[at("/nested3")])),
        "/nested3" => xml(index(&[at("/lost")])),
        "/many" => xml(urlset(&vec![at("/a"); 50_001])),
        "/away" => redirect("/html"),
        "/pages" => xml(urlset(&[at("/a")])),
        "/html" => with_headers(&["Content-Type: text/html"], "<!doctype html><html><p>Not found</html>"),
        "/cut" => xml("<urlset><url><loc>"),
        "/private" => xml(urlset(&[])),
        "/broken" => status(500),
        _ => status(404),
    });
    let addresses = read(&server, "/index.xml").await.unwrap();
    assert_eq!((paths(&addresses), addresses.rejected), (vec!["/a".to_owned()], vec![]));
    let mut unread: Vec<_> =
        addresses.unread.iter().map(|(place, _)| place.replace(&server.origin(), "")).collect();
    unread.sort_unstable();
    let expected = [
        "/away",
        "/broken",
        "/cut",
        "/html",
        "/many",
        "/missing",
        "/nested2",
        "/private",
        "https://other.example/sitemap.xml",
        "no address",
    ];
    assert_eq!(unread, expected, "{:?}", addresses.unread);
    let gone =
        CrawlError::Unreadable { address: server.at("/missing").into(), reason: FetchError::Gone(404) };
    assert_eq!(read(&server, "/missing").await, Err(gone));
    let message = async |path| read(&server, path).await.unwrap_err().to_string();
    assert!(message("/html").await.ends_with("/html: not a sitemap: it begins with <html>"));
    assert!(message("/cut").await.contains("/cut: broken XML at byte 18: the text ends too early"));
    assert!(message("/private").await.contains("robots.txt forbids"));
    assert!(message("/broken").await.contains("HTTP 500"));
}

#[tokio::test]
async fn the_limits_of_sitemaps_differ_from_those_of_pages() {
    let many = serving(|_, at| {
        let entries: Vec<String> = (0..300_000).map(|number| at(&format!("/{number}"))).collect();
        xml(urlset(&entries))
    });
    let error = read(&many, "/x").await.unwrap_err().to_string();
    assert!(error.contains("more than 50000 entries"), "{error}");
    let endless = serving(|_, _| {
        raw(|out| {
            out.write_all(b"HTTP/1.1 200 OK\r\n\r\n<urlset>")?;
            loop {
                out.write_all(&[b' '; 65_536])?;
            }
        })
    });
    let error = read(&endless, "/x").await.unwrap_err().to_string();
    assert!(error.contains("larger than 50 MiB"), "{error}");
}

#[tokio::test]
async fn more_pages_than_allowed_are_an_error_and_not_truncated() {
    let server = serving(|path, at| {
        let count = path[1..].parse().unwrap();
        xml(urlset(&(0..count).map(|number| at(&format!("/page/{number}"))).collect::<Vec<_>>()))
    });
    let small = Site::new(Options { max_pages: 3, ..options() }).unwrap();
    let read = async |path| small.addresses(&Listing::Sitemap(server.at(path))).await;
    assert_eq!(read("/3").await.unwrap().pages.len(), 3);
    assert_eq!(read("/4").await, Err(CrawlError::TooManyPages(3)));
    let list = Listing::List(parse_list("http://h/1\nhttp://h/2\nhttp://h/3\nhttp://h/4").unwrap());
    assert_eq!(small.addresses(&list).await, Err(CrawlError::TooManyPages(3)));
}

#[tokio::test]
async fn a_sitemap_of_unusable_entries_is_an_error() {
    let server = serving(|_, _| xml(urlset(&vec!["https://other.example/".to_owned(); 5])));
    let small = Site::new(Options { max_pages: 4, ..options() }).unwrap();
    let error = small.addresses(&Listing::Sitemap(server.at("/x"))).await.unwrap_err().to_string();
    assert!(
        error.contains("more than 4 entries cannot be used, the first being “https://other.example/”"),
        "{error}"
    );
}

#[tokio::test]
async fn a_list_keeps_its_order_and_sends_no_request() {
    let urls = ["https://b.example/2", "https://a.example/1"].map(url);
    let addresses = site().addresses(&Listing::List(urls.to_vec())).await.unwrap();
    assert_eq!((addresses.pages.as_slice(), addresses.site), (urls.as_slice(), None));
}
