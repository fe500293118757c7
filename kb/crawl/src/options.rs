//! Options of a crawl.

use std::time::Duration;

use reqwest::Url;

/// The name by which `robots.txt` and `X-Robots-Tag` address us, with which [`USER_AGENT`] begins.
pub(crate) const PRODUCT: &str = "EvidenceChatBot";

/// Sent with every request.
pub(crate) const USER_AGENT: &str =
    concat!("EvidenceChatBot/", env!("CARGO_PKG_VERSION"), " (+", env!("CARGO_PKG_REPOSITORY"), ")");

/// Options of a crawl.
#[derive(Debug, Clone)]
pub struct Options {
    /// Minimum time between the starts of two requests to one host. A longer `Crawl-delay` is honoured up to 10 s.
    pub delay: Duration,
    /// Timeout of one attempt: connection, headers and body together.
    pub timeout: Duration,
    /// Maximum size of a page in decoded bytes.
    pub max_bytes: usize,
    /// Maximum number of pages of one listing.
    pub max_pages: usize,
    /// Decides whether to download the page at an address that has a media type such as `text/html`
    /// (lower case, without parameters). Pages without a media type are always downloaded.
    pub accept: fn(&Url, &str) -> bool,
    /// Maximum number of retries of a request that may succeed later.
    pub retries: u32,
    /// Pause before the first retry; doubles each time. `Retry-After` takes precedence.
    pub first_pause: Duration,
    /// Maximum pause; if a server asks for more, the request is not retried.
    pub max_pause: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            delay: Duration::from_millis(200),
            timeout: Duration::from_secs(60),
            max_bytes: 50 * 1024 * 1024,
            max_pages: 10_000,
            accept: |_, _| true,
            retries: 3,
            first_pause: Duration::from_secs(1),
            max_pause: Duration::from_secs(60),
        }
    }
}

impl Options {
    /// Pause before retry number `retry` (from 0), or `None` after the last one.
    pub(crate) fn pause_before(&self, retry: u32, retry_after: Option<Duration>) -> Option<Duration> {
        let backoff = self.first_pause.saturating_mul(2_u32.saturating_pow(retry)).min(self.max_pause);
        let pause = retry_after.unwrap_or(backoff);
        (retry < self.retries && pause <= self.max_pause).then_some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_agent_has_a_name_and_an_address() {
        assert_eq!(USER_AGENT.split('/').next(), Some(PRODUCT));
        assert!(USER_AGENT.contains("(+https://"));
    }

    #[test]
    fn pauses_double_up_to_a_maximum_and_end() {
        let options = Options { retries: 5, max_pause: Duration::from_secs(6), ..Options::default() };
        let pauses: Vec<u64> = (0..9)
            .map_while(|retry| options.pause_before(retry, None))
            .map(|pause| pause.as_secs())
            .collect();
        assert_eq!(pauses, [1, 2, 4, 6, 6]);
    }

    #[test]
    fn retry_after_is_honoured_up_to_the_maximum_pause() {
        let options = Options::default();
        let pause = |seconds| options.pause_before(0, Some(Duration::from_secs(seconds)));
        assert_eq!(pause(60), Some(Duration::from_secs(60)));
        assert_eq!(pause(61), None);
        assert_eq!(options.pause_before(3, Some(Duration::ZERO)), None);
    }
}
