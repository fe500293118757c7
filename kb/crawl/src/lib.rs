//! Fetches the pages of a web site politely, from its sitemap or a list of addresses.
//!
//! [`Site::addresses`] turns a [`Listing`] into addresses, [`Site::fetch`] an address into its content. Both obey
//! `robots.txt` (RFC 9309), skip pages whose headers ask not to be indexed, and limit the rate of requests to each host. Everything
//! that a server sends is limited: bytes, time, redirects, entries, depth.
//!
//! Only the public internet is accessed, and hosts in a private network that the user named ([`Site::allow_private_host`]): no page,
//! redirect or name server can choose what is read in the local network. Proxies of the environment are not used, because
//! they would resolve names themselves.
//!
//! This crate does not interpret the content of pages.

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

// The test server in `tests/` refers to this crate by its name.
#[cfg(test)]
extern crate self as crawl;

pub use address::{Rejection, has_credentials};
pub use error::{CrawlError, FetchError};
pub use listing::{ListError, Listing, parse_list};
pub use name::{document_name, site_name};
pub use options::Options;
pub use reqwest::Url;
pub use site::{Addresses, Fetched, Page, Site};
