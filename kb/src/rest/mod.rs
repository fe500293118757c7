//! Requests to the REST API of a Supabase project, repeated when the failure may pass.

mod error;

use std::time::Duration;

use postgrest::{Builder, Postgrest};
use serde::de::DeserializeOwned;

pub use error::RestError;

/// Longest wait for one answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How often and after what pause a request is repeated.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    /// Repetitions after the first attempt.
    pub retries: u32,
    /// Before the first repetition; doubles each time.
    pub first_pause: Duration,
}

impl Default for Backoff {
    /// About eight seconds in all.
    fn default() -> Self {
        Self { retries: 5, first_pause: Duration::from_millis(250) }
    }
}

impl Backoff {
    fn pause_before(self, retry: u32) -> Option<Duration> {
        (retry < self.retries).then(|| self.first_pause * 2_u32.saturating_pow(retry))
    }
}

/// A connection to one project with its secret key.
pub struct RestClient {
    postgrest: Postgrest,
    url: String,
    key: String,
    backoff: Backoff,
}

impl RestClient {
    /// `url` is the address of the project, without `/rest/v1`.
    ///
    /// # Errors
    /// If the address or the key cannot be right.
    pub fn new(url: &str, key: &str, backoff: Backoff) -> Result<Self, RestError> {
        let base = url.trim().trim_end_matches('/').trim_end_matches("/rest/v1").to_owned();
        let host = base.strip_prefix("https://").or_else(|| base.strip_prefix("http://"));
        if host.is_none_or(str::is_empty) {
            return Err(RestError::InvalidUrl(url.to_owned()));
        }
        let key = key.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(RestError::InvalidKey);
        }
        let postgrest = Postgrest::new(format!("{base}/rest/v1")).insert_header("apikey", key);
        Ok(Self { postgrest, url: base, key: key.to_owned(), backoff })
    }

    pub(crate) fn table(&self, name: &str) -> Builder {
        self.postgrest.from(name)
    }

    pub(crate) fn function(&self, name: &str, arguments: &serde_json::Value) -> Builder {
        self.postgrest.rpc(name, arguments.to_string())
    }

    /// Sends a request, which must be safe to send twice: the answer to the first attempt may be lost.
    pub(crate) async fn send<T: DeserializeOwned>(&self, request: Builder) -> Result<T, RestError> {
        let mut retry = 0;
        let body = loop {
            match (self.attempt(request.clone()).await, self.backoff.pause_before(retry)) {
                (Err(error), Some(pause)) if error.is_transient() => {
                    tokio::time::sleep(pause).await;
                    retry += 1;
                }
                (outcome, _) => break outcome?,
            }
        };
        let json = if body.trim().is_empty() { "null" } else { &body };
        serde_json::from_str(json).map_err(|error| self.unexpected(error.to_string()))
    }

    async fn attempt(&self, request: Builder) -> Result<String, RestError> {
        let request = request.auth(&self.key).build().timeout(TIMEOUT);
        let response = request.send().await.map_err(|error| {
            if error.is_builder() {
                RestError::InvalidUrl(self.url.clone())
            } else {
                self.unreachable(&error)
            }
        })?;
        let status = response.status();
        let body = response.text().await.map_err(|error| self.unreachable(&error))?;
        if status.is_success() {
            return Ok(body);
        }
        // A proxy's error page may repeat the request's headers.
        let body = body.replace(&self.key, "[key]");
        Err(RestError::from_response(&self.url, status.as_u16(), &body))
    }

    fn unreachable(&self, error: &dyn std::error::Error) -> RestError {
        let mut cause = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        RestError::Unreachable { url: self.url.clone(), cause: cause.to_string() }
    }

    fn unexpected(&self, message: String) -> RestError {
        RestError::UnexpectedAnswer { url: self.url.clone(), message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_keys_that_cannot_be_right_are_refused_at_once() {
        let new = |url, key| RestClient::new(url, key, Backoff::default()).map(|client| client.url);
        assert!(matches!(new("localhost:54321", "key"), Err(RestError::InvalidUrl(_))));
        assert!(matches!(new("https://", "key"), Err(RestError::InvalidUrl(_))));
        assert!(matches!(new("https://abc.supabase.co", "a\nb"), Err(RestError::InvalidKey)));
        assert_eq!(new("https://abc.supabase.co/rest/v1/", "key").unwrap(), "https://abc.supabase.co");
    }

    #[test]
    fn pauses_double_and_end() {
        let backoff = Backoff { retries: 3, first_pause: Duration::from_millis(10) };
        let pauses: Vec<_> =
            (0..5).map_while(|retry| backoff.pause_before(retry)).map(|pause| pause.as_millis()).collect();
        assert_eq!(pauses, [10, 20, 40]);
    }
}
