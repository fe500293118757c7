//! What a caller may choose.

use std::time::Duration;

/// How to crawl.
#[derive(Debug, Clone)]
pub struct Options {
    /// Sent with every request. What stands before the first `/` is the name that `robots.txt` may address.
    pub user_agent: String,
    /// Least time between the starts of two requests to one host. A longer `Crawl-delay` is honoured up to 10 s.
    pub delay: Duration,
    /// For one attempt: connection, head and body together.
    pub timeout: Duration,
    /// Largest page, in decoded bytes.
    pub max_bytes: usize,
    /// Most pages of one listing.
    pub max_pages: usize,
    /// Which media types are downloaded, e.g. `text/html` (lower case, without parameters). Pages that do not tell
    /// theirs are always downloaded.
    pub accept: fn(&str) -> bool,
    /// How often a request is repeated that may succeed later.
    pub retries: u32,
    /// Pause before the first repetition; each further one doubles it. `Retry-After` takes precedence.
    pub first_pause: Duration,
    /// Longest pause; a server that asks for more is left alone.
    pub longest_pause: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            user_agent: concat!(
                "EvidenceChatBot/",
                env!("CARGO_PKG_VERSION"),
                " (+",
                env!("CARGO_PKG_REPOSITORY"),
                ")"
            )
            .to_owned(),
            delay: Duration::from_millis(200),
            timeout: Duration::from_secs(60),
            max_bytes: 50 * 1024 * 1024,
            max_pages: 10_000,
            accept: |_| true,
            retries: 3,
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(60),
        }
    }
}

impl Options {
    /// The name that `robots.txt` and `X-Robots-Tag` know us by.
    pub(crate) fn product(&self) -> &str {
        self.user_agent.split(['/', ' ']).next().unwrap_or_default()
    }

    /// Pause before repetition number `retry` (from 0), or `None` after the last one.
    pub(crate) fn pause_before(&self, retry: u32, asked: Option<Duration>) -> Option<Duration> {
        let backoff = self.first_pause.saturating_mul(2_u32.saturating_pow(retry)).min(self.longest_pause);
        let pause = asked.unwrap_or(backoff);
        (retry < self.retries && pause <= self.longest_pause).then_some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_agent_says_who_we_are() {
        let options = Options::default();
        assert_eq!(options.product(), "EvidenceChatBot");
        assert!(options.user_agent.contains("(+https://"));
    }

    #[test]
    fn pauses_double_to_a_limit_and_end() {
        let options = Options { retries: 5, longest_pause: Duration::from_secs(6), ..Options::default() };
        let pauses: Vec<u64> = (0..9)
            .map_while(|retry| options.pause_before(retry, None))
            .map(|pause| pause.as_secs())
            .collect();
        assert_eq!(pauses, [1, 2, 4, 6, 6]);
    }

    #[test]
    fn what_the_server_asks_for_is_honoured_within_the_limit() {
        let options = Options::default();
        let pause = |seconds| options.pause_before(0, Some(Duration::from_secs(seconds)));
        assert_eq!(pause(60), Some(Duration::from_secs(60)));
        assert_eq!(pause(61), None);
        assert_eq!(options.pause_before(3, Some(Duration::ZERO)), None);
    }
}
