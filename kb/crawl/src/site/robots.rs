//! The `robots.txt` of each origin (RFC 9309), fetched once.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::Url;
use robotxt::Robots;
use tokio::sync::OnceCell;

use super::Site;
use super::network::Reach;
use super::transfer::{FetchSpec, Purpose, Reply};
use crate::address;
use crate::error::FetchError;
use crate::options::PRODUCT;

/// Maximum `Crawl-delay` that is honoured.
const MAX_CRAWL_DELAY: Duration = Duration::from_secs(10);

/// Maximum number of cached origins. Redirects could lead to any number of them.
const MAX_ORIGINS: usize = 1_000;

#[derive(Default)]
pub(super) struct RobotsCache(Mutex<HashMap<String, Arc<OnceCell<Rules>>>>);

#[derive(Debug)]
enum Rules {
    Read(Robots),
    /// Why the rules could not be read.
    Unreachable(String),
}

impl RobotsCache {
    fn entry(&self, origin: &str) -> Arc<OnceCell<Rules>> {
        let mut origins = self.0.lock().expect("no holder panics");
        if origins.len() >= MAX_ORIGINS && !origins.contains_key(origin) {
            origins.clear();
        }
        Arc::clone(origins.entry(origin.to_owned()).or_default())
    }

    fn known(&self, origin: &str) -> Option<Arc<OnceCell<Rules>>> {
        self.0.lock().expect("no holder panics").get(origin).cloned()
    }
}

/// The address of the rules for a page.
pub(super) fn robots_txt(page: &Url) -> Url {
    let mut address = address::bare(page);
    address.set_path("/robots.txt");
    address.set_query(None);
    address
}

impl Site {
    /// Checks whether the site of `url` allows us to fetch it.
    pub(super) async fn check_robots(&self, url: &Url, reach: Reach) -> Result<(), FetchError> {
        let site = address::origin(url);
        let entry = self.robots.entry(&site);
        match entry.get_or_try_init(|| self.read_rules(url, reach)).await? {
            Rules::Read(robots) if robots.is_url_allowed(url) => Ok(()),
            Rules::Read(_) => Err(FetchError::Robots { site }),
            Rules::Unreachable(reason) => Err(FetchError::RobotsUnreachable { site, reason: reason.clone() }),
        }
    }

    /// Minimum time between two requests to the host of `url`.
    pub(super) fn delay(&self, url: &Url) -> Duration {
        let entry = self.robots.known(&address::origin(url));
        let asked = match entry.as_ref().and_then(|entry| entry.get()) {
            Some(Rules::Read(robots)) => robots.crawl_delay().unwrap_or_default(),
            _ => Duration::ZERO,
        };
        self.options.delay.max(asked.min(MAX_CRAWL_DELAY))
    }

    /// Boxed, because following redirects reads the rules of their targets, which makes the future recursive. (Rules themselves
    /// are fetched without checking rules.)
    ///
    /// A private address is an error that is not cached: another request may be allowed to contact it.
    fn read_rules<'a>(
        &'a self,
        url: &'a Url,
        reach: Reach,
    ) -> Pin<Box<dyn Future<Output = Result<Rules, FetchError>> + Send + 'a>> {
        Box::pin(async move {
            let spec = FetchSpec { purpose: Purpose::Robots, version: None };
            Ok(match self.follow(&robots_txt(url), &spec, reach).await {
                Ok((_, Reply::Content { bytes, .. })) => Rules::Read(Robots::parse(&bytes, PRODUCT)),
                Ok(_) => Rules::Read(Robots::allow_all()),
                Err(failure) if is_unavailable(&failure) => Rules::Read(Robots::allow_all()),
                Err(FetchError::PrivateAddress { site, address }) if site == address::origin(url) => {
                    return Err(FetchError::PrivateAddress { site, address });
                }
                Err(failure) => Rules::Unreachable(failure.to_string()),
            })
        })
    }
}

/// A working server without rules allows everything (2.3.1.3, and 2.3.1.2 for redirects). Status 429 is excluded although it
/// is a 4xx: “too many requests” does not permit more requests.
fn is_unavailable(failure: &FetchError) -> bool {
    match failure {
        FetchError::Gone(_) | FetchError::Denied(_) | FetchError::TooManyRedirects(_) => true,
        FetchError::Status(status) => (300..500).contains(status),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    fn delay_with(robots_txt: &str) -> Duration {
        let site = Site::new(Options { delay: Duration::from_millis(200), ..Options::default() }).unwrap();
        let rules = Rules::Read(Robots::parse(robots_txt.as_bytes(), PRODUCT));
        site.robots.entry("https://h").set(rules).unwrap();
        site.delay(&Url::parse("https://h/a").unwrap())
    }

    #[test]
    fn a_crawl_delay_is_honoured_if_longer_than_ours_up_to_10_seconds() {
        for (robots_txt, milliseconds) in [
            ("", 200),
            ("User-agent: *\nCrawl-delay: 0.1", 200),
            ("User-agent: *\nCrawl-delay: 2.5", 2_500),
            ("User-agent: *\nCrawl-delay: 86400", 10_000),
            ("User-agent: *\nCrawl-delay: 1e300", 200),
            ("User-agent: *\nCrawl-delay: -1", 200),
            ("User-agent: other\nCrawl-delay: 5", 200),
            ("User-agent: *\nCrawl-delay: 5\n\nUser-agent: EvidenceChatBot\nCrawl-delay: 1", 1_000),
        ] {
            assert_eq!(delay_with(robots_txt), Duration::from_millis(milliseconds), "{robots_txt}");
        }
    }

    #[test]
    fn the_number_of_cached_origins_is_limited() {
        let cache = RobotsCache::default();
        for number in 0..3 * MAX_ORIGINS {
            cache.entry(&number.to_string());
        }
        assert!(cache.0.lock().unwrap().len() <= MAX_ORIGINS);
    }
}
