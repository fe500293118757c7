//! Pages of a web site, by its sitemap or a list of addresses, fetched politely.
//!
//! [`Site::addresses`] turns a [`Listing`] into addresses, [`Site::fetch`] an address into its content. Both obey
//! `robots.txt` (RFC 9309), leave pages alone that ask not to be indexed, and keep a distance between requests to
//! one host. Everything a server sends is bounded: bytes, time, redirects, entries, depth.
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

pub use address::Rejection;
pub use error::{CrawlError, FetchError};
pub use listing::{ListError, Listing, parse_list};
pub use name::{document_name, site_name};
pub use options::Options;
pub use reqwest::Url;
pub use site::{Addresses, Fetched, Page, Site};
