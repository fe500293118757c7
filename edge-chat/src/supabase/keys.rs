//! The public keys of the project.

use std::time::Duration;

use worker::Method;

use super::exchange::MAX_ANSWER_BYTES;
use super::{Deadline, Exchange, Service};

/// How long a JWK set may take.
const TIME: Duration = Duration::from_secs(3);

/// The body of a JWK set, read within 3 s; `None` if nothing is published at the address.
pub(crate) async fn fetch_keys(url: &str, deadline: Deadline) -> Result<Option<Vec<u8>>, String> {
    let exchange = Exchange {
        service: Service::Keys,
        what: "jwks",
        caller: None,
        method: Method::Get,
        url: url.to_owned(),
        headers: vec![("Accept", "application/json".to_owned())],
        body: None,
        is_safe: true,
        max_bytes: MAX_ANSWER_BYTES,
        large_answers: Default::default(),
    };
    let body = exchange.read_if_there(deadline.at_most(TIME)).await;
    body.map_err(|failure| failure.detail.unwrap_or(failure.error.message))
}
