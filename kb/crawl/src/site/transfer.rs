//! Sends a request for an address, within all limits; transient failures are retried.

use std::time::{Duration, SystemTime};

use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Response, Url};
use tokio::time::timeout;

use super::Site;
use super::failure::failure;
use super::network::Reach;
use super::robots::robots_txt;
use crate::address;
use crate::error::FetchError;
use crate::noindex;
use crate::options::PRODUCT;
use crate::sitemap;
use crate::version::Version;

/// The purpose of a request, which determines its limits and whether `noindex` applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Page,
    Sitemap,
    Robots,
}

/// A request without its address.
pub(super) struct FetchSpec<'a> {
    pub(super) purpose: Purpose,
    pub(super) version: Option<Version<'a>>,
}

/// A usable response.
#[derive(Debug)]
pub(super) enum Reply {
    Content {
        headers: HeaderMap,
        bytes: Vec<u8>,
    },
    Unchanged,
    /// With the reach of the next request.
    Redirect {
        location: Option<String>,
        is_permanent: bool,
        reach: Reach,
    },
}

impl Site {
    /// Sends a request, and retries it while that may help. Waits for the rate limit of the host each time. Of a host that is evidently
    /// unavailable, nothing is requested.
    pub(super) async fn exchange(
        &self,
        url: &Url,
        spec: &FetchSpec<'_>,
        reach: Reach,
    ) -> Result<Reply, FetchError> {
        self.network.check_literal(url, reach)?;
        let host = url.host_str().unwrap_or_default();
        let mut retry = 0;
        self.pace.check(host)?;
        loop {
            self.pace.turn(host, self.delay(url)).await;
            // Other requests may have failed while this one waited.
            self.pace.check(host)?;
            let limit = self.options.timeout;
            let outcome = timeout(limit, self.attempt(url, spec, reach)).await;
            let failure = match outcome.unwrap_or(Err(FetchError::TimedOut(limit))) {
                Ok(reply) => {
                    let is_page = spec.purpose == Purpose::Page && !matches!(reply, Reply::Redirect { .. });
                    self.pace.answered(host, is_page.then_some(url));
                    return Ok(reply);
                }
                Err(failure) => failure,
            };
            let Some(pause) = self.pause_after(&failure, retry) else {
                self.note(url, &failure, reach).await;
                return Err(failure);
            };
            self.pace.hold_off(host, pause);
            retry += 1;
        }
    }

    /// Records a failure that is not retried. After many, a last attempt tells whether the host is down:
    /// with a page that it has served, because its other pages may be broken, or else with its `robots.txt`.
    async fn note(&self, url: &Url, failure: &FetchError, reach: Reach) {
        let host = url.host_str().unwrap_or_default();
        if !failure.is_transient() {
            return self.pace.answered(host, None);
        }
        if let FetchError::Busy { status, retry_after: Some(pause) } = failure {
            if *pause <= self.options.max_pause {
                self.pace.hold_off(host, *pause);
            } else if *status == 429 {
                // It is about the client (RFC 6585); other statuses may be about one page.
                return self.pace.close(host, failure, Some(*pause));
            }
        }
        let Some(served) = self.pace.failed(host) else { return };
        let purpose = if served.is_some() { Purpose::Page } else { Purpose::Robots };
        let page = served.unwrap_or_else(|| robots_txt(url));
        self.pace.turn(host, self.delay(url)).await;
        let spec = FetchSpec { purpose, version: None };
        match timeout(self.options.timeout, self.attempt(&page, &spec, reach)).await {
            Ok(Ok(_)) => self.pace.answered(host, None),
            Ok(Err(other)) if !other.is_transient() => self.pace.answered(host, None),
            _ => self.pace.close(host, failure, None),
        }
    }

    /// `None` if the request is not retried. A timeout is not retried, because it already took long.
    fn pause_after(&self, failure: &FetchError, retry: u32) -> Option<Duration> {
        match failure {
            FetchError::Busy { retry_after, .. } => self.options.pause_before(retry, *retry_after),
            FetchError::Refused(_) | FetchError::Connect { .. } | FetchError::Interrupted(_) => {
                self.options.pause_before(retry, None)
            }
            _ => None,
        }
    }

