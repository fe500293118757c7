//! Errors, with messages for an administrator.

use std::net::IpAddr;
use std::time::Duration;

use thiserror::Error;

use crate::options::PRODUCT;

const MIB: usize = 1024 * 1024;

/// A listing or options that cannot be used. Nothing is known about the pages then, so none may be treated as removed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CrawlError {
    /// The HTTP client could not be created.
    #[error("cannot prepare HTTP requests: {0}")]
    Client(String),
    /// A sitemap could not be downloaded.
    #[error("sitemap {address}: {reason}")]
    Unreadable {
        /// Its address.
        address: String,
        /// Why the download failed.
        reason: FetchError,
    },
    /// The downloaded file is not a valid sitemap.
    #[error("sitemap {address}: {reason}")]
    Invalid {
        /// Its address.
        address: String,
        /// The defect.
        reason: SitemapError,
    },
    /// Sitemap indexes are nested too deeply.
    #[error(
        "sitemap {address} is nested too deeply: at most {limit} levels of indexes are followed; name a lower one"
    )]
    TooDeep {
        /// Its address.
        address: String,
        /// The limit that was exceeded.
        limit: usize,
    },
    /// More sitemaps than the limit for one listing.
    #[error("the index leads to more than {0} sitemaps; name one of them instead")]
    TooManySitemaps(usize),
    /// More pages than [`Options::max_pages`](crate::Options::max_pages).
    #[error("more than {0} pages; raise the limit, or name a smaller sitemap")]
    TooManyPages(usize),
    /// More unusable entries than pages are allowed.
    #[error(
        "more than {limit} entries cannot be used, the first being {first}; is this the site's own sitemap?"
    )]
    TooManyRejected {
        /// The limit that was exceeded.
        limit: usize,
        /// The first unusable entry, with the reason.
        first: String,
    },
}

impl CrawlError {
    /// The reason alone, to be shown next to the address.
    pub(crate) fn without_address(&self) -> String {
        match self {
            Self::Unreadable { reason, .. } => reason.to_string(),
            Self::Invalid { reason, .. } => reason.to_string(),
            error => error.to_string(),
        }
    }
}

/// A defect in the text of a sitemap.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SitemapError {
    /// More than 50 MB uncompressed (sitemaps.org).
    #[error("more than {} MiB uncompressed, the maximum of a sitemap", .0 / MIB)]
    TooLarge(usize),
    /// More than 50,000 entries (sitemaps.org).
    #[error("more than {0} entries, the maximum of a sitemap")]
    TooManyEntries(usize),
    /// Damaged or cut short.
    #[error("gzip data is damaged or incomplete")]
    Gzip,
    /// Not well-formed.
    #[error("broken XML at byte {at}: {reason}")]
    Xml {
        /// Offset in the uncompressed text.
        at: u64,
        /// Message of the parser.
        reason: String,
    },
    /// Another kind of XML document.
    #[error("not a sitemap: it begins with <{0}>")]
    Root(String),
    /// Neither XML nor a list of addresses.
    #[error("not a sitemap: neither XML nor a list of addresses")]
    Text,
}

