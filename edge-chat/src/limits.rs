//! Limits beside the exact one of the chat: Cloudflare's own rate-limit bindings, approximate and per location, but cheap.

use std::net::{IpAddr, Ipv6Addr};

use uuid::Uuid;
use worker::{Env, Request};

use crate::http::error::Failure;

/// For requests that nobody answers for: those without a valid token.
const BY_ADDRESS: &str = "IP_LIMIT";
/// For what a user does besides asking.
const BY_USER: &str = "USER_LIMIT";
/// The period of the bindings in `wrangler.toml`, which also holds the numbers: the longest a client has to wait.
const PERIOD_SECONDS: u64 = 60;

/// Counts a request against its IP address.
pub(crate) async fn by_address(request: &Request, env: &Env) -> Result<(), Failure> {
    // Cloudflare sets the header itself; who runs the Worker elsewhere has one bucket for everybody.
    let address = request.headers().get("cf-connecting-ip")?.unwrap_or_default();
    check(env, BY_ADDRESS, network(&address)).await
}

/// Counts a request against its user.
pub(crate) async fn by_user(user: Uuid, env: &Env) -> Result<(), Failure> {
    check(env, BY_USER, user.to_string()).await
}

/// Where there is no binding there is no limit, and one that fails must not lock everybody out.
async fn check(env: &Env, binding: &str, key: String) -> Result<(), Failure> {
    let Ok(limiter) = env.rate_limiter(binding) else { return Ok(()) };
    match limiter.limit(key).await {
        Ok(outcome) if !outcome.success => Err(Failure::rate_limited(PERIOD_SECONDS)),
        _ => Ok(()),
    }
}

/// What one customer of a provider has: an IPv4 address, or the /64 of an IPv6 address.
fn network(address: &str) -> String {
    match address.parse() {
        Ok(IpAddr::V6(address)) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{}/64", Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_customer_count_together() {
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff::9"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_eq!(network(""), "");
    }
}
