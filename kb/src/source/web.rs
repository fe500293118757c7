//! Pages of a web site.

use std::path::Path;

use crawl::{CrawlError, FetchError, Fetched, Options, Site, document_name};
use extract::{ExtractError, Format, MAX_FILE_BYTES};
use reqwest::Url;

use super::{Content, Item, ListError, Listing, LoadError, Loaded, Location, Rejected, Source};

/// Maximum number of pages of one site or list: a plan keeps about a kilobyte of each in memory. With the polite pace of one request
/// in 0.2 s, reading so many takes six hours.
const MAX_PAGES: usize = 100_000;

/// Unusable entries with which the others of a sitemap still say which pages there are.
const MAX_UNUSABLE: usize = 1_000;

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

fn is_supported(url: &Url, content_type: &str) -> bool {
    format(url, Some(content_type)).is_some()
}

/// Servers send files whose type they do not know as plain text or as bytes, so then the name decides.
fn format(url: &Url, content_type: Option<&str>) -> Option<Format> {
    let by_name = Format::from_path(Path::new(url.path()));
    let media_type = content_type.and_then(|full| full.split(';').next()).unwrap_or_default().trim();
    match Format::from_content_type(media_type) {
        Some(Format::PlainText) => by_name.or(Some(Format::PlainText)),
        None if matches!(media_type, "" | "application/octet-stream" | "binary/octet-stream") => by_name,
        by_type => by_type,
    }
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
    let unread = |(path, reason): (String, String)| Rejected {
        path,
        reason: format!("{reason}. Its pages are unknown, so missing documents stay"),
    };
    // An entry that cannot be used may be that of a page that was listed correctly before, and any page may be in a sitemap that
    // was not read.
    let named = |(entry, _): &(String, crawl::Rejection)| {
        let crawl::Listing::Sitemap(sitemap) = listing else { return None };
        let url = sitemap.join(entry).ok()?;
        Some(document_name(Some(&crawl::site_name(&url)), &url))
    };
    let unlisted = match addresses.unread.is_empty() && addresses.rejected.len() <= MAX_UNUSABLE {
        true => addresses.rejected.iter().filter_map(named).collect(),
        false => vec![String::new()],
    };
    Ok(Listing {
        items: addresses.pages.into_iter().map(item).collect(),
        skipped: addresses.rejected.into_iter().map(rejected).collect(),
        unlisted,
        failed: addresses.unread.into_iter().map(unread).collect(),
        nameless: None,
    })
}

pub(super) async fn load(site: &Site, url: &Url, known: Option<&str>) -> Result<Loaded, LoadError> {
    let page = match site.fetch(url, known).await {
        Ok(Fetched::Page(page)) => page,
        Ok(Fetched::Unchanged) => return Ok(Loaded::Unchanged),
        Err(error @ FetchError::NoIndex) => return Err(LoadError::NotPublished(error.to_string())),
        // A site that forbids a page now does not want it quoted either.
        Err(error) if error.is_gone() || error.is_disallowed() => {
            return Err(LoadError::Gone(error.to_string()));
        }
        Err(error @ FetchError::Elsewhere { .. }) => return Err(LoadError::Elsewhere(error.to_string())),
        Err(error @ FetchError::NotRequested(_)) => return Err(LoadError::NotRequested(error.to_string())),
        Err(error) => return Err(LoadError::Failed(error.to_string())),
    };
    if let Some(to) = page.refresh.as_deref().and_then(extract::refresh_target)
        && page.url.join(to).ok().as_ref() != Some(&page.url)
    {
        return Err(LoadError::Elsewhere(ExtractError::Redirect(to.to_owned()).to_string()));
    }
    let format = format(&page.url, page.content_type.as_deref());
    let format = format.ok_or_else(|| LoadError::Failed("is not a page or document".to_owned()))?;
    let url = Some(page.url.to_string());
    Ok(Loaded::Content(Content {
        bytes: page.bytes,
        format,
        version: page.version,
        url,
        has_moved: page.has_moved,
    }))
}

#[cfg(test)]
mod tests;
