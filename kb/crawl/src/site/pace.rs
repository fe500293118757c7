//! Limits the rate of requests to each host, and sends none to a host that is evidently unavailable.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::error::FetchError;

/// Number of hosts from which idle ones are removed.
const MAX_IDLE_HOSTS: usize = 1_000;

/// A host that has failed this often in a row, each time after all retries, gets no more requests.
const MAX_FAILURES: u32 = 20;

#[derive(Debug, Default)]
pub(super) struct Pace(Mutex<HashMap<String, Arc<Host>>>);

#[derive(Debug)]
struct Host {
    /// Locked by the next task; the others queue for the lock.
    queue: tokio::sync::Mutex<()>,
    free_at: Mutex<Instant>,
    health: Mutex<Health>,
}

/// What the last requests to a host say about the next ones.
#[derive(Debug, Default)]
struct Health {
    /// Failures since the last answer.
    failures: u32,
    /// Why no request is sent, and until when; for ever if `None`.
    closed: Option<(FetchError, Option<Instant>)>,
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
        let host = self.host(host);
        let health = host.health.lock().expect("no holder panics");
        match &health.closed {
            Some((reason, until)) if until.is_none_or(|until| until > Instant::now()) => {
                Err(FetchError::NotRequested(Box::new(reason.clone())))
            }
            _ => Ok(()),
        }
    }

    /// Notes that `host` answered, whatever it said about the page.
    pub(super) fn answered(&self, host: &str) {
        self.host(host).health.lock().expect("no holder panics").failures = 0;
    }

    /// Notes that a request to `host` failed after all retries, for a reason that may pass.
    pub(super) fn failed(&self, host: &str, reason: &FetchError) {
        let host = self.host(host);
        let mut health = host.health.lock().expect("no holder panics");
        health.failures += 1;
        // 429 is about the client (RFC 6585); other statuses may be about one page.
        if let FetchError::Busy { status: 429, retry_after: Some(pause) } = reason {
            health.closed = Some((reason.clone(), Instant::now().checked_add(*pause)));
        } else if health.failures >= MAX_FAILURES {
            health.closed = Some((reason.clone(), None));
        }
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
        self.wait_until().is_none() && self.health.lock().expect("no holder panics").closed.is_none()
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
    async fn a_host_that_only_fails_is_left_alone_and_an_answer_begins_a_new_count() {
        let pace = Pace::default();
        for _ in 1..MAX_FAILURES {
            pace.failed("h", &BROKEN);
        }
        pace.answered("h");
        for _ in 1..MAX_FAILURES {
            pace.failed("h", &BROKEN);
        }
        assert_eq!(pace.check("h"), Ok(()));
        pace.failed("h", &BROKEN);
        assert_eq!(pace.check("h"), Err(FetchError::NotRequested(Box::new(BROKEN))));
        assert_eq!(pace.check("other"), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_has_had_too_many_requests_is_left_alone_for_as_long_as_it_asks() {
        let pace = Pace::default();
        let pause = Duration::from_secs(300);
        pace.failed("h", &FetchError::Busy { status: 503, retry_after: Some(pause) });
        assert_eq!(pace.check("h"), Ok(()), "it may be only this page");
        pace.failed("h", &FetchError::Busy { status: 429, retry_after: Some(pause) });
        assert!(pace.check("h").is_err());
        tokio::time::advance(pause).await;
        assert_eq!(pace.check("h"), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn idle_hosts_are_removed() {
        let pace = Pace::default();
        pace.turn("busy", Duration::from_secs(3_600)).await;
        for _ in 0..MAX_FAILURES {
            pace.failed("broken", &BROKEN);
        }
        for number in 0..3 * MAX_IDLE_HOSTS {
            pace.turn(&number.to_string(), Duration::ZERO).await;
        }
        let hosts = pace.0.lock().unwrap();
        assert!(hosts.len() <= MAX_IDLE_HOSTS);
        assert!(hosts.contains_key("busy") && hosts.contains_key("broken"));
    }
}
