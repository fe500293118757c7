//! The clock and the network of token verification.

use std::time::Duration;

pub(crate) trait Platform {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> u64;

    async fn pause(&self, time: Duration);

    /// The body of a JWK set; `None` if nothing is published at the URL. Must end by itself within 3 s.
    async fn fetch(&self, url: &str) -> Result<Option<Vec<u8>>, String>;
}
