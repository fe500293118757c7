//! Pages of a web site.

use std::path::Path;

use crawl::{CrawlError, FetchError, Fetched, Options, Site, document_name};
use extract::{Format, MAX_FILE_BYTES};
use reqwest::Url;

use super::{Content, Item, ListError, Listing, LoadError, Loaded, Location, Rejected, Source};

/// Maximum number of pages of one site or list: a plan keeps about a kilobyte of each in memory. With the polite pace of one request
/// in 0.2 s, reading so many takes six hours.
const MAX_PAGES: usize = 100_000;

pub(super) fn open(listing: crawl::Listing) -> Result<Source, ListError> {
    let options = Options {
        max_bytes: MAX_FILE_BYTES as usize,
        max_pages: MAX_PAGES,
        accept: is_supported,
        ..Options::default()
    };
    Ok(Source::Web { listing, site: Box::new(Site::new(options)?) })
}

pub(super) fn open_list(path: &Path) -> Result<Source, ListError> {
    let io = |error| ListError::Io { path: path.to_owned(), error };
    let text = std::fs::read_to_string(path).map_err(io)?;
    let addresses =
        crawl::parse_list(&text).map_err(|error| ListError::List { path: path.to_owned(), error })?;
    open(crawl::Listing::List(addresses))
}

fn is_supported(content_type: &str) -> bool {
    Format::from_content_type(content_type).is_some()
}

pub(super) async fn list(listing: &crawl::Listing, site: &Site) -> Result<Listing, CrawlError> {
    let addresses = site.addresses(listing).await?;
    let own_site = addresses.site.as_deref();
    let item = |url: Url| Item {
        path: document_name(own_site, &url),
        format: None,
        size: 0,
        version: None,
        location: Location::Page(url),
    };
    let rejected = |(path, reason): (String, crawl::Rejection)| Rejected { path, reason: reason.to_string() };
    Ok(Listing {
        items: addresses.pages.into_iter().map(item).collect(),
        skipped: addresses.rejected.into_iter().map(rejected).collect(),
        failed: Vec::new(),
        is_complete: true,
    })
}

pub(super) async fn load(site: &Site, url: &Url, known: Option<&str>) -> Result<Loaded, LoadError> {
    let page = match site.fetch(url, known).await {
        Ok(Fetched::Page(page)) => page,
        Ok(Fetched::Unchanged) => return Ok(Loaded::Unchanged),
        // A site that forbids a page now does not want it quoted either.
        Err(error) if error.is_gone() || error.is_unwelcome() => {
            return Err(LoadError::Gone(error.to_string()));
        }
        Err(error @ FetchError::NotRequested(_)) => return Err(LoadError::NotRequested(error.to_string())),
        Err(error) => return Err(LoadError::Failed(error.to_string())),
    };
    let by_content_type = page.content_type.as_deref().and_then(Format::from_content_type);
    let format = by_content_type.or_else(|| Format::from_path(Path::new(page.url.path())));
    let format = format.ok_or_else(|| LoadError::Failed("is not a page or document".to_owned()))?;
    let url = Some(page.url.to_string());
    Ok(Loaded::Content(Content { bytes: page.bytes, format, version: page.version, url }))
}
