//! The crawler.

mod addresses;
mod failure;
mod follow;
mod moved;
mod network;
mod pace;
mod robots;
mod transfer;

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderName, REFRESH};
use reqwest::redirect::Policy;

use crate::address;
use crate::error::{CrawlError, FetchError};
use crate::options::{Options, USER_AGENT};
use crate::version::{self, Version};

use network::{Guarded, Network, Reach};
use pace::Pace;
use robots::RobotsCache;
use transfer::{FetchSpec, Purpose, Reply};

pub use addresses::Addresses;

/// Timeout of a connection; [`Options::timeout`] limits the whole request.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Fetches from any number of hosts; caches their `robots.txt` and limits the rate of requests to each.
///
/// All methods may be called concurrently.
pub struct Site {
    clients: Clients,
    network: Arc<Network>,
    options: Options,
    pace: Pace,
    robots: RobotsCache,
}

/// The result of fetching a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// The page has another version, or none was given.
    Page(Page),
    /// The page still has the given version.
    Unchanged,
}

/// The content of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Address after redirects, without its fragment.
    pub url: Url,
    /// True if the page has another address than it had, so that what is there may not be said of
    /// the page.
    pub has_moved: bool,
    /// The header `Refresh`, with which old sites lead elsewhere.
    pub refresh: Option<String>,
    /// With parameters, such as `text/html; charset=utf-8`.
    pub content_type: Option<String>,
    /// After content decoding, in the original character set.
    pub bytes: Vec<u8>,
    /// Opaque version for the next [`Site::fetch`].
    pub version: Option<String>,
}

impl Site {
    /// # Errors
    ///
    /// If the HTTP client cannot be created.
    pub fn new(options: Options) -> Result<Self, CrawlError> {
        Self::in_network(options, Network::from_system())
    }

    fn in_network(options: Options, network: Network) -> Result<Self, CrawlError> {
        let network = Arc::new(network);
        let clients = Clients::new(&options, &network)?;
        Ok(Self { clients, network, options, pace: Pace::default(), robots: RobotsCache::default() })
    }

    /// Allows the host of this address to be in a private network, because the user named it, not a fetched page.
    /// [`Site::addresses`] calls this for the addresses of its listing.
    ///
    /// Such a host is contacted at private addresses only if it has no public ones at the first contact, only at the
    /// addresses of the first contact, and never by a redirect from the public internet.
    pub fn allow_private_host(&self, url: &Url) {
        self.network.allow_private_host(url);
    }

    /// Downloads a page, unless it still has the `version` that an earlier call returned.
    ///
    /// # Errors
    ///
    /// See [`FetchError`].
    pub async fn fetch(&self, page: &Url, version: Option<&str>) -> Result<Fetched, FetchError> {
        let spec = FetchSpec { purpose: Purpose::Page, version: version.and_then(Version::parse) };
        let (url, reply) = self.follow(page, &spec, Reach::PrivateAllowed).await?;
        let Reply::Content { headers, bytes } = reply else { return Ok(Fetched::Unchanged) };
        let has_moved = !moved::is_same(&address::bare(page), &url);
        if has_moved && moved::asks_for_password(&bytes) {
            return Err(moved::elsewhere(&url, "which asks for a password"));
        }
        let text = |name: HeaderName| {
            headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let (content_type, refresh) = (text(CONTENT_TYPE), text(REFRESH));
        let version = version::describe(&url, &headers);
        Ok(Fetched::Page(Page { url, has_moved, refresh, content_type, bytes, version }))
    }
}

/// A client per [`Reach`], so that they share no connections.
struct Clients {
    private_allowed: reqwest::Client,
    public: reqwest::Client,
}

impl Clients {
    fn new(options: &Options, network: &Arc<Network>) -> Result<Self, CrawlError> {
        let client = |reach| {
            reqwest::Client::builder()
                .user_agent(USER_AGENT)
                .redirect(Policy::none())
                .referer(false)
                .connect_timeout(CONNECT_TIMEOUT.min(options.timeout))
                // A proxy would resolve names itself and connect to any address.
                .no_proxy()
                .dns_resolver(Arc::new(Guarded { network: Arc::clone(network), reach }))
                .build()
                .map_err(|error| CrawlError::Client(failure::innermost(&error)))
        };
        Ok(Self { private_allowed: client(Reach::PrivateAllowed)?, public: client(Reach::Public)? })
    }

    fn with(&self, reach: Reach) -> &reqwest::Client {
        match reach {
            Reach::PrivateAllowed => &self.private_allowed,
            Reach::Public => &self.public,
        }
    }
}

#[cfg(test)]
mod private_networks;