/// Why a page was not fetched. A document made from the page may be removed only if the page no longer exists
/// ([`FetchError::is_gone`]) or its site asks us to stay away ([`FetchError::is_disallowed`]); all other errors say nothing
/// about the page.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FetchError {
    /// Not `http` or `https`.
    #[error("only addresses that start with http:// or https:// can be fetched")]
    NotHttp,
    /// A rule of `robots.txt`.
    #[error(
        "{site}/robots.txt forbids {PRODUCT} to fetch this; ask the site's owner to allow it, or leave it out"
    )]
    Robots {
        /// Scheme, host and port; those of another site after a redirect.
        site: String,
    },
    /// `robots.txt` could not be read, so everything counts as forbidden (RFC 9309, 2.3.1.4).
    #[error("{site}/robots.txt cannot be read, so nothing may be fetched there; try again later ({reason})")]
    RobotsUnreachable {
        /// Scheme, host and port.
        site: String,
        /// Why the request for it failed.
        reason: String,
    },
    /// A header says `noindex`.
    #[error("the page asks not to be indexed (header X-Robots-Tag)")]
    NoIndex,
    /// A redirect leads to something that is not the page.
    #[error(
        "leads to {address}, {why}, so nothing is known about the page; if its content is there now, name that address"
    )]
    Elsewhere {
        /// Without its query.
        address: String,
        /// Completes the sentence.
        why: String,
    },
    /// 404 or 410.
    #[error("the page does not exist (HTTP {0}); correct the address or leave it out")]
    Gone(u16),
    /// 401, 403 or 407.
    #[error("the site refuses access (HTTP {0}); only pages that need no sign-in can be fetched")]
    Denied(u16),
    /// 408, 429 or 5xx after all retries.
    #[error("the site is busy or broken (HTTP {status}){}; try again later", asked(.retry_after))]
    Busy {
        /// Status of the last response.
        status: u16,
        /// The wait that the server requests.
        retry_after: Option<Duration>,
    },
    /// Any other status that is not success.
    #[error("the site responds with HTTP {0}, which is not a page")]
    Status(u16),
    /// More than [`Options::max_bytes`](crate::Options::max_bytes).
    #[error("larger than {}", size(*.0))]
    TooLarge(usize),
    /// Refused by [`Options::accept`](crate::Options::accept); the body was not downloaded.
    #[error("content of type {0} cannot be read; leave the page out")]
    ContentType(String),
    /// A `Content-Encoding` that was not requested.
    #[error("the content is encoded as {0}, although only gzip was offered")]
    Encoding(String),
    /// [`Options::timeout`](crate::Options::timeout).
    #[error("no complete response within {} s; try again later", .0.as_secs_f32())]
    TimedOut(Duration),
    /// Usually a loop.
    #[error("more than {0} redirects; open the page in a browser and use the address where it ends")]
    TooManyRedirects(usize),
    /// The target is not a web page.
    #[error("redirects to “{0}”, which cannot be fetched")]
    BadRedirect(String),
    /// The host has no public address, and the user did not name it.
    #[error(
        "{site} is at {address}, which is not on the public internet; only hosts that you name yourself may be there. If \
         this is intended, name this address itself"
    )]
    PrivateAddress {
        /// Scheme, host and port; those of another site after a redirect.
        site: String,
        /// The first address that was found.
        address: IpAddr,
    },
    /// Nothing listens at this address.
    #[error("{0} refuses the connection; is the server running?")]
    Refused(String),
    /// Other connection failures, such as an unknown host.
    #[error("cannot connect to {site}: {reason}")]
    Connect {
        /// Scheme, host and port.
        site: String,
        /// Message of the operating system.
        reason: String,
    },
    /// TLS failed, for example because of an expired certificate.
    #[error("no secure connection to {site}: {reason}; the site's certificate or address must be corrected")]
    Tls {
        /// Scheme, host and port.
        site: String,
        /// Message of the TLS library.
        reason: String,
    },
    /// The connection broke or the response is not valid HTTP, after all retries.
    #[error("the response was interrupted or is damaged ({0}); try again later")]
    Interrupted(String),
    /// Earlier requests to the same host failed like this, so none was sent.
    #[error("not requested, because other pages of this site failed: {0}")]
    NotRequested(Box<FetchError>),
}

impl FetchError {
    /// The page no longer exists.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Gone(_))
    }

    /// The site disallows the use of this page.
    pub fn is_disallowed(&self) -> bool {
        matches!(self, Self::Robots { .. } | Self::NoIndex)
    }

    /// Reports whether the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Busy { .. }
                | Self::TimedOut(_)
                | Self::Refused(_)
                | Self::Connect { .. }
                | Self::Interrupted(_)
                | Self::RobotsUnreachable { .. }
                | Self::NotRequested(_)
        )
    }
}

fn size(bytes: usize) -> String {
    if bytes.is_multiple_of(MIB) { format!("{} MiB", bytes / MIB) } else { format!("{bytes} bytes") }
}

fn asked(retry_after: &Option<Duration>) -> String {
    match retry_after {
        Some(pause) => format!(" and asks to wait {} s", pause.as_secs()),
        None => String::new(),
    }
}
