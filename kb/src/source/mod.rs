//! Sources of documents: a folder, the storage bucket, or a web site. Each lists [`Item`]s, which are then loaded one by one.

mod bucket;
pub mod folder;
mod name;
mod web;

use std::io;
use std::path::PathBuf;

use crawl::{CrawlError, Site};
use extract::Format;
use reqwest::Url;

pub use folder::FolderFile;
pub use name::{NameError, SourceName};

use crate::supabase::{Client, SupabaseError};

/// A document in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Key of the document within its collection: a path with `/`.
    pub path: String,
    /// Its format, if known before loading.
    pub format: Option<Format>,
    /// Size in bytes; 0 if unknown.
    pub size: u64,
    /// Version of the content, if the source reports one without loading it.
    pub version: Option<String>,
    pub location: Location,
}

impl Item {
    /// The last component of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(&self.path)
    }
}

impl Location {
    /// The path in the bucket, for a file of the bucket.
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
    /// A file on this computer.
    File(FolderFile),
    /// A file in the storage bucket, by its path.
    Stored(String),
    /// A page of a web site.
    Page(Url),
}

/// The content of an item.
#[derive(Debug, Clone)]
pub struct Content {
    pub bytes: Vec<u8>,
    pub format: Format,
    /// Version that the source reports.
    pub version: Option<String>,
    /// Address where people read it.
    pub url: Option<String>,
    /// True if it was found at another address, and may say of itself what is not said of the
    /// document.
    pub has_moved: bool,
}

/// A file or page that does not become a document, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    pub path: String,
    /// Completes a sentence that starts with the path, such as "is a symbolic link".
    pub reason: String,
}

/// The content of a source, in a stable order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub items: Vec<Item>,
    /// Files that are not documents; not an error.
    pub skipped: Vec<Rejected>,
    /// Documents that cannot be read.
    pub failed: Vec<Rejected>,
    /// Paths that could not be listed: nothing is known about them and what is below them. An empty path is the whole source.
    pub unlisted: Vec<String>,
    /// A file without a usable name, which may be any document under another name.
    pub nameless: Option<String>,
}

impl Listing {
    /// Returns whether the source may have a document with this path, although it is not listed.
    pub fn may_have(&self, path: &str) -> bool {
        let is_below = |above: &String| {
            let rest = path.strip_prefix(above.as_str());
            rest.is_some_and(|rest| above.is_empty() || rest.is_empty() || rest.starts_with('/'))
        };
        self.unlisted.iter().any(is_below)
    }
}

/// Why a source cannot be listed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// A folder or file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Io { path: PathBuf, error: std::io::Error },
    /// A line of a list of addresses is not an address.
    #[error("{path}: {error}", path = path.display())]
    List { path: PathBuf, error: crawl::ListError },
    /// The site cannot be read.
    #[error(transparent)]
    Crawl(#[from] CrawlError),
    /// The bucket cannot be listed.
    #[error(transparent)]
    Supabase(#[from] SupabaseError),
}

/// Why the content of an item cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A listed page no longer exists, or its site asks crawlers to stay away.
    #[error("{0}")]
    Gone(String),
    /// A page asks not to be indexed.
    #[error("{0}")]
    NotPublished(String),
    /// A page leads to something else, so nothing is known about it.
    #[error("{0}")]
    Elsewhere(String),
    /// Only this document is affected.
    #[error("{0}")]
    Failed(String),
    /// Nothing is known about the content: it cannot be opened or read now.
    #[error("{0}")]
    Unreadable(String),
    /// Not requested, because its site is unavailable: nothing is known about the document.
    #[error("{0}")]
    NotRequested(String),
    /// The project cannot be read at all.
    #[error(transparent)]
    Supabase(SupabaseError),
}

/// A source that can be listed and read.
pub enum Source {
    Folder(PathBuf),
    /// Files that people put into the bucket `kb`, without the originals that kb uploaded.
    Bucket,
    Web {
        listing: crawl::Listing,
        site: Box<Site>,
    },
}

/// The result of loading an item.
pub enum Loaded {
    Content(Content),
    /// The content still has the known version.
    Unchanged,
}

impl Source {
    /// Opens the source that the user named.
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

    /// Lists the documents.
    ///
    /// # Errors
    /// If the source cannot be listed at all.
    pub async fn list(&self, client: &Client) -> Result<Listing, ListError> {
        match self {
            Self::Folder(path) => {
                // A large folder takes long, and the lease must be renewed meanwhile.
                let folder = path.clone();
                let listed = tokio::task::spawn_blocking(move || folder::list(&folder)).await;
                let listed = listed.unwrap_or_else(|panicked| Err(io::Error::other(panicked)));
                listed.map_err(|error| ListError::Io { path: path.clone(), error })
            }
            Self::Bucket => Ok(bucket::list(client).await?),
            Self::Web { listing, site } => Ok(web::list(listing, site).await?),
        }
    }

    /// Loads the content of an item, unless it still has the `known` version.
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
    Ok(Content { bytes, format, version: item.version.clone(), url: None, has_moved: false })
}
