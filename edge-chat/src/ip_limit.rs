//! A limit per IP address for requests that nobody answers for: those without a valid token.
//!
//! It is Cloudflare's own rate-limit binding: approximate and per location, but so cheap that a flood costs nothing else.

use worker::{Env, Request};

use crate::http::error::Failure;

/// The binding in `wrangler.toml`, which also holds the numbers.
const BINDING: &str = "IP_LIMIT";
/// The period of the binding, the longest the client has to wait.
const PERIOD_SECONDS: u64 = 60;

/// Counts a request. Where there is no binding there is no limit.
pub(crate) async fn check(request: &Request, env: &Env) -> Result<(), Failure> {
    let Ok(limiter) = env.rate_limiter(BINDING) else { return Ok(()) };
    // Cloudflare sets the header itself; who runs the Worker elsewhere has one bucket for everybody.
    let address = request.headers().get("cf-connecting-ip")?.unwrap_or_default();
    match limiter.limit(address).await {
        Ok(outcome) if !outcome.success => Err(Failure::rate_limited(PERIOD_SECONDS)),
        // A limiter that fails must not lock everybody out.
        _ => Ok(()),
    }
}
