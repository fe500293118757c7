//! Parses the addresses of pages.

use reqwest::Url;
use thiserror::Error;

/// Maximum size of an address in bytes. sitemaps.org requires less than 2,048 characters; the address identifies a document,
/// and an index on a text column supports at most about 2,700 bytes.
const MAX_ADDRESS_BYTES: usize = 2_047;

/// Maximum number of characters of untrusted text in a message.
const MAX_SHOWN_CHARS: usize = 200;

/// Why an entry of a listing is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Rejection {
    /// Not an absolute web address.
    #[error("not an address that starts with http:// or https://")]
    NotAnAddress,
    /// White space in the middle, usually two entries on one line.
    #[error("white space inside the address; put one address on each line, and write %20 for a space")]
    WhiteSpace,
    /// Only pages that need no sign-in can be fetched.
    #[error("contains a user name or password; only pages that need no sign-in can be fetched")]
    Credentials,
    /// 2,048 bytes or more, as sent.
    #[error("longer than 2,047 characters")]
    TooLong,
    /// A sitemap applies only to its own site: same scheme, host and port (sitemaps.org, “Sitemap file location”).
    #[error("on another site than the sitemap: scheme, host and port must be the same")]
    OtherSite,
}

/// Parses one entry of a listing, without its fragment, which is never sent to a server.
pub(crate) fn parse(text: &str) -> Result<Url, Rejection> {
    let text = text.trim();
    if text.len() > MAX_ADDRESS_BYTES {
        return Err(Rejection::TooLong);
    }
    if text.contains(char::is_whitespace) {
        return Err(Rejection::WhiteSpace);
    }
    // A character could not be decoded, so this is not the intended address.
    if text.contains(char::REPLACEMENT_CHARACTER) {
        return Err(Rejection::NotAnAddress);
    }
    let mut url = Url::parse(text).map_err(|_| Rejection::NotAnAddress)?;
    url.set_fragment(None);
    check(&url)?;
    Ok(url)
}

/// Applies the same rules to an address that was parsed elsewhere.
pub(crate) fn check(url: &Url) -> Result<(), Rejection> {
    if !is_web(url) {
        return Err(Rejection::NotAnAddress);
    }
    if has_credentials(url) {
        return Err(Rejection::Credentials);
    }
    // Percent-encoding may have made the address longer.
    if url.as_str().len() > MAX_ADDRESS_BYTES {
        return Err(Rejection::TooLong);
    }
    Ok(())
}

pub(crate) fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.has_host()
}

/// Reports whether an address has a user name or password.
pub fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// The address without credentials and fragment.
pub(crate) fn bare(url: &Url) -> Url {
    let mut bare = url.clone();
    bare.set_fragment(None);
    // Both fail only for addresses without a host, which have no credentials.
    let _ = bare.set_username("");
    let _ = bare.set_password(None);
    bare
}

/// Scheme, host and port, e.g. `https://example.com` or `http://[::1]:8080`.
pub(crate) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Text of a listing for messages: short, on one line, without credentials.
pub(crate) fn shown(text: &str) -> String {
    let text = match Url::parse(text.trim()) {
        Ok(url) if url.has_host() => bare(&url).to_string(),
        _ => without_user_info(text.trim()),
    };
    let mut shown: String =
        text.chars().take(MAX_SHOWN_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// In text that does not parse as an address, everything up to the last `@` may be a password.
fn without_user_info(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((_, rest)) => format!("…@{rest}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_normalized_and_lose_their_fragment() {
        let read = |text: &str| parse(text).map(String::from);
        assert_eq!(read("HTTPS://Example.COM:443/a/../b#c").unwrap(), "https://example.com/b");
        assert_eq!(read(" http://[0:0::1]/ ").unwrap(), "http://[::1]/");
        assert_eq!(read("https://bücher.example/ä").unwrap(), "https://xn--bcher-kva.example/%C3%A4");
    }

    #[test]
    fn text_that_is_not_a_web_address_is_rejected() {
        for text in
            ["", "/a", "example.com", "ftp://h/a", "file:///etc/passwd", "https://", "https://h:99999/"]
        {
            assert_eq!(parse(text), Err(Rejection::NotAnAddress), "{text}");
        }
        assert_eq!(parse("javascript:alert(1)"), Err(Rejection::NotAnAddress));
        assert_eq!(parse("https://h/\u{fffd}"), Err(Rejection::NotAnAddress));
        assert_eq!(parse("https://h/a https://h/b"), Err(Rejection::WhiteSpace));
    }

    #[test]
    fn the_limit_applies_to_the_encoded_address() {
        let of_length = |length: usize| format!("https://h/{}", "a".repeat(length - 10));
        assert!(parse(&of_length(2_047)).is_ok());
        assert_eq!(parse(&of_length(2_048)), Err(Rejection::TooLong));
        assert_eq!(parse(&format!("https://h/{}", "ä".repeat(500))), Err(Rejection::TooLong));
    }

    #[test]
    fn credentials_are_never_shown() {
        for text in [
            "https://user:secret@h/a",
            "https://user:secret@h:99999/",
            "htps:/user:secret@h",
            "user:secret@h/a",
            "https://us er:secret@h/",
        ] {
            assert!(!shown(text).contains("secret"), "{}", shown(text));
        }
        assert_eq!(shown("https://user:secret@h/a"), "https://h/a");
    }

    #[test]
    fn long_text_with_line_breaks_is_shown_on_one_short_line() {
        let text = shown(&format!("a\nb{}", "c".repeat(5_000)));
        assert_eq!(text.chars().count(), MAX_SHOWN_CHARS + 1);
        assert!(text.starts_with("a bc") && text.ends_with('…'));
    }
}
