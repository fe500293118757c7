//! Limits the rate of requests to each host.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Number of hosts from which idle ones are removed.
const MAX_IDLE_HOSTS: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct Pace(Mutex<HashMap<String, Arc<Host>>>);

#[derive(Debug)]
struct Host {
    /// Locked by the next task; the others queue for the lock.
    queue: tokio::sync::Mutex<()>,
    free_at: Mutex<Instant>,
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

    fn host(&self, name: &str) -> Arc<Host> {
        let mut hosts = self.0.lock().expect("no holder panics");
        if hosts.len() >= MAX_IDLE_HOSTS {
            hosts.retain(|_, host| Arc::strong_count(host) > 1 || host.wait_until().is_some());
        }
        let new =
            || Arc::new(Host { queue: tokio::sync::Mutex::default(), free_at: Mutex::new(Instant::now()) });
        Arc::clone(hosts.entry(name.to_owned()).or_insert_with(new))
    }
}

impl Host {
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

    #[tokio::test(start_paused = true)]
    async fn idle_hosts_are_removed() {
        let pace = Pace::default();
        pace.turn("busy", Duration::from_secs(3_600)).await;
        for number in 0..3 * MAX_IDLE_HOSTS {
            pace.turn(&number.to_string(), Duration::ZERO).await;
        }
        let hosts = pace.0.lock().unwrap();
        assert!(hosts.len() <= MAX_IDLE_HOSTS && hosts.contains_key("busy"));
    }
}
