//! The settings of a collection. They are stored with it, so that a run by hand cannot change what
//! the nightly one does.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Defaults, SyncError, host};
use crate::source::SourceName;

/// Language of documents where nobody says another.
const LANGUAGE: &str = "english";

/// The settings of a collection, as requested or as stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Kind and name of its source.
    pub source: String,
    /// The computer of a folder or list, and its path there. Another computer may have it elsewhere, and so may each job of CI.
    pub place: Option<(String, PathBuf)>,
    /// Language of documents that do not declare one; `None` to keep what is stored, as with the others.
    pub language: Option<String>,
    /// The audience of documents that declare none; the default of the project if none is stored.
    pub audience: Option<Vec<String>>,
    /// True if files of a folder are copied to the bucket.
    pub originals: Option<bool>,
}

impl Settings {
    /// The settings that name a source, and nothing else.
    pub fn of(name: &SourceName) -> Self {
        let local = |kind: &str, path: &Path| {
            // As it is named: "current" may be a link to another release each time.
            let named = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            let goes_up = named.components().any(|part| part == Component::ParentDir);
            let path = if goes_up { named.canonicalize().unwrap_or(named) } else { named };
            let last = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            let place = std::env::var_os("CI").is_none().then(|| (host(), path));
            (format!("{kind} {last}"), place)
        };
        let (source, place) = match name {
            SourceName::Folder(path) => local("folder", path),
            SourceName::AddressList(path) => local("list", path),
            SourceName::Bucket => ("bucket".to_owned(), None),
            SourceName::Sitemap(url) => (url.to_string(), None),
        };
        Self { source, place, ..Self::default() }
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
        let kept = stored.filter(|_| !may_change);
        let settings = Self {
            language: asked.language.or_else(|| kept?.language.clone()).or_else(|| Some(LANGUAGE.to_owned())),
            // A run that moves a folder must not open its new documents by leaving the option out, as in all
            // runs before.
            audience: asked.audience.or_else(|| stored?.audience.clone()),
            originals: asked.originals.or_else(|| kept?.originals).or(Some(true)),
            ..asked
        };
        let Some(stored) = kept else { return Ok(settings) };
        let is_elsewhere = match (&stored.place, &settings.place) {
            (Some((host, old)), Some((here, new))) => host == here && is_other(old, new),
            _ => false,
        };
        let (old, new) = (json!(stored), json!(settings));
        let names = ["source", "place", "language", "audience", "originals"];
        let differences: Vec<_> = names
            .iter()
            .filter(|name| old[*name] != new[*name] && (**name != "place" || is_elsewhere))
            .map(|name| format!("{name} {}, not {}", old[*name], new[*name]))
            .collect();
        if differences.is_empty() {
            return Ok(settings);
        }
        Err(SyncError::OtherSettings {
            collection: collection.to_owned(),
            differences: differences.join("; "),
        })
    }

    pub(super) fn defaults(&self) -> Defaults {
        Defaults { language: self.language.clone().unwrap_or_default(), audience: self.audience.clone() }
    }
}

/// Returns whether two paths are different folders. One that is no longer there was moved.
fn is_other(old: &Path, new: &Path) -> bool {
    old.canonicalize().is_ok_and(|old| new.canonicalize().ok().as_ref() != Some(&old))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(language: Option<&str>, audience: Option<&str>) -> Settings {
        let (language, audience) =
            (language.map(str::to_owned), audience.map(|entry| vec![entry.to_owned()]));
        let place = Some(("laptop".to_owned(), PathBuf::from("/srv/hr")));
        Settings { source: "folder hr".to_owned(), place, language, audience, originals: None }
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
        assert_eq!(
            (changed.language.as_deref(), changed.audience),
            (Some("english"), Some(vec!["team:hr".to_owned()]))
        );
        let changed = resolve(asked(None, Some("team:it")), true).unwrap();
        assert_eq!(changed.audience, Some(vec!["team:it".to_owned()]));
    }

    #[test]
    fn another_folder_of_this_computer_needs_a_flag_and_a_moved_or_linked_one_does_not() {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        for folder in ["a/hr", "b/hr"] {
            std::fs::create_dir_all(path(folder)).unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(path("a"), path("current")).unwrap();
        let at = |host: &str, name: &str| {
            let place = Some((host.to_owned(), path(name)));
            Settings { place, ..asked(None, None) }
        };
        let is_ok = |old: Settings, new: Settings| {
            let stored = old.resolve(None, false, "hr").unwrap();
            new.resolve(Some(&stored), false, "hr").is_ok()
        };
        assert!(is_ok(at("laptop", "a/hr"), at("laptop", "a/hr")));
        assert!(!is_ok(at("laptop", "a/hr"), at("laptop", "b/hr")));
        assert!(is_ok(at("laptop", "a/hr"), at("runner-7", "b/hr")));
        assert!(is_ok(at("laptop", "gone/hr"), at("laptop", "b/hr")));
        #[cfg(unix)]
        assert!(is_ok(at("laptop", "current/hr"), at("laptop", "a/hr")));
    }
}
