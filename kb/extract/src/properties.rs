//! Validated properties that a file declares.

use serde::{Deserialize, Serialize};

use super::ExtractError;
use super::clean::{one_line, visible};

/// Maximum length; a longer title is an error of the program that wrote the file.
const MAX_TITLE_CHARS: usize = 300;
/// Common limit of browsers and servers.
const MAX_URL_BYTES: usize = 2000;

const FILE_EXTENSIONS: [&str; 16] = [
    ".doc", ".docx", ".pdf", ".odt", ".rtf", ".txt", ".tex", ".dvi", ".ps", ".indd", ".qxd", ".ppt", ".pptx",
    ".xls", ".xlsx", ".html",
];
/// Titles that programs give to unnamed documents, perhaps with a number.
const PLACEHOLDER_TITLES: &str = "untitled|document|dokument|unbenannt|titel|title|sans titre|sin título|\
    word document|new document|about:blank|print";

/// Properties from front matter, document properties, or the head of an HTML page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Properties {
    /// Title on one line.
    pub title: Option<String>,
    /// Address where people read it: an absolute http or https URL.
    pub url: Option<String>,
    /// As in the file, in lower case: a name such as `german` or a code such as `de-at`.
    pub language: Option<String>,
    /// The audience (`team:sales`), if declared.
    pub audience: Option<Vec<String>>,
}

impl Properties {
    /// These properties, and the others where these are missing.
    ///
    /// # Errors
    /// If both name an audience, and not the same.
    pub(crate) fn or(self, others: Self) -> Result<Self, ExtractError> {
        if self.audience.is_some() && others.audience.is_some() && self.audience != others.audience {
            let reason = "the front matter and the page name different ones".to_owned();
            return Err(ExtractError::Audience(reason));
        }
        Ok(Self {
            title: self.title.or(others.title),
            url: self.url.or(others.url),
            language: self.language.or(others.language),
            audience: self.audience.or(others.audience),
        })
    }
}

/// Returns whether directives for robots forbid to index a page.
pub(crate) fn forbids_indexing(directives: &str) -> bool {
    directives
        .split([',', ' '])
        .any(|directive| ["noindex", "none"].iter().any(|no| directive.trim().eq_ignore_ascii_case(no)))
}

/// On one line, truncated with an ellipsis if it is too long; `None` if empty.
pub(crate) fn title(text: &str) -> Option<String> {
    let mut text = one_line(&visible(text));
    if text.chars().nth(MAX_TITLE_CHARS).is_some() {
        let start: String = text.chars().take(MAX_TITLE_CHARS - 1).collect();
        text = format!("{}…", start.trim_end());
    }
    (!text.is_empty()).then_some(text)
}

/// The title in the properties of an office document or PDF, unless a program generated it.
pub(crate) fn document_title(text: &str) -> Option<String> {
    let text = title(text)?;
    let lower = text.to_lowercase();
    let is_file_name = FILE_EXTENSIONS.iter().any(|extension| lower.ends_with(extension));
    let is_placeholder = PLACEHOLDER_TITLES.split('|').any(|start| {
        lower.strip_prefix(start).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == ' '))
    });
    let is_printed = lower.starts_with("microsoft ") && lower.contains(" - ");
    let has_letters = text.chars().filter(|c| c.is_alphabetic()).count() > 1;
    (has_letters && !is_file_name && !is_placeholder && !is_printed).then_some(text)
}

/// Accepts only an absolute http or https URL without spaces and control characters.
pub(crate) fn url(text: &str) -> Option<String> {
    let text = text.trim();
    let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    let rest = ["https://", "http://"]
        .into_iter()
        .find_map(|scheme| lower.starts_with(scheme).then(|| text.get(scheme.len()..)).flatten())?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_plain = !text.chars().any(|c| c.is_whitespace() || c.is_control() || "<>\"\\^`{|}".contains(c));
    (is_plain && !host.is_empty() && text.len() <= MAX_URL_BYTES).then(|| text.to_owned())
}

/// A name or code: letters, digits and hyphens.
pub(crate) fn language(text: &str) -> Option<String> {
    let text = text.trim().replace('_', "-").to_lowercase();
    let is_plain = text.chars().all(|c| c.is_alphanumeric() || c == '-');
    (is_plain && (2..=35).contains(&text.len()) && text != "x-none").then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_web_addresses_are_kept() {
        assert_eq!(url(" https://example.org/a?b#c ").as_deref(), Some("https://example.org/a?b#c"));
        assert_eq!(url("HTTP://example.org").as_deref(), Some("HTTP://example.org"));
        for bad in [
            "",
            "/a",
            "example.org",
            "javascript:alert(1)",
            "https://",
            "http:///a",
            "https://a b",
            "ftp://a",
            "https://a\"onclick",
            "http",
            "höttps://",
        ] {
            assert_eq!(url(bad), None, "{bad}");
        }
        assert_eq!(url(&format!("https://a/{}", "b".repeat(3000))), None);
    }

    #[test]
    fn languages_are_names_or_codes() {
        assert_eq!(language("de_AT").as_deref(), Some("de-at"));
        assert_eq!(language("German").as_deref(), Some("german"));
        for bad in ["", "e", "x-none", "en;drop", &"a".repeat(99)] {
            assert_eq!(language(bad), None, "{bad}");
        }
    }

    #[test]
    fn titles_that_programs_generate_are_rejected() {
        for bad in [
            "Microsoft Word - Refunds.docx",
            "Untitled",
            "untitled 2",
            "Dokument1",
            "refunds_final.PDF",
            "12345",
            "",
        ] {
            assert_eq!(document_title(bad), None, "{bad}");
        }
        for good in ["Refunds", "Document retention", "Untitled poems"] {
            assert_eq!(document_title(good).as_deref(), Some(good));
        }
    }

    #[test]
    fn titles_are_one_line_of_limited_length() {
        assert_eq!(title(" a\n b\0 ").as_deref(), Some("a b"));
        assert_eq!(title(" \n"), None);
        assert_eq!(title(&"é".repeat(1000)).map(|t| t.chars().count()), Some(300));
    }
}
