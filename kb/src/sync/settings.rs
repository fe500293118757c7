//! What a collection is made from. It is stored with it, so that a run by hand cannot change what the nightly one does.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Defaults, SyncError};
use crate::source::SourceName;

/// Language of documents where nobody says another.
const LANGUAGE: &str = "english";

/// What a collection is made from, as somebody asks for it or as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Kind and name of its source.
    pub source: String,
    /// Language of documents that do not declare one; `None` to keep what is stored, as with the others.
    pub language: Option<String>,
    /// Who may see documents that do not declare it; the default audience of the project if none is stored.
    pub audience: Option<Vec<String>>,
    /// Whether files of a folder are copied to the bucket.
    pub originals: Option<bool>,
}

impl Settings {
    /// Only the name of a folder or list, because another computer has it elsewhere.
    pub fn source(name: &SourceName) -> String {
        let last = |path: &std::path::Path| {
            let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
        };
        match name {
            SourceName::Folder(path) => format!("folder {}", last(path)),
            SourceName::Bucket => "bucket".to_owned(),
            SourceName::Sitemap(url) => url.to_string(),
            SourceName::AddressList(path) => format!("list {}", last(path)),
        }
    }

    /// The settings of a run.
    ///
    /// # Errors
    /// If it asks for others than those that are stored, unless it `may_change` them.
    pub(super) fn resolve(
        &self,
        stored: Option<&Self>,
        may_change: bool,
        collection: &str,
    ) -> Result<Self, SyncError> {
        let asked = self.clone();
        let Some(stored) = stored.filter(|_| !may_change) else {
            return Ok(Self {
                language: asked.language.or_else(|| Some(LANGUAGE.to_owned())),
                originals: asked.originals.or(Some(true)),
                ..asked
            });
        };
        let settings = Self {
            source: asked.source,
            language: asked.language.or_else(|| stored.language.clone()),
            audience: asked.audience.or_else(|| stored.audience.clone()),
            originals: asked.originals.or(stored.originals),
        };
        if settings == *stored {
            return Ok(settings);
        }
        let (old, new) = (json!(stored), json!(settings));
        let names = ["source", "language", "audience", "originals"];
        let differences: Vec<_> = names
            .iter()
            .filter(|name| old[*name] != new[*name])
            .map(|name| format!("{name} {}, not {}", old[*name], new[*name]))
            .collect();
        Err(SyncError::OtherSettings {
            collection: collection.to_owned(),
            differences: differences.join("; "),
        })
    }

    pub(super) fn defaults(&self) -> Defaults {
        Defaults { language: self.language.clone().unwrap_or_default(), audience: self.audience.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(language: Option<&str>, audience: Option<&str>) -> Settings {
        let (language, audience) =
            (language.map(str::to_owned), audience.map(|entry| vec![entry.to_owned()]));
        Settings { source: "folder hr".to_owned(), language, audience, originals: None }
    }

    #[test]
    fn a_run_without_options_has_those_of_the_first_and_one_with_others_needs_a_flag() {
        let first = asked(Some("german"), Some("team:hr")).resolve(None, false, "hr").unwrap();
        assert_eq!((first.language.as_deref(), first.originals), (Some("german"), Some(true)));
        let resolve = |asked: Settings, may_change| asked.resolve(Some(&first), may_change, "hr");
        assert_eq!(resolve(asked(None, None), false).unwrap(), first);
        assert_eq!(resolve(asked(Some("german"), Some("team:hr")), false).unwrap(), first);
        let error = resolve(asked(None, Some("team:it")), false).unwrap_err().to_string();
        assert!(
            error.contains(r#"audience ["team:hr"], not ["team:it"]"#) && error.contains("--change-settings"),
            "{error}"
        );
        assert!(!error.contains("language"), "{error}");
        let other = Settings { source: "bucket".to_owned(), ..asked(None, None) };
        assert!(
            resolve(other, false).unwrap_err().to_string().contains(r#"source "folder hr", not "bucket""#)
        );
        assert!(resolve(Settings { originals: Some(false), ..asked(None, None) }, false).is_err());
        let changed = resolve(asked(None, None), true).unwrap();
        assert_eq!((changed.language.as_deref(), changed.audience), (Some("english"), None));
    }
}
