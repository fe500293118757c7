//! Requests to a Supabase project; transient failures are retried.

mod backoff;
mod error;
mod query;
pub mod storage;

use std::net::IpAddr;
use std::time::Duration;

use backon::Retryable;
use bytes::Bytes;
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;

pub use backoff::Backoff;
pub use error::SupabaseError;
pub(crate) use query::Query;

/// An HTTP client for one project, with its secret key.
pub struct Client {
    http: reqwest::Client,
    url: String,
    key: String,
    backoff: Backoff,
}

impl Client {
    /// `url` is the URL of the project, with or without `/rest/v1`. It must be `https` unless the server is on this computer.
    ///
    /// # Errors
    /// If the URL or the key is invalid.
    pub fn new(url: &str, key: &str, backoff: Backoff) -> Result<Self, SupabaseError> {
        let base = url.trim().trim_end_matches('/').trim_end_matches("/rest/v1").to_owned();
        let parsed = Url::parse(&base).ok();
        let parsed = parsed.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let parsed = parsed.ok_or_else(|| SupabaseError::InvalidUrl(url.to_owned()))?;
        if !is_encrypted_or_local(&parsed) {
            return Err(SupabaseError::InsecureUrl(url.to_owned()));
        }
        let key = key.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SupabaseError::InvalidKey);
        }
        let http = http_client(&parsed).map_err(|_| SupabaseError::InvalidUrl(url.to_owned()))?;
        Ok(Self { http, url: base, key: key.to_owned(), backoff })
    }

    /// Sends a query. It must be idempotent, because it is repeated when a response is lost.
    pub(crate) async fn send<T: DeserializeOwned>(&self, query: Query) -> Result<T, SupabaseError> {
        self.json(|| self.request(&query)).await
    }

    /// Sends a request until it succeeds, and parses the response.
    async fn json<T: DeserializeOwned>(
        &self,
        request: impl Fn() -> RequestBuilder,
    ) -> Result<T, SupabaseError> {
        let body = self.retry(async || self.text(request()).await).await?;
        let json = if body.trim().is_empty() { "null" } else { &body };
        serde_json::from_str(json).map_err(|error| SupabaseError::UnexpectedAnswer {
            url: self.url.clone(),
            message: error.to_string(),
        })
    }

    /// The public settings of Supabase Auth.
    pub(crate) async fn auth_settings(&self) -> Result<serde_json::Value, SupabaseError> {
        let url = format!("{}/auth/v1/settings", self.url);
        self.json(|| self.http.get(&url).timeout(Duration::from_secs(10))).await
    }

    fn request(&self, query: &Query) -> RequestBuilder {
        let url = format!("{}/rest/v1/{}", self.url, query.path);
        let mut request =
            self.http.request(query.method.clone(), url).query(&query.parameters).timeout(query.timeout);
        if !query.prefer.is_empty() {
            request = request.header("prefer", query.prefer.join(","));
        }
        if let Some(schema) = query.schema {
            request = request.header("accept-profile", schema);
        }
        match &query.body {
            Some(body) => request.header("content-type", "application/json").body(Bytes::clone(body)),
            None => request,
        }
    }

    async fn retry<T>(
        &self,
        attempt: impl AsyncFn() -> Result<T, SupabaseError>,
    ) -> Result<T, SupabaseError> {
        let attempt = || attempt();
        attempt.retry(self.backoff.pauses()).when(SupabaseError::is_transient).await
    }

    async fn text(&self, request: RequestBuilder) -> Result<String, SupabaseError> {
        let response = self.respond(request).await?;
        response.text().await.map_err(|error| self.unreachable(&error))
    }

    /// Sends a request, and returns the response if it is successful.
    async fn respond(&self, request: RequestBuilder) -> Result<Response, SupabaseError> {
        let request = request.header("apikey", &self.key).bearer_auth(&self.key);
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = response.text().await.map_err(|error| self.unreachable(&error))?;
        // A proxy's error page may repeat the headers of the request.
        let body = body.replace(&self.key, "[key]");
        Err(SupabaseError::from_response(&self.url, status.as_u16(), &body))
    }

    fn unreachable(&self, error: &dyn std::error::Error) -> SupabaseError {
        let mut cause = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        SupabaseError::Unreachable { url: self.url.clone(), cause: cause.to_string() }
    }
}

/// A client for a server that gets a key.
fn http_client(url: &Url) -> reqwest::Result<reqwest::Client> {
    // A redirect could send the key to another server.
    let mut http = reqwest::Client::builder().redirect(Policy::none());
    if url.scheme() != "https" {
        // A proxy may be on another computer.
        http = http.no_proxy();
    }
    http.build()
}

/// Returns whether nobody on the network can read what is sent to this address.
fn is_encrypted_or_local(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_on_this_computer(url))
}

fn is_on_this_computer(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_sent_unencrypted_only_to_this_computer() {
        let new = |url| Client::new(url, "key", Backoff::default()).map(|client| client.url);
        for url in [
            "https://abc.supabase.co",
            "http://localhost:54321",
            "HTTP://LocalHost",
            "http://127.0.0.1:54321",
            "http://127.1",
            "http://[::1]:54321",
        ] {
            assert!(new(url).is_ok(), "{url}");
        }
        for url in [
            "http://abc.supabase.co",
            "HTTP://abc.supabase.co",
            "http:abc.supabase.co",
            "http://10.0.0.1",
            "http://0.0.0.0",
            "http://localhost.example.com",
            "http://127.0.0.1.example.com",
            "http://localhost@abc.supabase.co",
        ] {
            assert!(matches!(new(url), Err(SupabaseError::InsecureUrl(_))), "{url}");
        }
        assert!(matches!(new("ftp://localhost"), Err(SupabaseError::InvalidUrl(_))));
    }

    #[test]
    fn invalid_urls_and_keys_are_refused_without_a_request() {
        let new = |url, key| Client::new(url, key, Backoff::default()).map(|client| client.url);
        assert!(matches!(new("localhost:54321", "key"), Err(SupabaseError::InvalidUrl(_))));
        assert!(matches!(new("https://", "key"), Err(SupabaseError::InvalidUrl(_))));
        assert!(matches!(new("https://a b", "key"), Err(SupabaseError::InvalidUrl(_))));
        assert!(matches!(new("https://abc.supabase.co", "a\nb"), Err(SupabaseError::InvalidKey)));
        assert_eq!(new("https://abc.supabase.co/rest/v1/", "key").unwrap(), "https://abc.supabase.co");
    }
}
