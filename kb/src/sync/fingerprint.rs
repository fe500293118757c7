//! Finds out whether a document has changed, without extracting and embedding it.

use std::io::{ErrorKind, Read};
use std::time::{SystemTime, UNIX_EPOCH};

use extract::{EXTRACTOR_VERSION, Format};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::output::hex;
use crate::passage::PASSAGES_VERSION;
use crate::source::{Item, LoadError, Location};

/// Front matter is not longer.
const HEAD_BYTES: u64 = 64 * 1024;

/// The knowledge about an item's content before it is processed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fingerprint {
    /// Hash of the whole content, as in `kb_documents.content_hash`.
    Content(String),
    /// Version that the source reports, as in `kb_documents.source_version`.
    Version(String),
    Unknown,
}

impl Fingerprint {
    /// The version of the content, as in `kb_documents.failed_version`.
    pub(super) fn version(&self) -> Option<&str> {
        match self {
            Self::Content(version) | Self::Version(version) => Some(version),
            Self::Unknown => None,
        }
    }

    /// The hash, if the content was read.
    pub(super) fn into_content(self) -> Option<String> {
        match self {
            Self::Content(hash) => Some(hash),
            Self::Version(_) | Self::Unknown => None,
        }
    }
}

/// Properties of documents that do not declare their own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Defaults {
    pub language: String,
    /// The audience; the default of the project if `None`.
    pub audience: Option<Vec<String>>,
}

impl Defaults {
    /// SHA-256 in hex over the bytes of a file and everything else that determines what is stored for it. It includes the
    /// default language: a change of `--language` writes the document again, while a change of language that an
    /// administrator made in the database stays until the document changes.
    pub fn content_hash(&self, format: Format, bytes: &[u8]) -> String {
        hex(self
            .rules(format.content_type())
            .chain_update(bytes)
            .chain_update(day_if_it_may_expire(bytes))
            .finalize())
    }

    /// [`Defaults::content_hash`] of a file that is not in memory.
    pub(super) fn hash_file(&self, format: Format, file: &mut impl Read) -> Result<String, LoadError> {
        let mut hash = self.rules(format.content_type());
        let (mut head, mut rest) = (Vec::new(), [0; HEAD_BYTES as usize]);
        let unreadable = |error| LoadError::Unreadable(format!("cannot be read: {error}"));
        file.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(unreadable)?;
        hash.update(&head);
        loop {
            match file.read(&mut rest) {
                Ok(0) => return Ok(hex(hash.chain_update(day_if_it_may_expire(&head)).finalize())),
                Ok(length) => hash.update(rest.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(error)),
            }
        }
    }

    /// The stored form of a version that a source reports; it stops matching when the rules change.
    pub(super) fn source_version(&self, version: &str) -> String {
        let rules = hex(self.rules("").finalize());
        format!("{} {version}", rules.get(..16).unwrap_or_default())
    }

    /// The version that a source reported, if the rules are still the same.
    pub(super) fn reported_version<'a>(&self, source_version: &'a str) -> Option<&'a str> {
        let (_, version) = source_version.split_once(' ')?;
        (self.source_version(version) == source_version).then_some(version)
    }

    /// Everything but the content that determines what is stored.
    fn rules(&self, format: &str) -> Sha256 {
        // No part contains a line break, so different parts never join to the same text.
        let audience = self.audience.as_deref().map(|audience| format!("{audience:?}")).unwrap_or_default();
        let head =
            format!("{EXTRACTOR_VERSION}\n{PASSAGES_VERSION}\n{}\n{audience}\n{format}\n", self.language);
        Sha256::new().chain_update(head)
    }
}

/// The day, for a file that says when it is no longer published: it is read again each day.
fn day_if_it_may_expire(file: &[u8]) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    if extract::may_expire(file) { (since.as_secs() / 86_400).to_string() } else { String::new() }
}

/// Fingerprints items on other threads: reading all files may take long, and the lease must be renewed meanwhile.
pub(super) async fn fingerprints(
    items: Vec<Item>,
    defaults: &Defaults,
) -> Vec<(Item, Result<Fingerprint, LoadError>)> {
    let defaults = defaults.clone();
    let all = move || {
        let with_fingerprint = |item: Item| {
            let fingerprint = fingerprint(&item, &defaults);
            (item, fingerprint)
        };
        items.into_par_iter().map(with_fingerprint).collect()
    };
    match tokio::task::spawn_blocking(all).await {
        Ok(fingerprints) => fingerprints,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}

fn fingerprint(item: &Item, defaults: &Defaults) -> Result<Fingerprint, LoadError> {
    Ok(match (&item.location, &item.version, item.format) {
        (Location::File(file), _, Some(format)) => {
            Fingerprint::Content(defaults.hash_file(format, &mut file.reader()?)?)
        }
        (_, Some(version), _) => Fingerprint::Version(defaults.source_version(version)),
        _ => Fingerprint::Unknown,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_depends_on_content_format_language_and_audience() {
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
        assert_eq!(english.hash_file(Format::Markdown, &mut b"text".as_slice()).unwrap(), hash);
        assert_eq!(hash, english.content_hash(Format::Markdown, b"text"));
        assert!(!others.contains(&hash));
        assert_ne!(
            defaults("english", Some(&["a", "b"])).content_hash(Format::Csv, b""),
            defaults("english", Some(&["a\", \"b"])).content_hash(Format::Csv, b"")
        );
    }

    #[test]
    fn a_file_that_names_an_expiry_has_another_hash_each_day() {
        let defaults = Defaults::default();
        let rest = "Some text.\n".repeat(20_000);
        for (head, changes) in [("---\nexpires: 2999-01-01\n---\n", true), ("---\ntitle: x\n---\n", false)] {
            let file = format!("{head}{rest}");
            let hash = defaults.content_hash(Format::Markdown, file.as_bytes());
            assert_eq!(defaults.hash_file(Format::Markdown, &mut file.as_bytes()).unwrap(), hash);
            let of_the_file_alone = hex(defaults.rules("text/markdown").chain_update(&file).finalize());
            assert_eq!(hash != of_the_file_alone, changes, "{head}");
        }
    }

    #[test]
    fn a_stored_version_matches_only_under_the_same_rules() {
        let english = Defaults { language: "english".to_owned(), audience: None };
        let german = Defaults { language: "german".to_owned(), audience: None };
        let version = english.source_version("\"abc\" 12");
        assert_eq!(english.reported_version(&version), Some("\"abc\" 12"));
        assert_eq!(german.reported_version(&version), None);
    }
}
