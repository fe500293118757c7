//! Resolves a listing to the addresses of pages.

use std::collections::{BTreeSet, HashSet};

use reqwest::Url;

use super::Site;
use super::network::Reach;
use super::transfer::{FetchSpec, Purpose, Reply};
use crate::address::{self, Rejection};
use crate::error::CrawlError;
use crate::listing::Listing;
use crate::name::site_name;
use crate::sitemap::{self, Entries};

/// Maximum levels of indexes below the first. sitemaps.org allows none, but some sites have one.
const MAX_LEVELS: usize = 3;

/// Maximum sitemaps of one listing.
const MAX_SITEMAPS: usize = 1_000;

/// The addresses of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// [`site_name`] of the sitemap after redirects; none for a list.
    pub site: Option<String>,
    /// Without duplicates and fragments: sorted if from a sitemap, otherwise in the order of the list.
    pub pages: Vec<Url>,
    /// Unusable entries as messages show them, with the reasons.
    pub rejected: Vec<(String, Rejection)>,
    /// Sitemaps of an index that could not be read, with the reasons. Their pages are not among `pages`.
    pub unread: Vec<(String, String)>,
}

impl Site {
    /// All pages of a listing.
    ///
    /// # Errors
    ///
    /// If the first sitemap cannot be read, or a limit is exceeded.
    pub async fn addresses(&self, listing: &Listing) -> Result<Addresses, CrawlError> {
        match listing {
            Listing::Sitemap(url) => self.sitemap_pages(url).await,
            Listing::List(urls) => self.listed_pages(urls),
        }
    }

    fn listed_pages(&self, urls: &[Url]) -> Result<Addresses, CrawlError> {
        check_pages(urls.len(), self.options.max_pages)?;
        urls.iter().for_each(|url| self.allow_private_host(url));
        Ok(Addresses { site: None, pages: urls.to_vec(), rejected: Vec::new(), unread: Vec::new() })
    }

    async fn sitemap_pages(&self, start: &Url) -> Result<Addresses, CrawlError> {
        self.allow_private_host(start);
        let start = address::bare(start);
        // Indexes may name each other.
        let mut seen = HashSet::from([start.clone()]);
        let mut waiting = vec![(start, 0)];
        let mut site: Option<Url> = None;
        let limit = self.options.max_pages;
        let mut found = Found { pages: BTreeSet::new(), rejected: Vec::new(), limit };
        let mut unread = Vec::new();
        while let Some((url, level)) = waiting.pop() {
            let (read_from, entries) = match self.read_sitemap(&url).await {
                Err(error) if site.is_some() => {
                    unread.push((url.into(), error.without_address()));
                    continue;
                }
                read => read?,
            };
            let site = &*site.get_or_insert(read_from);
            match entries {
                Entries::Pages(entries) => {
                    entries.iter().try_for_each(|entry| found.add(entry, site))?;
                }
                Entries::Sitemaps(_) if level == MAX_LEVELS => {
                    let reason = CrawlError::TooDeep { address: url.to_string(), limit: MAX_LEVELS };
                    unread.push((url.into(), reason.without_address()));
                }
                Entries::Sitemaps(entries) => {
                    for entry in entries {
                        let sitemap = match on_site(&entry, site) {
                            Ok(sitemap) => sitemap,
                            Err(reason) => {
                                unread.push((address::shown(&entry), reason.to_string()));
                                continue;
                            }
                        };
                        if seen.insert(sitemap.clone()) {
                            waiting.push((sitemap, level + 1));
                        }
                        if seen.len() > MAX_SITEMAPS {
                            return Err(CrawlError::TooManySitemaps(MAX_SITEMAPS));
                        }
                    }
                }
            }
        }
        let Found { pages, rejected, .. } = found;
        let (site, pages) = (site.as_ref().map(site_name), pages.into_iter().collect());
        Ok(Addresses { site, pages, rejected, unread })
    }

    async fn read_sitemap(&self, url: &Url) -> Result<(Url, Entries), CrawlError> {
        let spec = FetchSpec { purpose: Purpose::Sitemap, version: None };
        let (read_from, reply) = self
            .follow(url, &spec, Reach::PrivateAllowed)
            .await
            .map_err(|reason| CrawlError::Unreadable { address: url.to_string(), reason })?;
        let bytes = match reply {
            Reply::Content { bytes, .. } => bytes,
            // Only conditional requests get other replies.
            Reply::Unchanged | Reply::Redirect { .. } => Vec::new(),
        };
        let entries = sitemap::parse(&bytes)
            .map_err(|reason| CrawlError::Invalid { address: url.to_string(), reason })?;
        Ok((read_from, entries))
    }
}

fn on_site(entry: &str, site: &Url) -> Result<Url, Rejection> {
    let url = address::parse(entry)?;
    if url.origin() == site.origin() { Ok(url) } else { Err(Rejection::OtherSite) }
}

/// The entries of sitemaps, within the limit of pages and rejections.
struct Found {
    pages: BTreeSet<Url>,
    rejected: Vec<(String, Rejection)>,
    limit: usize,
}

impl Found {
    fn add(&mut self, entry: &str, site: &Url) -> Result<(), CrawlError> {
        let reason = match on_site(entry, site) {
            Ok(page) => {
                self.pages.insert(page);
                return check_pages(self.pages.len(), self.limit);
            }
            Err(reason) => reason,
        };
        self.rejected.push((address::shown(entry), reason));
        if self.rejected.len() <= self.limit {
            return Ok(());
        }
        let (first, reason) = self.rejected.swap_remove(0);
        Err(CrawlError::TooManyRejected { limit: self.limit, first: format!("“{first}”: {reason}") })
    }
}

fn check_pages(pages: usize, limit: usize) -> Result<(), CrawlError> {
    if pages > limit { Err(CrawlError::TooManyPages(limit)) } else { Ok(()) }
}
