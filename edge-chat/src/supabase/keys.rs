//! Fetches the public keys of the project.

use std::time::Duration;

use worker::{Delay, Method};

use super::exchange::MAX_RESPONSE_BYTES;
use super::{Deadline, Exchange, Service};
use crate::clock::now_ms;
use crate::identity::Platform;

/// How long fetching a JWK set may take.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Clock and key fetcher for a request with this deadline.
pub(crate) struct KeyFetcher(pub(crate) Deadline);

impl Platform for KeyFetcher {
    fn now_ms(&self) -> u64 {
        now_ms()
    }

    async fn pause(&self, time: Duration) {
        Delay::from(time).await;
    }

    async fn fetch(&self, url: &str) -> Result<Option<Vec<u8>>, String> {
        let exchange = Exchange {
            service: Service::Keys,
            what: "jwks",
            caller: None,
            method: Method::Get,
            url: url.to_owned(),
            headers: vec![("Accept", "application/json".to_owned())],
            body: None,
            is_idempotent: true,
            max_bytes: MAX_RESPONSE_BYTES,
            large_responses: Default::default(),
        };
        let body = exchange.read_if_there(self.0.at_most(TIMEOUT)).await;
        body.map_err(|error| error.detail.unwrap_or(error.body.message))
    }
}