    async fn attempt(&self, url: &Url, spec: &FetchSpec<'_>, reach: Reach) -> Result<Reply, FetchError> {
        let mut request = self.clients.with(reach).get(url.clone());
        let condition = spec.version.as_ref().and_then(|version| version.condition(url));
        let mut is_conditional = false;
        if let Some((name, value)) = condition
            && let Ok(value) = HeaderValue::from_str(value)
        {
            request = request.header(name, value);
            is_conditional = true;
        }
        let response = request.send().await.map_err(|error| failure(url, &error))?;
        let from = response.remote_addr().map(|address| address.ip());
        match response.status().as_u16() {
            200 | 203 => {
                self.check_headers(url, response.headers(), spec.purpose)?;
                self.content(url, response, spec.purpose).await
            }
            304 if is_conditional => {
                self.check_robots_tag(response.headers(), spec.purpose)?;
                Ok(Reply::Unchanged)
            }
            status @ (301 | 302 | 303 | 307 | 308) => {
                let location = response.headers().get(LOCATION);
                let location = location.and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
                let reach = self.network.reach_after_redirect(from, reach);
                let is_permanent = matches!(status, 301 | 308);
                Ok(Reply::Redirect { location: location.map(str::to_owned), is_permanent, reach })
            }
            status @ (401 | 403 | 407) => Err(FetchError::Denied(status)),
            status @ (404 | 410) => Err(FetchError::Gone(status)),
            status @ (408 | 429 | 500..=599) => {
                let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
                let retry_after = retry_after.and_then(|value| read_retry_after(value, SystemTime::now()));
                Err(FetchError::Busy { status, retry_after })
            }
            status => Err(FetchError::Status(status)),
        }
    }

    /// Checks the headers before the body is read.
    fn check_headers(&self, url: &Url, headers: &HeaderMap, purpose: Purpose) -> Result<(), FetchError> {
        // The client removes the header when it decodes the body.
        if let Some(encoding) = headers.get(CONTENT_ENCODING)
            && !encoding.as_bytes().eq_ignore_ascii_case(b"identity")
        {
            let encoding = String::from_utf8_lossy(encoding.as_bytes());
            return Err(FetchError::Encoding(address::shown(&encoding)));
        }
        self.check_robots_tag(headers, purpose)?;
        if purpose == Purpose::Page
            && let Some(content_type) = headers.get(CONTENT_TYPE)
        {
            let media_type = media_type(&String::from_utf8_lossy(content_type.as_bytes()));
            if !(self.options.accept)(url, &media_type) {
                return Err(FetchError::ContentType(address::shown(&media_type)));
            }
        }
        Ok(())
    }

    /// Sitemaps often have the header to stay out of search results; that does not apply to their pages.
    fn check_robots_tag(&self, headers: &HeaderMap, purpose: Purpose) -> Result<(), FetchError> {
        if purpose == Purpose::Page && noindex::in_headers(headers, PRODUCT) {
            return Err(FetchError::NoIndex);
        }
        Ok(())
    }

    /// Reads the body, of which at most the limit is kept in memory, whatever the headers say.
    async fn content(
        &self,
        url: &Url,
        mut response: Response,
        purpose: Purpose,
    ) -> Result<Reply, FetchError> {
        let limit = match purpose {
            Purpose::Page => self.options.max_bytes,
            Purpose::Sitemap => sitemap::MAX_BYTES,
            // One extra byte tells the parser that the last line may be truncated.
            Purpose::Robots => robotxt::BYTE_LIMIT + 1,
        };
        let headers = std::mem::take(response.headers_mut());
        let content_length = response.content_length().unwrap_or(0);
        if purpose != Purpose::Robots && content_length > limit as u64 {
            return Err(FetchError::TooLarge(limit));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| failure(url, &error))? {
            let room = limit - bytes.len();
            bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
            match purpose {
                Purpose::Robots if chunk.len() >= room => break,
                _ if chunk.len() > room => return Err(FetchError::TooLarge(limit)),
                _ => {}
            }
        }
        Ok(Reply::Content { headers, bytes })
    }
}

/// `text/html` for `Text/HTML; charset=utf-8`.
fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Seconds or a date (RFC 9110, 10.2.3).
fn read_retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    Some(httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        let at = httpdate::parse_http_date(date).unwrap();
        assert_eq!(read_retry_after(" 120 ", at), Some(Duration::from_secs(120)));
        assert_eq!(read_retry_after(date, at - Duration::from_secs(30)), Some(Duration::from_secs(30)));
        assert_eq!(read_retry_after(date, at + Duration::from_secs(30)), Some(Duration::ZERO));
        for nonsense in ["", "-1", "soon", "1.5", "99999999999999999999999"] {
            assert_eq!(read_retry_after(nonsense, at), None, "{nonsense}");
        }
    }

    #[test]
    fn media_types_are_lower_case_without_parameters() {
        assert_eq!(media_type(" Text/HTML ; charset=UTF-8"), "text/html");
        assert_eq!(media_type(""), "");
    }
}
