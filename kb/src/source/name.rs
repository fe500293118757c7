//! Parses the name of a source, and derives the name of its collection.

use std::path::{Path, PathBuf};

use reqwest::Url;

/// The argument for the storage bucket, and the name of its collection.
const BUCKET_WORD: &str = "bucket";

/// A source as named on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceName {
    /// A folder, with everything below it.
    Folder(PathBuf),
    /// The storage bucket `kb`, named by the word `bucket`.
    Bucket,
    /// The address of a sitemap.
    Sitemap(Url),
    /// A file with one address per line.
    AddressList(PathBuf),
}

/// Why a name is not that of a source or collection.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    #[error(
        "there is no folder {0:?}; give a folder, the word bucket, the address of a sitemap, or a file with addresses"
    )]
    NotFound(String),
    /// A document instead of the folder it is in.
    #[error("{0:?} is a document; give the folder it is in")]
    Document(String),
    /// Not an address that pages can be fetched from.
    #[error("{0:?} is not a web address")]
    Address(String),
    /// Only pages that need no sign-in can be fetched, and others can see command lines.
    #[error("the address contains a user name or password; only pages that need no sign-in can be fetched")]
    Credentials,
    /// The source has no usable name for its collection.
    #[error("cannot derive a name for the collection from {0:?}; choose one with --collection")]
    Nameless(String),
    /// Syncs of the bucket and of this source would remove each other's documents.
    #[error(
        "the collection \"bucket\" is reserved for the storage bucket; choose another name with --collection"
    )]
    Reserved,
    /// The name cannot be the first component of a path.
    #[error(
        "{0:?} cannot be the name of a collection: it must have 1 to 200 characters without \"/\" and line breaks"
    )]
    Collection(String),
}

impl SourceName {
    /// Parses an argument. `bucket` is always the storage bucket; a folder of that name is `./bucket`.
    ///
    /// # Errors
    /// If it is not one of the four kinds of sources.
    pub fn parse(argument: &str) -> Result<Self, NameError> {
        if argument == BUCKET_WORD {
            return Ok(Self::Bucket);
        }
        if argument.starts_with("https://") || argument.starts_with("http://") {
            let url = Url::parse(argument).map_err(|_| NameError::Address(argument.to_owned()))?;
            return match crawl::has_credentials(&url) {
                true => Err(NameError::Credentials),
                false => Ok(Self::Sitemap(url)),
            };
        }
        let path = PathBuf::from(argument);
        if path.is_dir() {
            Ok(Self::Folder(path))
        } else if !path.is_file() {
            Err(NameError::NotFound(argument.to_owned()))
        } else if is_document(&path) {
            Err(NameError::Document(argument.to_owned()))
        } else {
            Ok(Self::AddressList(path))
        }
    }

    /// The default collection: the name of the folder, `bucket`, the site of the sitemap, or the name of the list without
    /// its extension.
    ///
    /// # Errors
    /// If the source has no such name.
    pub fn collection(&self) -> Result<String, NameError> {
        let name = match self {
            Self::Folder(path) => {
                path.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_str()?.to_owned()))
            }
            Self::Bucket => Some(BUCKET_WORD.to_owned()),
            Self::Sitemap(url) => Some(crawl::site_name(url)),
            Self::AddressList(path) => path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned),
        };
        let name = name.ok_or_else(|| NameError::Nameless(format!("{self:?}")))?;
        self.checked(&name)
    }

    /// Checks and trims a name that the user chose for the collection.
    ///
    /// # Errors
    /// If it is not a valid name, or is reserved.
    pub fn checked(&self, collection: &str) -> Result<String, NameError> {
        let name = collection.trim();
        let is_plain = |c: char| c != '/' && !c.is_control();
        if name.is_empty() || name.chars().count() > 200 || !name.chars().all(is_plain) {
            Err(NameError::Collection(name.to_owned()))
        } else if name == BUCKET_WORD && *self != Self::Bucket {
            Err(NameError::Reserved)
        } else {
            Ok(name.to_owned())
        }
    }
}

/// A plain text file may be a list of addresses.
fn is_document(path: &Path) -> bool {
    extract::Format::from_path(path).is_some_and(|format| format != extract::Format::PlainText)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_parsed_as_one_of_four_kinds_of_source() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["pages.txt", "a.pdf"] {
            std::fs::write(path(name), "x").unwrap();
        }
        let parse = |name: &str| SourceName::parse(path(name).to_str().unwrap());
        assert_eq!(parse(""), Ok(SourceName::Folder(path(""))));
        assert_eq!(parse("pages.txt"), Ok(SourceName::AddressList(path("pages.txt"))));
        assert!(matches!(parse("a.pdf"), Err(NameError::Document(_))));
        assert!(matches!(parse("none"), Err(NameError::NotFound(_))));
        assert_eq!(SourceName::parse("bucket"), Ok(SourceName::Bucket));
        assert!(matches!(SourceName::parse("https://example.org/sitemap.xml"), Ok(SourceName::Sitemap(_))));
        assert!(matches!(SourceName::parse("https://"), Err(NameError::Address(_))));
        assert_eq!(SourceName::parse("https://me:secret@example.org/"), Err(NameError::Credentials));
    }

    #[test]
    fn each_source_has_a_default_collection() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("handbook")).unwrap();
        let inside = folder.path().join("handbook/../handbook/.");
        assert_eq!(SourceName::Folder(inside).collection(), Ok("handbook".to_owned()));
        assert_eq!(SourceName::Bucket.collection(), Ok("bucket".to_owned()));
        assert_eq!(SourceName::AddressList("lists/pages.txt".into()).collection(), Ok("pages".to_owned()));
        let sitemap = SourceName::parse("https://docs.example.org/sitemap.xml").unwrap();
        assert_eq!(sitemap.collection(), Ok("docs.example.org".to_owned()));
        assert!(SourceName::Folder("/".into()).collection().is_err());
        assert_eq!(SourceName::AddressList("bucket.txt".into()).collection(), Err(NameError::Reserved));
        assert_eq!(SourceName::Folder("x".into()).checked("bucket"), Err(NameError::Reserved));
    }

    #[test]
    fn a_collection_is_one_component_of_a_path() {
        assert_eq!(SourceName::AddressList("a".into()).checked(" help "), Ok("help".to_owned()));
        for wrong in ["", " ", "a/b", "a\nb"] {
            assert!(SourceName::AddressList("a".into()).checked(wrong).is_err(), "{wrong:?}");
        }
    }
}
