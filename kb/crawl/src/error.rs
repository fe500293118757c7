//! What can go wrong, in words for an administrator.

use std::net::IpAddr;
use std::time::Duration;

use thiserror::Error;

const MIB: usize = 1024 * 1024;

/// A listing that cannot be used, or options that cannot. Nothing is known about its pages then: none may be taken for
/// removed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CrawlError {
    /// No name that `robots.txt` could address, or characters that no header can carry.
    #[error("“{0}” cannot be used as user agent; it must start with a name of letters, “-” and “_”")]
    UserAgent(String),
    /// The HTTP client could not be made.
    #[error("cannot prepare HTTP requests: {0}")]
    Client(String),
    /// A sitemap could not be downloaded.
    #[error("sitemap {address}: {reason}")]
    Unreadable {
        /// Without credentials.
        address: String,
        /// What happened.
        reason: FetchError,
    },
    /// A sitemap was downloaded and is not one.
    #[error("sitemap {address}: {reason}")]
    Invalid {
        /// Without credentials.
        address: String,
        /// What is wrong with it.
        reason: SitemapError,
    },
    /// Sitemap indexes within sitemap indexes within …
    #[error("sitemap {address} lies too deep: indexes may be nested {limit} deep; name a lower one")]
    TooDeep {
        /// Without credentials.
        address: String,
        /// How many levels of indexes are followed.
        limit: usize,
    },
    /// More sitemaps than are ever read for one listing.
    #[error("the index leads to more than {limit} sitemaps; name one of them instead")]
    TooManySitemaps {
        /// How many are read.
        limit: usize,
    },
    /// More pages than [`Options::max_pages`](crate::Options::max_pages).
    #[error("more than {limit} pages; raise the limit, or name a smaller sitemap")]
    TooManyPages {
        /// The limit.
        limit: usize,
    },
    /// As many entries that cannot be used as pages are allowed.
    #[error(
        "more than {limit} entries cannot be used, the first being {first}; is this the site's own sitemap?"
    )]
    TooManyRejected {
        /// The limit.
        limit: usize,
        /// The first of them, with the reason.
        first: String,
    },
}

/// What is wrong with the text of a sitemap.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SitemapError {
    /// More than 50 MB once unpacked (sitemaps.org).
    #[error("more than {} MiB unpacked, the most a sitemap may have", .0 / MIB)]
    TooLarge(usize),
    /// More than 50,000 entries (sitemaps.org).
    #[error("more than {0} entries, the most a sitemap may have")]
    TooManyEntries(usize),
    /// Damaged or cut short.
    #[error("gzip data is damaged or incomplete")]
    Gzip,
    /// Not well-formed.
    #[error("broken XML at byte {at}: {reason}")]
    Xml {
        /// Counted from 0, in the unpacked text.
        at: u64,
        /// The parser's words.
        reason: String,
    },
    /// Well-formed as far as it was read, but something else.
    #[error("not a sitemap: it begins with <{0}>")]
    Root(String),
    /// Neither XML nor a list of addresses.
    #[error("not a sitemap: neither XML nor a list of addresses")]
    Text,
}

/// Why a page was not fetched. [`FetchError::is_gone`] tells whether it exists no more, [`FetchError::is_unwelcome`]
/// whether its site asks us to stay away; everything else says nothing about the page, and a document made of it must
/// be kept.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FetchError {
    /// Not `http` or `https`.
    #[error("only addresses that start with http:// or https:// can be fetched")]
    NotHttp,
    /// A rule of `robots.txt`.
    #[error(
        "{site}/robots.txt forbids {product} to fetch this; ask the site's owner to allow it, or leave it out"
    )]
    Robots {
        /// Scheme, host and port; another site's after a redirect.
        site: String,
        /// The name rules address us by.
        product: String,
    },
    /// `robots.txt` exists, perhaps, but could not be read: then everything counts as forbidden (RFC 9309, 2.3.1.4).
    #[error("{site}/robots.txt cannot be read, so nothing may be fetched there; try again later ({reason})")]
    RobotsUnreachable {
        /// Scheme, host and port.
        site: String,
        /// What happened to the request for it.
        reason: String,
    },
    /// A header or the page itself says `noindex`.
    #[error("the page asks not to be indexed ({0})")]
    NoIndex(&'static str),
    /// 404 or 410.
    #[error("the page does not exist (HTTP {0}); correct the address or leave it out")]
    Gone(u16),
    /// 401, 403 or 407.
    #[error("the site refuses access (HTTP {0}); only pages that need no sign-in can be fetched")]
    Denied(u16),
    /// 408, 429 or 5xx, repetitions included.
    #[error("the site is busy or broken (HTTP {status}){}; try again later", asked(.retry_after))]
    Busy {
        /// Of the last answer.
        status: u16,
        /// What the server asks us to wait.
        retry_after: Option<Duration>,
    },
    /// Any other status that is not success.
    #[error("the site answers with HTTP {0}, which is not a page")]
    Status(u16),
    /// More than [`Options::max_bytes`](crate::Options::max_bytes).
    #[error("larger than {}", size(*.0))]
    TooLarge(usize),
    /// Refused by [`Options::accept`](crate::Options::accept); the body was not downloaded.
    #[error("content of type {0} cannot be read; leave the page out")]
    ContentType(String),
    /// A `Content-Encoding` nobody asked for.
    #[error("the content is encoded as {0}, although only gzip was offered")]
    Encoding(String),
    /// [`Options::timeout`](crate::Options::timeout).
    #[error("no complete answer within {} s; try again later", .0.as_secs_f32())]
    TimedOut(Duration),
    /// A loop, usually.
    #[error("more than {0} redirects; open the page in a browser and use the address it ends at")]
    TooManyRedirects(usize),
    /// To something that is not a page of the web.
    #[error("redirects to “{0}”, which cannot be fetched")]
    BadRedirect(String),
    /// Its host has no address of the public internet, and is not one that the user named for that.
    #[error(
        "{site} is at {address}, which is not on the public internet; only hosts that you name yourself may be there. If \
         that is meant, name this address itself"
    )]
    PrivateAddress {
        /// Scheme, host and port; another site's after a redirect.
        site: String,
        /// The first that was found.
        address: IpAddr,
    },
    /// Nothing listens there.
    #[error("{0} refuses the connection; is the server running?")]
    Refused(String),
    /// Other ways of not getting a connection, unknown hosts above all.
    #[error("cannot connect to {site}: {reason}")]
    Connect {
        /// Scheme, host and port.
        site: String,
        /// The system's words.
        reason: String,
    },
    /// No secure connection, e.g. because of an expired certificate.
    #[error("no secure connection to {site}: {reason}; the site's certificate or address must be corrected")]
    Tls {
        /// Scheme, host and port.
        site: String,
        /// The words of the TLS library.
        reason: String,
    },
    /// The connection broke or what came over it is not HTTP, repetitions included.
    #[error("the answer broke off or is damaged ({0}); try again later")]
    Interrupted(String),
}

impl FetchError {
    /// The page does not exist any more: a document made of it may go.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Gone(_))
    }

    /// The site asks us not to use this page.
    pub fn is_unwelcome(&self) -> bool {
        matches!(self, Self::Robots { .. } | Self::NoIndex(_))
    }

    /// The same request may succeed later without anybody changing anything.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Busy { .. }
                | Self::TimedOut(_)
                | Self::Refused(_)
                | Self::Connect { .. }
                | Self::Interrupted(_)
                | Self::RobotsUnreachable { .. }
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
