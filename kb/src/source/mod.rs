//! Where documents come from: a folder, the storage bucket, or a web site. Each offers [`Item`]s, whose content is read one
//! by one.

mod bucket;
pub mod folder;
mod name;
mod web;

use std::path::PathBuf;

use crawl::{CrawlError, Site};
use extract::Format;
use reqwest::Url;

pub use folder::FolderFile;
pub use name::{NameError, SourceName};

use crate::supabase::{Client, SupabaseError};

/// A document that a source offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Identifies the document within its collection: a path with `/`.
    pub path: String,
    /// How it is written, where that is known before it is read.
    pub format: Option<Format>,
    /// Bytes, where known; for progress.
    pub size: u64,
    /// What the source says identifies the content, where it says so without its being read.
    pub version: Option<String>,
    /// Where the content is.
    pub location: Location,
}

impl Item {
    /// The last part of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(&self.path)
    }
}

impl Location {
    /// The path in the bucket, for a file that people put there.
    pub fn in_bucket(&self) -> Option<&str> {
        match self {
            Self::Stored(path) => Some(path),
            Self::File(_) | Self::Page(_) => None,
        }
    }
}

/// Where the content of an item is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A file of this computer.
    File(FolderFile),
    /// A file of the storage bucket.
    Stored(String),
    /// A page of a web site.
    Page(Url),
}

/// The content of an item.
#[derive(Debug, Clone)]
pub struct Content {
    /// As it is.
    pub bytes: Vec<u8>,
    /// How it is written.
    pub format: Format,
    /// What the source says identifies it.
    pub version: Option<String>,
    /// Where people read it.
    pub url: Option<String>,
}

/// A file or page that will not become a document, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// As found or as given.
    pub path: String,
    /// One sentence part, for people.
    pub reason: String,
}

/// What a source offers, always in the same order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Documents.
    pub items: Vec<Item>,
    /// Not documents, which is no error.
    pub skipped: Vec<Rejected>,
    /// Should be documents and cannot be read.
    pub failed: Vec<Rejected>,
    /// False if a part of the source could not be looked into, so that what is not listed may be there all the same.
    pub is_complete: bool,
}

/// Why a source cannot be listed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// A folder or file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A line of a list of addresses is none.
    #[error("{path}: {error}", path = path.display())]
    List {
        /// The list.
        path: PathBuf,
        /// Which line, and what is wrong with it.
        error: crawl::ListError,
    },
    /// The site cannot be read.
    #[error(transparent)]
    Crawl(#[from] CrawlError),
    /// The bucket cannot be listed.
    #[error(transparent)]
    Supabase(#[from] SupabaseError),
}

/// Why the content of an item cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A page that was listed is not there any more, or its site does not want it to be read.
    #[error("{0}")]
    Gone(String),
    /// This document is at fault; others may be read.
    #[error("{0}")]
    Failed(String),
    /// Nothing of the project can be read.
    #[error(transparent)]
    Supabase(SupabaseError),
}

/// A source that can be listed and read.
pub enum Source {
    /// Files below a folder.
    Folder(PathBuf),
    /// Files that were put into the bucket `kb`, but for originals.
    Bucket,
    /// Pages of a site.
    Web {
        /// Where their addresses are from.
        listing: crawl::Listing,
        /// Fetches them.
        site: Box<Site>,
    },
}

/// What became of an item that is there already, when it was asked for.
pub enum Loaded {
    /// Its content.
    Content(Content),
    /// The same as the version known.
    Unchanged,
}

impl Source {
    /// Opens what the user named.
    ///
    /// # Errors
    /// If a list of addresses cannot be read.
    pub fn open(name: &SourceName) -> Result<Self, ListError> {
        match name {
            SourceName::Folder(path) => Ok(Self::Folder(path.clone())),
            SourceName::Bucket => Ok(Self::Bucket),
            SourceName::Sitemap(url) => web::open(crawl::Listing::Sitemap(url.clone())),
            SourceName::AddressList(path) => web::open_list(path),
        }
    }

    /// Everything it offers.
    ///
    /// # Errors
    /// If it cannot be looked into at all.
    pub async fn list(&self, client: &Client) -> Result<Listing, ListError> {
        match self {
            Self::Folder(path) => {
                folder::list(path).map_err(|error| ListError::Io { path: path.clone(), error })
            }
            Self::Bucket => Ok(bucket::list(client).await?),
            Self::Web { listing, site } => Ok(web::list(listing, site).await?),
        }
    }

    /// The content of an item, unless it is `known` by its version.
    ///
    /// # Errors
    /// [`LoadError`] if it cannot be had.
    pub async fn load(&self, item: &Item, known: Option<&str>, client: &Client) -> Result<Loaded, LoadError> {
        match (&item.location, self) {
            (Location::File(file), _) => {
                let file = file.clone();
                let read = tokio::task::spawn_blocking(move || file.read()).await;
                let bytes = read.map_err(|error| LoadError::Failed(error.to_string()))??;
                Ok(Loaded::Content(content(item, bytes)?))
            }
            (Location::Stored(path), _) => {
                let bytes = bucket::read(client, path).await?;
                Ok(Loaded::Content(content(item, bytes)?))
            }
            (Location::Page(url), Self::Web { site, .. }) => web::load(site, url, known).await,
            (Location::Page(url), _) => Err(LoadError::Failed(format!("{url} is not a file"))),
        }
    }
}

fn content(item: &Item, bytes: Vec<u8>) -> Result<Content, LoadError> {
    let format = item.format.ok_or_else(|| LoadError::Failed("has no known format".to_owned()))?;
    Ok(Content { bytes, format, version: item.version.clone(), url: None })
}
