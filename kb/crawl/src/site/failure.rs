//! What the HTTP client's errors mean.

use std::error::Error;
use std::io;

use reqwest::Url;

use super::network::NotPublic;
use crate::address;
use crate::error::FetchError;

/// Puts the client's errors into the words of [`FetchError`]. The client's own words may hold the address with its
/// credentials; those of the innermost cause do not.
pub(super) fn failure(url: &Url, error: &reqwest::Error) -> FetchError {
    let site = address::origin(url);
    let reason = innermost(error);
    if let Some(NotPublic { address }) = causes(error).find_map(|cause| cause.downcast_ref()) {
        return FetchError::PrivateAddress { site, address: *address };
    }
    if error.is_timeout() {
        return FetchError::Connect { site, reason: with_proxy_hint("no answer in time".to_owned()) };
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
        FetchError::Connect { site, reason: with_proxy_hint(reason) }
    }
}

/// Where there is a proxy, there may be no other way out.
fn with_proxy_hint(reason: String) -> String {
    let proxies = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    match proxies.into_iter().find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty())) {
        Some(name) => format!(
            "{reason}; the proxy of {name} is not used, since it could reach private addresses: sites have to be reachable \
             without it"
        ),
        None => reason,
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
