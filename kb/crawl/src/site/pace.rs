//! Limits the rate of requests to each host, and sends none to a host that is evidently unavailable.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use reqwest::Url;
use tokio::time::{Instant, sleep_until};

use crate::error::FetchError;

/// Number of hosts from which idle ones are removed.
const MAX_IDLE_HOSTS: usize = 1_000;

/// After this many failures in a row, each after all retries, a host may be down.
const SUSPICIOUS_FAILURES: u32 = 20;

#[derive(Default)]
pub(super) struct Pace(Mutex<HashMap<String, Arc<Host>>>);

struct Host {
    /// Locked by the next task; the others queue for the lock.
    queue: tokio::sync::Mutex<()>,
    free_at: Mutex<Instant>,
    health: Mutex<Health>,
}

/// The state of a host, as its last answers show it.
#[derive(Default)]
struct Health {
    /// Failures since the last answer.
    failures: u32,
    /// A page that the host served.
    served: Option<Url>,
    /// Why no request is sent, and until when; for ever if `None`.
    closed: Option<(FetchError, Option<Instant>)>,
}

impl Health {
    fn reason_to_wait(&self) -> Option<&FetchError> {
        let is_over = |until: &Option<Instant>| until.is_some_and(|until| until <= Instant::now());
        self.closed.as_ref().filter(|(_, until)| !is_over(until)).map(|(reason, _)| reason)
    }
}

impl Pace {
    /// Returns when a request to `host` may start; the next one may start `delay` later.
    pub(super) async fn turn(&self, host: &str, delay: Duration) {
        let host = self.host(host);
        let _first = host.queue.lock().await;
        // Check again after each sleep: `hold_off` may have been called meanwhile.
        while let Some(at) = host.wait_until() {
            sleep_until(at).await;
        }
        host.free_from(Instant::now() + delay);
    }

    /// Delays all requests to `host` by `pause`.
    pub(super) fn hold_off(&self, host: &str, pause: Duration) {
        self.host(host).free_from(Instant::now() + pause);
    }

    /// # Errors
    /// If `host` is unavailable, so that a request would only add to its load and take time.
    pub(super) fn check(&self, host: &str) -> Result<(), FetchError> {
        match self.host(host).health().reason_to_wait() {
            Some(reason) => Err(FetchError::NotRequested(Box::new(reason.clone()))),
            None => Ok(()),
        }
    }

    /// Notes that `host` answered, whatever it said about a page; with the page if it served one.
    pub(super) fn answered(&self, host: &str, served: Option<&Url>) {
        let host = self.host(host);
        let mut health = host.health();
        health.failures = 0;
        if let Some(page) = served {
            health.served = Some(page.clone());
        }
    }

    /// Notes that a request to `host` failed for a reason that may pass. If many have, returns what the host has served, for a last
    /// attempt; nothing if it has served nothing.
    pub(super) fn failed(&self, host: &str) -> Option<Option<Url>> {
        let host = self.host(host);
        let mut health = host.health();
        health.failures += 1;
        (health.failures >= SUSPICIOUS_FAILURES).then(|| health.served.clone())
    }

    /// Sends nothing more to `host`, for this time or for ever.
    pub(super) fn close(&self, host: &str, reason: &FetchError, pause: Option<Duration>) {
        let host = self.host(host);
        let mut health = host.health();
        let until = pause.and_then(|pause| Instant::now().checked_add(pause));
        let later = match health.closed {
            Some((_, None)) => None,
            Some((_, known)) => until.map(|until| known.map_or(until, |known| known.max(until))),
            None => until,
        };
        health.closed = Some((reason.clone(), later));
    }

    fn host(&self, name: &str) -> Arc<Host> {
        let mut hosts = self.0.lock().expect("no holder panics");
        if hosts.len() >= MAX_IDLE_HOSTS {
            hosts.retain(|_, host| Arc::strong_count(host) > 1 || !host.is_idle());
        }
        let new = || {
            Arc::new(Host {
                queue: tokio::sync::Mutex::default(),
                free_at: Mutex::new(Instant::now()),
                health: Mutex::default(),
            })
        };
        Arc::clone(hosts.entry(name.to_owned()).or_insert_with(new))
    }
}

impl Host {
    /// True if nothing must be remembered of it.
    fn is_idle(&self) -> bool {
        self.wait_until().is_none() && self.health().reason_to_wait().is_none()
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().expect("no holder panics")
    }

    fn wait_until(&self) -> Option<Instant> {
        let free_at = *self.free_at.lock().expect("no holder panics");
        (free_at > Instant::now()).then_some(free_at)
    }

