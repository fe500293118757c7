//! The cheap rate limit of every request by a binding of Cloudflare, which is approximate and per location. The exact limit for
//! questions is [`gate`](crate::gate).

use std::cell::Cell;
use std::net::{IpAddr, Ipv6Addr};

use serde_json::json;
use worker::{Env, Request, console_error};

use crate::http::error::HttpError;

/// The binding in `wrangler.toml`, which holds the limit itself.
const BINDING: &str = "REQUEST_LIMIT";
/// The period of the binding, and so the longest wait.
const PERIOD_SECONDS: u64 = 60;
/// The header in which Cloudflare sends the client's IP address.
const CLOUDFLARE_HEADER: &str = "cf-connecting-ip";

/// The reason why the binding does not limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimiterFault {
    Missing,
    Failing,
}

thread_local! {
    /// The reason why the binding did not limit the last request that it failed for in this
    /// isolate.
    static FAULT: Cell<Option<LimiterFault>> = const { Cell::new(None) };
}

/// The network of a request's client, by which requests without an account are counted. `header` is the header with its IP address.
/// By default it is Cloudflare's, if the request came through Cloudflare; elsewhere a client could set that header itself.
pub(crate) fn client_network(request: &Request, header: Option<&str>) -> Result<String, HttpError> {
    let header = header.or_else(|| request.cf().map(|_| CLOUDFLARE_HEADER));
    let address = match header {
        Some(header) => request.headers().get(header)?.unwrap_or_default(),
        None => String::new(),
    };
    Ok(network(&address))
}

/// A warning for the operator if the binding is missing or has failed in this isolate.
pub(crate) fn warning(env: &Env) -> Option<String> {
    let fault = match env.rate_limiter(BINDING) {
        Ok(_) => FAULT.get()?,
        Err(_) => LimiterFault::Missing,
    };
    Some(fault.warning())
}

/// Counts a request of `caller`: a user or a network, and what it counts as. A binding that is missing or fails must not lock everybody out: the request
/// continues, and the fault is logged once.
pub(crate) async fn check_limit(caller: String, env: &Env) -> Result<(), HttpError> {
    let (fault, error) = match env.rate_limiter(BINDING) {
        Err(error) => (LimiterFault::Missing, error),
        Ok(limiter) => match limiter.limit(caller).await {
            Ok(outcome) if !outcome.success => return Err(HttpError::rate_limited(PERIOD_SECONDS)),
            Ok(_) => return Ok(()),
            Err(error) => (LimiterFault::Failing, error),
        },
    };
    if FAULT.replace(Some(fault)) != Some(fault) {
        console_error!("{}", json!({ "warning": fault.warning(), "detail": error.to_string() }));
    }
    Ok(())
}

impl LimiterFault {
    fn warning(self) -> String {
        let fault = match self {
            Self::Missing => "is not bound",
            Self::Failing => "has failed",
        };
        format!("{BINDING} {fault}: requests are not limited by it")
    }
}

/// The network of one customer: an IPv4 address, or the /64 of an IPv6 address. All invalid addresses count together, so that
/// nobody gets a separate limit by inventing them.
fn network(address: &str) -> String {
    // A server that listens for both kinds writes IPv4 addresses as ::ffff:192.0.2.7.
    match address.parse().map(|address: IpAddr| address.to_canonical()) {
        Ok(IpAddr::V6(address)) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{}/64", Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        Ok(IpAddr::V4(address)) => address.to_string(),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv6_addresses_of_one_customer_count_together() {
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff::9"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
    }

    #[test]
    fn ipv4_addresses_count_separately_in_the_notation_of_ipv6_too() {
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
        assert_ne!(network("::ffff:192.0.2.7"), network("::ffff:192.0.2.8"));
    }

    #[test]
    fn invalid_addresses_count_together() {
        for text in ["", "unknown", "192.0.2.7, 192.0.2.8", "192.0.2.7:80", "'; drop table"] {
            assert_eq!(network(text), "", "{text}");
        }
    }
}
