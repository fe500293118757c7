//! What tells whether a document has changed.

use std::io::{ErrorKind, Read};

use extract::{EXTRACTOR_VERSION, Format};
use sha2::{Digest, Sha256};

use crate::chunk::CHUNKER_VERSION;
use crate::source::LoadError;

/// What is known of an item's content before it is processed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fingerprint {
    /// The hash of all of it, as in `kb_documents.content_hash`.
    Content(String),
    /// What its source says, as in `kb_documents.source_version`.
    Version(String),
    /// Nothing.
    Unknown,
}

impl Fingerprint {
    /// The hash of the content, where that was read.
    pub(super) fn into_content(self) -> Option<String> {
        match self {
            Self::Content(hash) => Some(hash),
            Self::Version(_) | Self::Unknown => None,
        }
    }
}

/// What the user chose for documents that do not say otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Defaults {
    /// Language of the text.
    pub language: String,
    /// Who may see it; everybody who is signed in if `None`.
    pub audience: Option<Vec<String>>,
}

impl Defaults {
    /// SHA-256 in hex over the bytes of a file and whatever else decides what becomes of them. With the language in it,
    /// a change of language alone writes the document again, while an administrator's change in the database stays
    /// until then.
    pub(super) fn content_hash(&self, format: Format, bytes: &[u8]) -> String {
        hex(self.rules(format.content_type()).chain_update(bytes))
    }

    /// The same of a file that need not be in memory.
    pub(super) fn content_hash_of(&self, format: Format, file: &mut impl Read) -> Result<String, LoadError> {
        let mut hash = self.rules(format.content_type());
        let mut part = [0; 64 * 1024];
        loop {
            match file.read(&mut part) {
                Ok(0) => return Ok(hex(hash)),
                Ok(length) => hash.update(part.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(LoadError::Failed(format!("cannot be read: {error}"))),
            }
        }
    }

    /// What is kept of a version that a source gives, so that it no longer counts when anything else changes.
    pub(super) fn source_version(&self, version: &str) -> String {
        let rules = hex(self.rules(""));
        format!("{} {version}", rules.get(..16).unwrap_or_default())
    }

    /// The version that a source gave, if everything else that decides is the same as then.
    pub(super) fn version_of<'a>(&self, source_version: &'a str) -> Option<&'a str> {
        let (_, version) = source_version.split_once(' ')?;
        (self.source_version(version) == source_version).then_some(version)
    }

    /// Everything but the content.
    fn rules(&self, format: &str) -> Sha256 {
        // No line breaks in any of them, so that other parts never add up to the same whole.
        let audience = self.audience.as_deref().map(|audience| format!("{audience:?}")).unwrap_or_default();
        let head =
            format!("{EXTRACTOR_VERSION}\n{CHUNKER_VERSION}\n{}\n{audience}\n{format}\n", self.language);
        Sha256::new().chain_update(head)
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_follows_every_byte_the_format_the_language_and_the_audience() {
        let defaults = |language: &str, audience: Option<&[&str]>| Defaults {
            language: language.to_owned(),
            audience: audience.map(|entries| entries.iter().map(|entry| (*entry).to_owned()).collect()),
        };
        let english = defaults("english", None);
        let hash = english.content_hash(Format::Markdown, b"text");
        let others = [
            english.content_hash(Format::Markdown, b"text "),
            english.content_hash(Format::PlainText, b"text"),
            defaults("german", None).content_hash(Format::Markdown, b"text"),
            defaults("english", Some(&["team:a"])).content_hash(Format::Markdown, b"text"),
            defaults("english", Some(&[])).content_hash(Format::Markdown, b"text"),
        ];
        assert_eq!(hash.len(), 64);
        assert_eq!(english.content_hash_of(Format::Markdown, &mut b"text".as_slice()).unwrap(), hash);
        assert_eq!(hash, english.content_hash(Format::Markdown, b"text"));
        assert!(!others.contains(&hash));
        assert_ne!(
            defaults("english", Some(&["a", "b"])).content_hash(Format::Csv, b""),
            defaults("english", Some(&["a\", \"b"])).content_hash(Format::Csv, b"")
        );
    }

    #[test]
    fn a_version_counts_only_under_the_same_rules() {
        let english = Defaults { language: "english".to_owned(), audience: None };
        let german = Defaults { language: "german".to_owned(), audience: None };
        let version = english.source_version("\"abc\" 12");
        assert_eq!(english.version_of(&version), Some("\"abc\" 12"));
        assert_eq!(german.version_of(&version), None);
    }
}
