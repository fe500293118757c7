//! Tests against local servers, well-behaved and hostile ones.

mod fetching;
mod hostile;
mod politeness;
mod server;
mod sitemaps;

use std::time::Duration;

use crawl::{FetchError, Fetched, Options, Page, Site, Url};
use server::Server;

/// Options without pauses.
fn options() -> Options {
    Options {
        delay: Duration::ZERO,
        first_pause: Duration::from_millis(1),
        timeout: Duration::from_secs(20),
        max_bytes: 1024 * 1024,
        retries: 2,
        ..Options::default()
    }
}

fn site() -> Site {
    Site::new(options()).unwrap()
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

async fn fetch(server: &Server, path: &str) -> Result<Page, FetchError> {
    fetch_with(&site(), &server.at(path)).await
}

async fn fetch_with(site: &Site, url: &Url) -> Result<Page, FetchError> {
    match fetch_version(site, url, None).await? {
        Fetched::Page(page) => Ok(page),
        Fetched::Unchanged => panic!("nothing was asked about"),
    }
}

/// Fetches a page as named by the user, because these servers are not on the public internet.
async fn fetch_version(site: &Site, url: &Url, version: Option<&str>) -> Result<Fetched, FetchError> {
    site.allow_private_host(url);
    site.fetch(url, version).await
}