    fn free_from(&self, at: Instant) {
        let mut free_at = self.free_at.lock().expect("no holder panics");
        *free_at = (*free_at).max(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_millis(200);

    #[tokio::test(start_paused = true)]
    async fn simultaneous_requests_to_a_host_start_one_delay_apart() {
        let pace = Arc::new(Pace::default());
        let start = Instant::now();
        let tasks: Vec<_> = (0..10)
            .map(|_| {
                let pace = Arc::clone(&pace);
                tokio::spawn(async move {
                    pace.turn("h", DELAY).await;
                    start.elapsed().as_millis()
                })
            })
            .collect();
        let mut starts = Vec::new();
        for task in tasks {
            starts.push(task.await.unwrap());
        }
        starts.sort_unstable();
        let gaps: Vec<u128> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(starts[0], 0);
        // The clock of the runtime has a resolution of 1 ms.
        assert!(gaps.iter().all(|gap| (200..=202).contains(gap)), "{starts:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn requests_to_different_hosts_do_not_wait() {
        let pace = Pace::default();
        let start = Instant::now();
        for host in ["a", "b", "c"] {
            pace.turn(host, DELAY).await;
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn hold_off_also_delays_requests_that_are_waiting() {
        let pace = Arc::new(Pace::default());
        let start = Instant::now();
        pace.turn("h", DELAY).await;
        let waiting = tokio::spawn({
            let pace = Arc::clone(&pace);
            async move { pace.turn("h", DELAY).await }
        });
        tokio::time::sleep(DELAY / 2).await;
        pace.hold_off("h", Duration::from_secs(5));
        pace.hold_off("h", Duration::from_secs(1));
        waiting.await.unwrap();
        assert!(start.elapsed() >= Duration::from_millis(5_100), "{:?}", start.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_dropped_while_waiting_does_not_block_others() {
        let pace = Pace::default();
        pace.turn("h", Duration::from_secs(3)).await;
        let impatient = tokio::time::timeout(Duration::from_secs(1), pace.turn("h", DELAY));
        assert!(impatient.await.is_err());
        let start = Instant::now();
        pace.turn("h", DELAY).await;
        assert!(start.elapsed() <= Duration::from_millis(2_010), "{:?}", start.elapsed());
    }

    const BROKEN: FetchError = FetchError::Busy { status: 503, retry_after: None };

    #[tokio::test(start_paused = true)]
    async fn many_failures_in_a_row_are_suspicious_and_an_answer_begins_a_new_count() {
        let pace = Pace::default();
        let page = Url::parse("https://h/a").unwrap();
        let is_suspicious = || (1..SUSPICIOUS_FAILURES).any(|_| pace.failed("h").is_some());
        assert!(!is_suspicious());
        pace.answered("h", None);
        assert!(!is_suspicious());
        assert_eq!(pace.failed("h"), Some(None));
        pace.answered("h", Some(&page));
        assert!(!is_suspicious());
        assert_eq!(pace.failed("h"), Some(Some(page)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_closed_host_gets_nothing_for_as_long_as_the_longest_reason_holds() {
        let pace = Pace::default();
        let refused = Err(FetchError::NotRequested(Box::new(BROKEN)));
        for seconds in [300, 5] {
            pace.close("h", &BROKEN, Some(Duration::from_secs(seconds)));
        }
        assert_eq!((pace.check("h"), pace.check("other")), (refused.clone(), Ok(())));
        tokio::time::advance(Duration::from_secs(299)).await;
        assert_eq!(pace.check("h"), refused);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(pace.check("h"), Ok(()));
        pace.close("h", &BROKEN, None);
        pace.close("h", &BROKEN, Some(Duration::ZERO));
        assert_eq!(pace.check("h"), refused);
    }

    #[tokio::test(start_paused = true)]
    async fn idle_hosts_are_removed() {
        let pace = Pace::default();
        pace.turn("busy", Duration::from_secs(3_600)).await;
        pace.close("broken", &BROKEN, None);
        for number in 0..MAX_IDLE_HOSTS {
            pace.close(&format!("rested {number}"), &BROKEN, Some(Duration::ZERO));
        }
        for number in 0..3 * MAX_IDLE_HOSTS {
            pace.turn(&number.to_string(), Duration::ZERO).await;
        }
        let hosts = pace.0.lock().unwrap();
        assert!(hosts.len() <= MAX_IDLE_HOSTS);
        assert!(hosts.contains_key("busy") && hosts.contains_key("broken"));
    }
}
