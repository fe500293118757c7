//! What the HTTP client's errors mean.

use std::error::Error;
use std::io;

use reqwest::Url;

use crate::address;
use crate::error::FetchError;

/// Puts the client's errors into the words of [`FetchError`]. The client's own words may hold the address with its
/// credentials; those of the innermost cause do not.
pub(super) fn failure(url: &Url, error: &reqwest::Error) -> FetchError {
    let site = address::origin(url);
    let reason = innermost(error);
    if error.is_timeout() {
        return FetchError::Connect { site, reason: "no answer in time".to_owned() };
    }
    if !error.is_connect() {
        return FetchError::Interrupted(reason);
    }
    let kinds: Vec<io::ErrorKind> =
        causes(error).filter_map(|cause| Some(cause.downcast_ref::<io::Error>()?.kind())).collect();
    let has = |kind| kinds.contains(&kind);
    if has(io::ErrorKind::ConnectionRefused) {
        FetchError::Refused(site)
    } else if url.scheme() == "https"
        && (has(io::ErrorKind::InvalidData) || has(io::ErrorKind::UnexpectedEof))
    {
        FetchError::Tls { site, reason }
    } else {
        FetchError::Connect { site, reason }
    }
}

/// The words of the first cause.
pub(super) fn innermost(error: &reqwest::Error) -> String {
    match causes(error).last() {
        Some(cause) => cause.to_string(),
        None => "no details".to_owned(),
    }
}

/// What lies behind an error, outermost first.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |error| cause(*error))
}

/// An [`io::Error`] hides the error it was made of from `source`.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(within) => Some(within),
        None => error.source(),
    }
}
