//! Sources of addresses.

use std::collections::HashSet;

use reqwest::Url;
use thiserror::Error;

use crate::address::{self, Rejection};

/// A source of addresses.
#[derive(Debug, Clone)]
pub enum Listing {
    /// A sitemap or sitemap index: XML or text, plain or gzipped.
    Sitemap(Url),
    /// A list of addresses, see [`parse_list`].
    List(Vec<Url>),
}

/// A line of a list that is not an address.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: “{text}”: {reason}")]
pub struct ListError {
    /// Counted from 1.
    pub line: usize,
    /// The line, truncated and without credentials.
    pub text: String,
    /// The defect of the line.
    pub reason: Rejection,
}

/// Parses a list: one address per line; ignores blank lines, lines that start with `#`, and duplicates.
///
/// # Errors
///
/// The first line that is not an address: if it were skipped, its page would be treated as removed.
pub fn parse_list(text: &str) -> Result<Vec<Url>, ListError> {
    let mut seen = HashSet::new();
    let mut addresses = Vec::new();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let url = address::parse(line).map_err(|reason| ListError {
            line: index + 1,
            text: address::shown(line),
            reason,
        })?;
        if seen.insert(url.clone()) {
            addresses.push(url);
        }
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_one_address_per_line() {
        let text =
            "\u{feff}# pages\r\n\r\nhttps://h/b\n  https://h/a#top  \nhttps://H:443/b\n\t\nhttps://h/a?x=1";
        let read: Vec<String> = parse_list(text).unwrap().into_iter().map(String::from).collect();
        assert_eq!(read, ["https://h/b", "https://h/a", "https://h/a?x=1"]);
    }

    #[test]
    fn an_error_names_the_line_without_the_password() {
        let error = parse_list("https://h/\n\n# note\nftp://user:secret@h/a\n").unwrap_err();
        assert_eq!(error.line, 4);
        assert_eq!(
            error.to_string(),
            "line 4: “ftp://h/a”: not an address that starts with http:// or https://"
        );
        let error = parse_list("https://user:secret@h/a").unwrap_err();
        assert_eq!(error.reason, Rejection::Credentials);
        assert!(error.to_string().contains("“https://h/a”: contains a user name or password"), "{error}");
    }
}
