//! Sources of addresses.

use std::collections::HashSet;
use std::fmt;

use reqwest::Url;
use thiserror::Error;

use crate::address::{self, Rejection};

/// A source of addresses.
#[derive(Clone)]
pub enum Listing {
    /// A sitemap or sitemap index: XML or text, plain or gzipped.
    Sitemap(Url),
    /// A list of addresses, see [`parse_list`].
    List(Vec<Url>),
}

/// Shows no credentials.
impl fmt::Debug for Listing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sitemap(url) => out.debug_tuple("Sitemap").field(&address::bare(url).as_str()).finish(),
            Self::List(urls) => write!(out, "List({} addresses)", urls.len()),
        }
    }
}

/// A line of a list that is not an address.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: “{text}”: {reason}")]
pub struct ListError {
    /// Counted from 1.
    pub line: usize,
    /// The line, truncated and without credentials.
    pub text: String,
    /// What is wrong with the line.
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
        if seen.insert(address::bare(&url)) {
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
    }

    #[test]
    fn an_address_with_credentials_is_a_duplicate_of_the_one_without() {
        assert_eq!(parse_list("https://u:p@h/a\nhttps://h/a").unwrap().len(), 1);
    }

    #[test]
    fn debug_output_shows_no_credentials() {
        let url = Url::parse("https://user:secret@h/sitemap.xml").unwrap();
        let shown = format!("{:?} {:?}", Listing::Sitemap(url.clone()), Listing::List(vec![url]));
        assert_eq!(shown, r#"Sitemap("https://h/sitemap.xml") List(1 addresses)"#);
    }
}
