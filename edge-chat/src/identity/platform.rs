//! What verifying takes from its surroundings: the time, a pause, and the published keys.

use std::time::Duration;

use worker::{Date, Delay};

use crate::supabase::{Deadline, fetch_keys};

pub(crate) trait Platform {
    /// Seconds since 1970.
    fn now_s(&self) -> u64;

    async fn pause(&self, time: Duration);

    /// The body of a JWK set; `None` if nothing is published at the address. It must end by itself, within 3 s.
    async fn fetch(&self, url: &str) -> Result<Option<Vec<u8>>, String>;
}

/// The Worker's runtime, for a request that waits no longer than this.
pub(crate) struct Runtime(pub(crate) Deadline);

impl Platform for Runtime {
    fn now_s(&self) -> u64 {
        Date::now().as_millis() / 1000
    }

    async fn pause(&self, time: Duration) {
        Delay::from(time).await;
    }

    async fn fetch(&self, url: &str) -> Result<Option<Vec<u8>>, String> {
        fetch_keys(url, self.0).await
    }
}
