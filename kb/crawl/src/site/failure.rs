//! Maps errors of the HTTP client to [`FetchError`].

use std::error::Error;
use std::io;

use reqwest::Url;

use super::network::NotPublic;
use crate::address;
use crate::error::FetchError;

/// Maps an error of the client. The message of its innermost cause says more than its own.
pub(super) fn failure(url: &Url, error: &reqwest::Error) -> FetchError {
    let site = address::origin(url);
    let reason = innermost(error);
    if let Some(NotPublic { address }) = causes(error).find_map(|cause| cause.downcast_ref()) {
        return FetchError::PrivateAddress { site, address: *address };
    }
    if error.is_timeout() {
        return FetchError::Connect { site, reason: with_proxy_hint("no response in time".to_owned()) };
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

/// If a proxy is configured, there may be no other connection to the internet.
fn with_proxy_hint(reason: String) -> String {
    let proxies = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    match proxies.into_iter().find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty())) {
        Some(name) => format!(
            "{reason}; the proxy in {name} is not used, because it could reach private addresses: sites must be reachable \
             without it"
        ),
        None => reason,
    }
}

/// The message of the innermost cause.
pub(super) fn innermost(error: &reqwest::Error) -> String {
    match causes(error).last() {
        Some(cause) => cause.to_string(),
        None => "no details".to_owned(),
    }
}

/// The causes of an error, outermost first.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |error| cause(*error))
}

/// `source` of an [`io::Error`] skips the error that it wraps.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(within) => Some(within),
        None => error.source(),
    }
}
