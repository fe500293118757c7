//! Cheap rate limits by Cloudflare's bindings, which are approximate and per location. The exact limit for questions is
//! [`gate`](crate::gate).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use serde_json::json;
use uuid::Uuid;
use worker::{Env, Request, console_error};

use crate::http::error::HttpError;

/// For requests without a valid token, per IP address.
const IP_LIMIT: &str = "IP_LIMIT";
/// For everything but questions, per user.
const USER_LIMIT: &str = "USER_LIMIT";
/// For questions, per user, including repeats and rejected attempts. Checked before the user's Durable Object is asked.
const QUESTION_LIMIT: &str = "QUESTION_LIMIT";
/// For questions of anonymous users, per IP address: a visitor gets a new anonymous user, and with it new limits per user, by clearing
/// the browser's storage. Checked before anything is asked of a Durable Object or of Supabase.
const ANONYMOUS_LIMIT: &str = "ANONYMOUS_LIMIT";
/// For searches while a visitor types: per IP address of anonymous users, else per user. Checked before the user's Durable Object
/// is asked.
const SEARCH_LIMIT: &str = "SEARCH_LIMIT";
/// For exports, per user. Each export makes many database calls.
const EXPORT_LIMIT: &str = "EXPORT_LIMIT";
const BINDINGS: [&str; 6] =
    [IP_LIMIT, USER_LIMIT, QUESTION_LIMIT, ANONYMOUS_LIMIT, SEARCH_LIMIT, EXPORT_LIMIT];
/// The period of the bindings in `wrangler.toml`, and so the longest wait. The limits themselves are also there.
const PERIOD_SECONDS: u64 = 60;
/// The header in which Cloudflare sends the client's IP address.
const CLOUDFLARE_HEADER: &str = "cf-connecting-ip";

/// Why a binding does not limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimiterFault {
    Missing,
    Failing,
}

thread_local! {
    /// The bindings that do not limit, as seen by this isolate.
    static FAULTS: RefCell<BTreeMap<&'static str, LimiterFault>> = const { RefCell::new(BTreeMap::new()) };
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

/// Counts a request against the network of its client.
pub(crate) async fn check_ip_limit(network: String, env: &Env) -> Result<(), HttpError> {
    check(env, IP_LIMIT, network).await
}

/// Counts a question of an anonymous user against the network of the client.
pub(crate) async fn check_anonymous_limit(network: String, env: &Env) -> Result<(), HttpError> {
    check(env, ANONYMOUS_LIMIT, network).await
}

/// Counts a request against its user.
pub(crate) async fn check_user_limit(user: Uuid, env: &Env) -> Result<(), HttpError> {
    check(env, USER_LIMIT, user.to_string()).await
}

/// Counts a question against its user.
pub(crate) async fn check_question_limit(user: Uuid, env: &Env) -> Result<(), HttpError> {
    check(env, QUESTION_LIMIT, user.to_string()).await
}

/// Counts a search against its user, or that of an anonymous user against the network of the client.
pub(crate) async fn check_search_limit(
    user: Uuid,
    network: Option<String>,
    env: &Env,
) -> Result<(), HttpError> {
    check(env, SEARCH_LIMIT, network.unwrap_or_else(|| user.to_string())).await
}

/// Counts an export against its user.
pub(crate) async fn check_export_limit(user: Uuid, env: &Env) -> Result<(), HttpError> {
    check(env, EXPORT_LIMIT, user.to_string()).await
}

/// Warnings for the operator about bindings that are missing or have failed in this isolate.
pub(crate) fn warnings(env: &Env) -> Vec<String> {
    let fault_of = |binding| match env.rate_limiter(binding) {
        Ok(_) => FAULTS.with_borrow(|faults| faults.get(binding).copied()),
        Err(_) => Some(LimiterFault::Missing),
    };
    BINDINGS.into_iter().filter_map(|binding| Some(warning(binding, fault_of(binding)?))).collect()
}

/// A binding that is missing or fails must not lock everybody out: the request continues, and the fault is logged once.
async fn check(env: &Env, binding: &'static str, key: String) -> Result<(), HttpError> {
    let fault = match env.rate_limiter(binding) {
        Err(error) => Some((LimiterFault::Missing, error)),
        Ok(limiter) => match limiter.limit(key).await {
            Ok(outcome) if !outcome.success => return Err(HttpError::rate_limited(PERIOD_SECONDS)),
            Ok(_) => None,
            Err(error) => Some((LimiterFault::Failing, error)),
        },
    };
    if let Some((fault, error)) = fault {
        let is_new = FAULTS.with_borrow_mut(|faults| faults.insert(binding, fault) != Some(fault));
        if is_new {
            console_error!("{}", json!({ "warning": warning(binding, fault), "detail": error.to_string() }));
        }
    }
    Ok(())
}

fn warning(binding: &str, fault: LimiterFault) -> String {
    let fault = match fault {
        LimiterFault::Missing => "is not bound",
        LimiterFault::Failing => "has failed",
    };
    format!("{binding} {fault}: requests are not limited by it")
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
