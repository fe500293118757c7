//! The version of a page: the HTTP validator of one address.

use reqwest::Url;
use reqwest::header::{ETAG, HeaderMap, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};

/// Maximum size of a validator in bytes.
const MAX_VALIDATOR_BYTES: usize = 1_024;

/// A validator with its address. An address that later redirects elsewhere must not count as unchanged because the new
/// target is older than the old one.
///
/// Its text form is the address, a space, `etag:` or `modified:`, and the value of the header.
#[derive(Debug, PartialEq)]
pub(crate) struct Version<'a> {
    address: &'a str,
    condition: HeaderName,
    value: &'a str,
}

impl<'a> Version<'a> {
    /// `None` for text that [`describe`] did not return: the page is then fetched unconditionally.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (address, validator) = text.split_once(' ')?;
        let (condition, value) = match validator.split_once(':')? {
            ("etag", value) => (IF_NONE_MATCH, value),
            ("modified", value) => (IF_MODIFIED_SINCE, value),
            _ => return None,
        };
        Some(Self { address, condition, value })
    }

    /// The conditional header for `url`.
    pub(crate) fn condition(&self, url: &Url) -> Option<(HeaderName, &'a str)> {
        (url.as_str() == self.address).then(|| (self.condition.clone(), self.value))
    }
}

/// The version of a response from `url` with these headers.
pub(crate) fn describe(url: &Url, headers: &HeaderMap) -> Option<String> {
    let value = |name| {
        let value = headers.get(name)?.to_str().ok()?;
        (!value.is_empty() && value.len() <= MAX_VALIDATOR_BYTES).then_some(value)
    };
    let etag = value(ETAG).map(|etag| format!("{url} etag:{etag}"));
    etag.or_else(|| Some(format!("{url} modified:{}", value(LAST_MODIFIED)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(HeaderName, &'static [u8])]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.to_vec().try_into().unwrap())).collect()
    }

    #[test]
    fn an_etag_takes_precedence_over_a_date() {
        let url = Url::parse("https://h/a?b=c:d").unwrap();
        let date: &[u8] = b"Sun, 06 Nov 1994 08:49:37 GMT";
        let both = describe(&url, &headers(&[(ETAG, b"W/\"x: y\""), (LAST_MODIFIED, date)])).unwrap();
        assert_eq!(Version::parse(&both).unwrap().condition(&url), Some((IF_NONE_MATCH, "W/\"x: y\"")));
        let dated = describe(&url, &headers(&[(ETAG, b"\xff"), (LAST_MODIFIED, date)])).unwrap();
        let condition = Version::parse(&dated).unwrap().condition(&url).unwrap();
        assert_eq!(condition, (IF_MODIFIED_SINCE, "Sun, 06 Nov 1994 08:49:37 GMT"));
    }

    #[test]
    fn a_version_applies_only_to_its_own_address() {
        let version = Version::parse("https://h/a etag:\"1\"").unwrap();
        assert!(version.condition(&Url::parse("https://h/b").unwrap()).is_none());
    }

    #[test]
    fn invalid_validators_give_no_version() {
        let url = Url::parse("https://h/").unwrap();
        let long = headers(&[(ETAG, &[b'x'; MAX_VALIDATOR_BYTES + 1])]);
        assert_eq!(describe(&url, &long), None);
        assert_eq!(describe(&url, &headers(&[(ETAG, b"")])), None);
    }

    #[test]
    fn text_in_another_form_is_not_a_version() {
        for text in ["", "\"abc\"", "https://h/ ", "https://h/ size:3", "W/\"x: y\""] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }
}
