//! Pages of a web site, by its sitemap or a list of addresses, fetched politely.
//!
//! [`Site::addresses`] turns a [`Listing`] into addresses, [`Site::fetch`] an address into its content. Both obey
//! `robots.txt` (RFC 9309), leave pages alone that ask not to be indexed, and keep a distance between requests to
//! one host. Everything a server sends is bounded: bytes, time, redirects, entries, depth.
//!
//! Only the public internet is fetched from, and hosts in a private network that the user named ([`Site::name`]): no page,
//! redirect or name server chooses what is read in the network that this runs in. Proxies of the environment are not used,
//! since they would resolve names themselves.
//!
//! What the content means is not known here.

#![forbid(unsafe_code)]

mod address;
mod error;
mod listing;
mod name;
mod noindex;
mod options;
mod site;
mod sitemap;
mod version;

// The server of the tests in `tests/` uses this crate by its name.
#[cfg(test)]
extern crate self as crawl;

pub use address::Rejection;
pub use error::{CrawlError, FetchError};
pub use listing::{ListError, Listing, parse_list};
pub use name::{document_name, site_name};
pub use options::Options;
pub use reqwest::Url;
pub use site::{Addresses, Fetched, Page, Site};
